#include "engine/step_block.h"

#include <cstring>

namespace shoal::engine {
namespace {

// Deals out a block of unknown base: the same walk gives sizes (null base), host and device pointers.
class Carver {
 public:
  explicit Carver(void* base) : base_(reinterpret_cast<std::uintptr_t>(base)) {}

  template <typename T>
  void operator()(T*& pointer, std::int64_t count) {
    pointer = reinterpret_cast<T*>(base_ + bytes_);
    bytes_ += (static_cast<std::size_t>(count) * sizeof(T) + 63) / 64 * 64;
  }
  std::size_t bytes() const { return bytes_; }

 private:
  std::uintptr_t base_;
  std::size_t bytes_ = 0;
};

std::size_t carve(void* base, const LaneShape& shape, StepArrays& a) {
  Carver take(base);
  const int W = shape.W;
  for (std::int32_t** p : {&a.slot, &a.live, &a.first_live, &a.count, &a.chunk_count, &a.update_index,
                           &a.micro, &a.update, &a.n_labels})
    take(*p, W);
  take(a.row0, W + 1);
  take(a.first_row0, W + 1);
  take(a.seed, W);
  for (std::uint32_t** p : {&a.hidden_threshold, &a.attention_threshold, &a.classifier_threshold})
    take(*p, W);
  take(a.mode, W);
  for (float** p : {&a.inv_items, &a.smoothing, &a.max_norm}) take(*p, W);
  take(a.scalars, W);
  for (std::int32_t** p : {&a.ids, &a.types, &a.positions, &a.order}) take(*p, shape.rows);
  take(a.chunks, shape.rows);
  take(a.first, shape.first_rows);
  take(a.labels, shape.first_rows);
  take(a.targets, shape.first_rows);
  take(a.cu, std::int64_t{W} * (shape.B + 1));
  for (SeqItem*& list : a.items) take(list, std::int64_t{W} * shape.B);
  take(a.item_count, Seqs::kLists);
  return take.bytes();
}

std::size_t carve(void* base, const LaneShape& shape, ResultArrays& a) {
  Carver take(base);
  for (float** p : {&a.loss, &a.norm, &a.coef}) take(*p, shape.W);
  take(a.nonfinite, shape.W);
  take(a.row_loss, shape.first_rows);
  take(a.logits, shape.first_rows * shape.ld);
  return take.bytes();
}

}  // namespace

StepBlock::StepBlock(Device& device, const LaneShape& shape) : shape_(shape) {
  step_bytes_ = carve(nullptr, shape, host_);
  result_bytes_ = carve(nullptr, shape, host_results_);
  host_block_ = DeviceBlock(device, Memory::kPinned, step_bytes_);
  device_block_ = DeviceBlock(device, Memory::kDevice, step_bytes_);
  host_result_block_ = DeviceBlock(device, Memory::kPinned, result_bytes_);
  device_result_block_ = DeviceBlock(device, Memory::kDevice, result_bytes_);
  carve(host_block_.data(), shape, host_);
  carve(device_block_.data(), shape, device_arrays_);
  carve(host_result_block_.data(), shape, host_results_);
  carve(device_result_block_.data(), shape, device_results_);
  std::memset(host_block_.data(), 0, step_bytes_);
}

models::LaneStep StepBlock::lane() const {
  const StepArrays& d = device_arrays_;
  models::LaneStep lane;
  lane.tokens = {shape_.W, shape_.rows, d.slot, d.row0, d.live};
  lane.firsts = {shape_.W, shape_.first_rows, d.slot, d.first_row0, d.first_live};
  lane.ids = d.ids;
  lane.types = d.types;
  lane.positions = d.positions;
  lane.first = d.first;
  lane.seqs.B = shape_.B;
  lane.seqs.cu = d.cu;
  lane.seqs.count = d.count;
  for (int i = 0; i < Seqs::kLists; ++i) lane.seqs.items[i] = d.items[i];
  lane.seqs.item_count = d.item_count;
  lane.order = d.order;
  lane.chunks = d.chunks;
  lane.chunk_count = d.chunk_count;
  lane.seed = d.seed;
  lane.update_index = d.update_index;
  lane.micro = d.micro;
  lane.hidden_threshold = d.hidden_threshold;
  lane.attention_threshold = d.attention_threshold;
  lane.classifier_threshold = d.classifier_threshold;
  lane.mode = d.mode;
  lane.labels = d.labels;
  lane.targets = d.targets;
  lane.n_labels = d.n_labels;
  lane.inv_items = d.inv_items;
  lane.smoothing = d.smoothing;
  lane.ld = shape_.ld;
  lane.logits = device_results_.logits;
  lane.loss = device_results_.loss;
  lane.row_loss = device_results_.row_loss;
  return lane;
}

void StepBlock::upload(Device& device, Stream stream) const {
  device.copy(device_block_.data(), host_block_.data(), step_bytes_, stream);
}

void StepBlock::download(Device& device, Stream stream) const {
  device.copy(host_result_block_.data(), device_result_block_.data(), result_bytes_, stream);
}

}  // namespace shoal::engine
