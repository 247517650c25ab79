#include "kernels/checks.h"

#include <limits>

#include "kernels/base/error.h"

namespace shoal {

void Need::pointer(std::string_view name, const void* p) const {
  require(p != nullptr, "{}: {}: wanted an address, got null", op_, name);
}

void Need::aligned(std::string_view name, const void* p) const {
  pointer(name, p);
  require(reinterpret_cast<std::uintptr_t>(p) % kPointerAlign == 0,
          "{}: {}: wanted an address that is a multiple of {}, got {}", op_, name, kPointerAlign, p);
}

void Need::multiple(std::string_view name, std::int64_t value, std::int64_t of) const {
  require(value > 0 && value % of == 0, "{}: {}: wanted a positive multiple of {}, got {}", op_, name, of,
          value);
}

void Need::between(std::string_view name, std::int64_t value, std::int64_t low, std::int64_t high) const {
  require(low <= value && value <= high, "{}: {}: wanted {} .. {}, got {}", op_, name, low, high, value);
}

void Need::one_of(std::string_view name, std::int64_t value, std::initializer_list<int> allowed) const {
  for (const int a : allowed) {
    if (value == a) return;
  }
  fail("{}: {}: wanted one of {}, got {}", op_, name, fmt::join(allowed, ", "), value);
}

void Need::not_negative(std::string_view name, double value) const {
  require(value >= 0, "{}: {}: wanted a number >= 0, got {}", op_, name, value);
}

void Need::rows(std::string_view name, const Rows& rows) const {
  require(rows.W > 0, "{}: {}.W: wanted at least 1, got {}", op_, name, rows.W);
  require(
      rows.rows > 0 && rows.rows % kRowAlign == 0 && rows.rows <= std::numeric_limits<std::int32_t>::max(),
      "{}: {}.rows: wanted a positive multiple of {} below 2^31, got {}", op_, name, kRowAlign, rows.rows);
  require(rows.slot != nullptr, "{}: {}.slot: wanted an address, got null", op_, name);
  require(rows.row0 != nullptr, "{}: {}.row0: wanted an address, got null", op_, name);
  require(rows.live != nullptr, "{}: {}.live: wanted an address, got null", op_, name);
}

void Need::slots(int W, const std::int32_t* slot) const {
  between("W", W, 1, std::numeric_limits<std::int32_t>::max());
  pointer("slot", slot);
}

void Need::stride(std::string_view name, std::int64_t stride, std::int64_t elements) const {
  require(stride >= elements && stride % kTensorAlign == 0,
          "{}: {}: wanted a stride of at least {} that is a multiple of {}, got {}", op_, name, elements,
          kTensorAlign, stride);
}

void Need::param(std::string_view name, const Param& p, std::int64_t elements) const {
  aligned(name, p.base);
  if (p.stride != 0) stride(name, p.stride, elements);
}

void Need::grad(std::string_view name, const Grad& g, std::int64_t elements) const {
  if (g.base == nullptr) return;
  aligned(name, g.base);
  stride(name, g.stride, elements);
  require(g.mode != nullptr, "{}: {}.mode: wanted an address, got null", op_, name);
}

void Need::drop(const Drop& drop) const {
  if (drop.seed == nullptr) return;
  pointer("drop.update", drop.update);
  pointer("drop.micro", drop.micro);
  pointer("drop.threshold", drop.threshold);
  between("drop.site", drop.site, 0, 65535);
}

void Need::bf16(DType dtype) const {
  require(dtype == DType::kBF16, "{}: dtype: wanted bf16, got {}", op_, name_of(dtype));
}

void Need::seqs(const Seqs& seqs) const {
  between("seqs.B", seqs.B, 1, 65535);
  pointer("seqs.cu", seqs.cu);
  pointer("seqs.count", seqs.count);
}

void Need::work_lists(const Seqs& seqs) const {
  pointer("seqs.item_count", seqs.item_count);
  for (const SeqItem* list : seqs.items) pointer("seqs.items", list);
}

void Need::stats(const RowStats& stats) const {
  pointer("stats.mean", stats.mean);
  pointer("stats.rstd", stats.rstd);
}

void Need::apart(std::string_view name, const void* a, std::size_t bytes_a, std::string_view other,
                 const void* b, std::size_t bytes_b) const {
  const auto begin_a = reinterpret_cast<std::uintptr_t>(a);
  const auto begin_b = reinterpret_cast<std::uintptr_t>(b);
  require(begin_a + bytes_a <= begin_b || begin_b + bytes_b <= begin_a,
          "{}: {}: wanted memory apart from {}, got an overlap", op_, name, other);
}

void Need::same_or_apart(std::string_view name, const void* a, std::string_view other, const void* b,
                         std::size_t bytes) const {
  if (a != b) apart(name, a, bytes, other, b, bytes);
}

}  // namespace shoal
