// Element types of test tensors. Values travel as double, which holds every one of them exactly
// (64-bit integers up to 2^53).
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>

#include "kernels/base/dtype.h"

namespace shoal::test {

enum class Elem { kF32, kBF16, kI32, kU32, kI64, kU64 };

inline Elem elem_of(DType dtype) {
  return dtype == DType::kF32 ? Elem::kF32 : Elem::kBF16;
}
inline bool is_float(Elem e) {
  return e == Elem::kF32 || e == Elem::kBF16;
}
inline std::size_t size_of(Elem e) {
  switch (e) {
    case Elem::kBF16:
      return 2;
    case Elem::kI64:
    case Elem::kU64:
      return 8;
    default:
      return 4;
  }
}

namespace detail {
template <typename T, typename V>
void store(std::byte* to, V value) {
  const T t = static_cast<T>(value);
  std::memcpy(to, &t, sizeof t);
}
template <typename T>
T load(const std::byte* from) {
  T t;
  std::memcpy(&t, from, sizeof t);
  return t;
}
}  // namespace detail

inline void encode(Elem e, double value, std::byte* to) {
  switch (e) {
    case Elem::kF32:
      return detail::store<float>(to, value);
    case Elem::kBF16:
      return detail::store<bf16>(to, static_cast<float>(value));
    case Elem::kI32:
      return detail::store<std::int32_t>(to, value);
    case Elem::kU32:
      return detail::store<std::uint32_t>(to, value);
    case Elem::kI64:
      return detail::store<std::int64_t>(to, value);
    case Elem::kU64:
      return detail::store<std::uint64_t>(to, value);
  }
}

inline double decode(Elem e, const std::byte* from) {
  switch (e) {
    case Elem::kF32:
      return detail::load<float>(from);
    case Elem::kBF16:
      return static_cast<float>(detail::load<bf16>(from));
    case Elem::kI32:
      return detail::load<std::int32_t>(from);
    case Elem::kU32:
      return detail::load<std::uint32_t>(from);
    case Elem::kI64:
      return static_cast<double>(detail::load<std::int64_t>(from));
    case Elem::kU64:
      return static_cast<double>(detail::load<std::uint64_t>(from));
  }
  return 0;
}

// The value as it is once stored.
inline double rounded(Elem e, double value) {
  std::byte bytes[8];
  encode(e, value, bytes);
  return decode(e, bytes);
}

// What nobody may read: NaN, or an integer far outside every table.
inline void encode_poison(Elem e, std::byte* to) {
  if (is_float(e)) return encode(e, std::numeric_limits<double>::quiet_NaN(), to);
  std::memset(to, 0x7b, size_of(e));
}

}  // namespace shoal::test
