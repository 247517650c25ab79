// What the contracts' check() functions are made of. Each method refuses one kind of bad argument by
// an Error "op: argument: wanted ..., got ...". What lives in device memory (counts, ids, cu) is not
// looked at: the loader has made sure of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string_view>

#include "kernels/base/view.h"

namespace shoal {

// Activations, parameters and gradients start at multiples of this many bytes.
constexpr std::size_t kPointerAlign = 64;

class Need {
 public:
  explicit Need(std::string_view op) : op_(op) {}

  void pointer(std::string_view name, const void* p) const;                         // not null
  void aligned(std::string_view name, const void* p) const;                         // not null, kPointerAlign
  void multiple(std::string_view name, std::int64_t value, std::int64_t of) const;  // and > 0
  void between(std::string_view name, std::int64_t value, std::int64_t low, std::int64_t high) const;
  void one_of(std::string_view name, std::int64_t value, std::initializer_list<int> allowed) const;
  void not_negative(std::string_view name, double value) const;  // and not NaN
  void rows(std::string_view name, const Rows& rows) const;
  void slots(int W, const std::int32_t* slot) const;
  void stride(std::string_view name, std::int64_t stride, std::int64_t elements) const;
  void param(std::string_view name, const Param& p, std::int64_t elements) const;
  void grad(std::string_view name, const Grad& g, std::int64_t elements) const;  // frozen is allowed
  void drop(const Drop& drop) const;
  void seqs(const Seqs& seqs) const;
  void bf16(DType dtype) const;  // of a device that has nothing else
  void work_lists(const Seqs& seqs) const;
  void stats(const RowStats& stats) const;
  // The first `bytes` of a and b share nothing.
  void apart(std::string_view name, const void* a, std::size_t bytes_a, std::string_view other, const void* b,
             std::size_t bytes_b) const;
  // a and b are one and the same, or share nothing.
  void same_or_apart(std::string_view name, const void* a, std::string_view other, const void* b,
                     std::size_t bytes) const;
  // What the args of all losses have: rows, ld, loss, row_loss, logits, inv_items and dlogits, which may be
  // null.
  template <typename Loss>
  void loss(const Loss& a) const {
    rows("rows", a.rows);
    between("ld", a.ld, 1, 1 << 24);
    pointer("loss", a.loss);
    pointer("row_loss", a.row_loss);
    aligned("logits", a.logits);
    pointer("inv_items", a.inv_items);
    if (a.dlogits == nullptr) return;
    aligned("dlogits", a.dlogits);
    const std::size_t bytes = static_cast<std::size_t>(a.rows.rows * a.ld) * sizeof(float);
    same_or_apart("dlogits", a.dlogits, "logits", a.logits, bytes);
  }

 private:
  std::string_view op_;
};

// Bytes of an activation [rows, columns].
inline std::size_t bytes_of(DType dtype, std::int64_t rows, std::int64_t columns) {
  return static_cast<std::size_t>(rows * columns) * size_of(dtype);
}

// Bytes read of a parameter by a lane of W slots: a shared one once.
inline std::int64_t bytes_of(const Param& p, std::int64_t elements, std::size_t element_size, int W) {
  if (p.base == nullptr) return 0;
  return elements * static_cast<std::int64_t>(element_size) * (p.stride == 0 ? 1 : W);
}

}  // namespace shoal
