#include "engine/param_table.h"

namespace shoal::engine {
namespace {

template <typename T>
DeviceBlock copied(Device& device, const std::vector<T>& values, Stream stream) {
  DeviceBlock block(device, Memory::kDevice, values.size() * sizeof(T));
  device.copy(block.data(), values.data(), values.size() * sizeof(T), stream);
  device.synchronize(stream);
  return block;
}

}  // namespace

ParamTables::ParamTables(Device& device, const models::Layout& layout, std::int64_t slots, Stream stream)
    : device_(device), layout_(layout), stream_(stream) {
  std::vector<ParamSpan> spans;
  std::vector<ParamChunk> chunks;
  for (const models::Tensor& tensor : layout.tensors()) {
    if (tensor.train_offset < 0) continue;
    const auto index = static_cast<std::int32_t>(spans.size());
    spans.push_back({.offset = tensor.offset,
                     .train_offset = tensor.train_offset,
                     .capacity = tensor.capacity(),
                     .decay = tensor.decay ? 1 : 0,
                     .sparse = tensor.extent == models::Extent::kVocab ? 1 : 0});
    for (std::int64_t begin = 0; begin < tensor.capacity(); begin += kParamChunk)
      chunks.push_back({index, begin});
    trainable_.push_back(&tensor);
  }
  const std::vector<std::int64_t> own(static_cast<std::size_t>(slots) * spans.size(), 0);
  spans_ = copied(device, spans, stream);
  chunks_ = copied(device, chunks, stream);
  own_ = copied(device, own, stream);
  table_ = {.tensors = static_cast<int>(spans.size()),
            .chunks = static_cast<int>(chunks.size()),
            .span = spans_.as<ParamSpan>(),
            .chunk = chunks_.as<ParamChunk>(),
            .own = own_.as<std::int64_t>()};
}

void ParamTables::set_extents(std::int64_t slot, models::Extents extents) {
  std::vector<std::int64_t> own;
  for (const models::Tensor* tensor : trainable_)
    own.push_back(models::Layout::own_elements(*tensor, extents));
  device_.copy(own_.as<std::int64_t>() + slot * table_.tensors, own.data(), own.size() * sizeof(std::int64_t),
               stream_);
  device_.synchronize(stream_);
}

}  // namespace shoal::engine
