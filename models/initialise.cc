// Random initialisation by the rule of weights.h.
#include <algorithm>
#include <cmath>

#include "kernels/base/error.h"
#include "kernels/base/philox.h"
#include "models/parts.h"
#include "models/weights.h"

namespace shoal::models {
namespace {

constexpr std::uint32_t kInitStream = 0x494e4954u;  // "INIT"

// Elements 4 * block .. 4 * block + 3 of a standard normal tensor.
void four_normals(std::uint64_t seed, std::uint64_t name, std::uint64_t block, double out[4]) {
  const Philox4 r = philox4x32_10(seed, static_cast<std::uint32_t>(block), kInitStream,
                                  static_cast<std::uint32_t>(name), static_cast<std::uint32_t>(name >> 32));
  for (int pair = 0; pair < 2; ++pair) {
    const double u = (r.v[2 * pair] + 0.5) * 0x1p-32;  // open interval: the logarithm is finite
    const double angle = 2.0 * M_PI * ((r.v[2 * pair + 1] + 0.5) * 0x1p-32);
    const double radius = std::sqrt(-2.0 * std::log(u));
    out[2 * pair] = radius * std::cos(angle);
    out[2 * pair + 1] = radius * std::sin(angle);
  }
}

}  // namespace

std::uint64_t name_hash(std::string_view name) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return hash;
}

void initialise(const TensorSpec& part, std::uint64_t seed, double initializer_range,
                std::int64_t padding_row, std::span<float> values) {
  if (part.init != Init::kNormal) {
    std::fill(values.begin(), values.end(), part.init == Init::kOnes ? 1.0f : 0.0f);
    return;
  }
  SHOAL_CHECK(values.size() / 4 <= UINT32_MAX);
  const std::uint64_t name = name_hash(part.hf_name);
  for (std::size_t i = 0; i < values.size(); i += 4) {
    double normal[4];
    four_normals(seed, name, i / 4, normal);
    const std::size_t n = std::min<std::size_t>(4, values.size() - i);
    for (std::size_t j = 0; j < n; ++j) values[i + j] = static_cast<float>(initializer_range * normal[j]);
  }
  if (padding_row < 0) return;
  const auto cols = static_cast<std::size_t>(part.cols);
  const auto first = static_cast<std::size_t>(padding_row) * cols;
  SHOAL_CHECK(first + cols <= values.size());
  std::fill_n(values.begin() + static_cast<std::ptrdiff_t>(first), cols, 0.0f);
}

void initialise_row(const Layout& layout, Extents own, const BertConfig& config, std::uint64_t seed,
                    std::span<float> row) {
  SHOAL_CHECK(static_cast<std::int64_t>(row.size()) == layout.row_elements());
  std::fill(row.begin(), row.end(), 0.0f);
  for (const Part& part : parts_of(layout, own)) {
    const bool words = part.extent == Extent::kVocab;
    initialise(*part.spec, seed, config.initializer_range, words ? config.pad_token_id : -1,
               row.subspan(static_cast<std::size_t>(part.offset), static_cast<std::size_t>(part.elements)));
  }
}

}  // namespace shoal::models
