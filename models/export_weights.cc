// Export of a weight row, tensor by tensor, without a second copy of it.
#include <algorithm>
#include <array>
#include <cmath>

#include "kernels/base/dtype.h"
#include "kernels/base/error.h"
#include "models/half.h"
#include "models/parts.h"
#include "models/safetensors.h"
#include "models/weights.h"

namespace shoal::models {
namespace {

const char* file_name_of(SaveType type) {
  switch (type) {
    case SaveType::kF16:
      return "F16";
    case SaveType::kBF16:
      return "BF16";
    case SaveType::kF32:
      break;
  }
  return "F32";
}

std::string_view as_bytes(const void* data, std::size_t size) {
  return {static_cast<const char*>(data), size};
}

// In blocks, so that a narrower copy of the whole row never exists.
template <typename Narrow>
void append_narrowed(std::span<const float> values, const data::Append& append, Narrow&& narrow) {
  std::array<std::uint16_t, 4096> block;
  while (!values.empty()) {
    const std::size_t n = std::min(block.size(), values.size());
    std::transform(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(n), block.begin(), narrow);
    append(as_bytes(block.data(), n * sizeof block[0]));
    values = values.subspan(n);
  }
}

void append_values(std::span<const float> values, SaveType type, const data::Append& append) {
  switch (type) {
    case SaveType::kF32:
      append(as_bytes(values.data(), values.size_bytes()));
      break;
    case SaveType::kF16:
      append_narrowed(values, append, float_to_half);
      break;
    case SaveType::kBF16:
      append_narrowed(values, append, [](float value) { return bf16(value).bits; });
      break;
  }
}

float as_stored(float value, SaveType type) {
  switch (type) {
    case SaveType::kF16:
      return half_to_float(float_to_half(value));
    case SaveType::kBF16:
      return static_cast<float>(bf16(value));
    case SaveType::kF32:
      break;
  }
  return value;
}

// What an import would refuse is not written in the first place.
void check_values(const std::filesystem::path& file, const std::string& name, std::span<const float> values,
                  SaveType type) {
  for (const float value : values)
    require(std::isfinite(as_stored(value, type)), "{}: error: tensor '{}' holds {}, which {} cannot store",
            file.string(), name, value, file_name_of(type));
}

}  // namespace

const char* name_of(SaveType type) {
  switch (type) {
    case SaveType::kF16:
      return "float16";
    case SaveType::kBF16:
      return "bfloat16";
    case SaveType::kF32:
      break;
  }
  return "float32";
}

void export_weights(const std::filesystem::path& file, const Layout& layout, Extents own,
                    std::span<const float> row, SaveType type) {
  SHOAL_CHECK(static_cast<std::int64_t>(row.size()) == layout.row_elements());
  std::vector<NewTensor> tensors;
  for (const Part& part : parts_of(layout, own)) {
    const auto values =
        row.subspan(static_cast<std::size_t>(part.offset), static_cast<std::size_t>(part.elements));
    check_values(file, part.spec->hf_name, values, type);
    tensors.push_back(
        {.name = part.spec->hf_name,
         .dtype = file_name_of(type),
         .shape = part.shape,
         .produce = [values, type](const data::Append& append) { append_values(values, type, append); }});
  }
  write_safetensors(file, tensors);
}

}  // namespace shoal::models
