#include "kernels/embedding_layernorm.h"

#include <utility>

#include "kernels/checks.h"

namespace shoal {
namespace {

void check_width(const Need& need, int C) {
  need.multiple("C", C, 16);
  need.between("C", C, 16, 4096);
}

}  // namespace

void check(const EmbeddingLayerNormForward& a) {
  const Need need("embedding_layernorm_forward");
  need.rows("rows", a.rows);
  check_width(need, a.C);
  need.aligned("y", a.y);
  need.pointer("ids", a.ids);
  need.pointer("positions", a.positions);
  need.pointer("types", a.types);
  need.param("word", a.word, a.C);
  need.param("position", a.position, a.C);
  need.param("type", a.type, a.C);
  need.param("gamma", a.gamma, a.C);
  need.param("beta", a.beta, a.C);
  need.not_negative("eps", a.eps);
  need.drop(a.drop);
  if (a.z == nullptr) return;
  need.aligned("z", a.z);
  need.stats(a.stats);
  const std::size_t bytes = bytes_of(a.dtype, a.rows.rows, a.C);
  need.apart("z", a.z, bytes, "y", a.y, bytes);
}

Cost cost(const EmbeddingLayerNormForward& a) {
  const std::int64_t rows = a.rows.rows, e = static_cast<std::int64_t>(size_of(a.dtype));
  return {.bytes_read = rows * (3 * a.C * 4 + 3 * 4) + bytes_of(a.gamma, a.C, 4, a.rows.W) +
                        bytes_of(a.beta, a.C, 4, a.rows.W),
          .bytes_written = rows * a.C * e * (a.z == nullptr ? 1 : 2) + (a.z == nullptr ? 0 : rows * 8),
          .flops = 11 * rows * a.C};
}

void check(const EmbeddingLayerNormBackward& a) {
  const Need need("embedding_layernorm_backward");
  need.rows("rows", a.rows);
  check_width(need, a.C);
  need.aligned("dz", a.dz);
  need.aligned("partial", a.partial);
  need.aligned("dy", a.dy);
  need.aligned("z", a.z);
  need.stats(a.stats);
  need.param("gamma", a.gamma, a.C);
  need.drop(a.drop);
  const std::size_t bytes = bytes_of(a.dtype, a.rows.rows, a.C);
  need.same_or_apart("dz", a.dz, "dy", a.dy, bytes);
  need.apart("dz", a.dz, bytes, "z", a.z, bytes);
}

Cost cost(const EmbeddingLayerNormBackward& a) {
  const std::int64_t rows = a.rows.rows, e = static_cast<std::int64_t>(size_of(a.dtype));
  return {.bytes_read = 2 * rows * a.C * e + rows * 8 + bytes_of(a.gamma, a.C, 4, a.rows.W),
          .bytes_written = rows * a.C * e + rows / kRowChunk * 3 * a.C * 4,
          .flops = 15 * rows * a.C};
}

void check(const EmbeddingBackward& a) {
  const Need need("embedding_backward");
  need.rows("rows", a.rows);
  check_width(need, a.C);
  need.aligned("dz", a.dz);
  need.grad("dword", a.dword, a.C);
  if (a.dword.base != nullptr) {
    need.pointer("order", a.order);
    need.pointer("chunks", a.chunks);
    need.pointer("chunk_count", a.chunk_count);
  }
  if (a.dposition.base != nullptr) {
    need.between("P", a.P, 1, 1 << 24);
    need.grad("dposition", a.dposition, std::int64_t{a.P} * a.C);
    need.seqs(a.seqs);
  }
  if (a.dtype_table.base != nullptr) {
    need.between("T", a.T, 1, 1 << 16);
    need.grad("dtype_table", a.dtype_table, std::int64_t{a.T} * a.C);
    need.pointer("types", a.types);
  }
}

Cost cost(const EmbeddingBackward& a) {
  const std::int64_t rows = a.rows.rows, e = static_cast<std::int64_t>(size_of(a.dtype)), W = a.rows.W;
  Cost total;
  if (a.dword.base != nullptr) {  // every id once: each row of the table is read and written
    total.bytes_read += rows * (a.C * e + a.C * 4 + 4);
    total.bytes_written += rows * a.C * 4;
    total.flops += rows * a.C;
  }
  for (const auto& [g, n] : {std::pair{&a.dposition, a.P}, std::pair{&a.dtype_table, a.T}}) {
    if (g->base == nullptr) continue;
    total.bytes_read += rows * a.C * e + W * n * a.C * 4;
    total.bytes_written += W * n * a.C * 4;
    total.flops += rows * a.C;
  }
  return total;
}

}  // namespace shoal
