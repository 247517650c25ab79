#include "tests/engine/single_lane.h"

#include "kernels/base/error.h"

namespace shoal::engine {

SingleLane::SingleLane(const models::BertConfig& config, std::int64_t labels, DType dtype, Device& device,
                       std::int64_t slots, const LaneShape& shape)
    : device_(device),
      stream_(device.make_stream()),
      own_{labels, config.vocab_size},
      head_(models::find_head("text-classification",
                              config.problem_type.empty() ? models::kClassification : config.problem_type)),
      layout_(models::shape_of(config), head_.tensors(config.hidden_size), own_),
      memory_(std::make_unique<SlotMemory>(device, layout_, dtype, slots, true, stream_)),
      tables_(std::make_unique<ParamTables>(device, layout_, slots, stream_)),
      lane_(std::make_unique<Lane>(device, layout_, head_, dtype, *memory_, *tables_, shape, true, stream_)) {
}

SingleLane::~SingleLane() {
  lane_.reset();
  tables_.reset();
  memory_.reset();
  device_.release(stream_);
}

void SingleLane::fill(std::int64_t slot, std::span<const float> row) {
  memory_->fill(slot, row);
  tables_->set_extents(slot, own_);
}

std::vector<float> SingleLane::weights(std::int64_t slot) const {
  std::vector<float> row(static_cast<std::size_t>(layout_.row_elements()));
  memory_->read(slot, row);
  return row;
}

std::vector<float> SingleLane::gradients(std::int64_t slot) const {
  std::vector<float> row(static_cast<std::size_t>(layout_.train_elements()));
  const models::SlotRows& rows = memory_->rows();
  device_.copy(row.data(), rows.grad + slot * rows.train_stride, row.size() * sizeof(float), stream_);
  device_.synchronize(stream_);
  return row;
}

std::span<const float> hf_part(const models::Layout& layout, models::Extents own, const std::string& hf_name,
                               std::span<const float> train_row) {
  for (const models::Tensor& tensor : layout.tensors()) {
    std::int64_t begin = tensor.train_offset;
    for (const models::TensorSpec& part : tensor.parts) {
      const std::int64_t rows =
          part.extent == models::Extent::kFixed ? part.rows : models::Layout::own_rows(tensor, own);
      const std::int64_t elements = rows * tensor.cols;
      if (part.hf_name == hf_name)
        return train_row.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(elements));
      begin += elements;
    }
  }
  fail("the layout has no tensor '{}'", hf_name);
}

}  // namespace shoal::engine
