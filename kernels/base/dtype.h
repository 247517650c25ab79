// Element types of activations and weights, and bfloat16 on the host.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

namespace shoal {

enum class DType : std::uint8_t { kF32, kBF16 };

constexpr std::size_t size_of(DType type) {
  return type == DType::kF32 ? 4 : 2;
}
constexpr const char* name_of(DType type) {
  return type == DType::kF32 ? "fp32" : "bf16";
}

// bfloat16 storage: the upper half of a float. Conversion rounds to nearest, ties to even;
// NaN stays NaN (quiet), infinities and signed zeros are kept.
struct bf16 {
  std::uint16_t bits = 0;

  bf16() = default;
  explicit bf16(float value) {
    const std::uint32_t u = std::bit_cast<std::uint32_t>(value);
    const std::uint32_t rounded = (u + 0x7fffu + ((u >> 16) & 1u)) >> 16;
    const std::uint32_t quiet_nan = (u >> 16) | 0x40u;
    bits = static_cast<std::uint16_t>((u & 0x7fffffffu) > 0x7f800000u ? quiet_nan : rounded);
  }
  explicit operator float() const { return std::bit_cast<float>(std::uint32_t{bits} << 16); }
};
static_assert(sizeof(bf16) == 2);

template <typename T>
struct DTypeOf;
template <>
struct DTypeOf<float> {
  static constexpr DType value = DType::kF32;
};
template <>
struct DTypeOf<bf16> {
  static constexpr DType value = DType::kBF16;
};

}  // namespace shoal
