// Tensor-core products and the loads that feed them. Fragments of lane l, with g = l / 4 and t = l % 4:
//   A  a[0] row g, columns 2t, 2t+1; a[1] row g+8; a[2] row g, columns 2t+8, 2t+9; a[3] row g+8, those
//   B  b0: k 2t, 2t+1 of column n = g; b1: k 2t+8, 2t+9
//   C  d[0], d[1] row g, columns 2t, 2t+1; d[2], d[3] row g+8
// Two bf16 in a register: the lower index in the lower half.
#pragma once

#include <ptx/cuda.h>

#include <cstdint>

namespace shoal::SHOAL_TARGET {

__device__ __forceinline__ std::uint32_t shared_address(const void* shared) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(shared));
}

// d += a b, f32 accumulation, k = 16. All lanes of the warp.
__device__ __forceinline__ void mma_m16n8k16(float (&d)[4], const std::uint32_t (&a)[4], std::uint32_t b0,
                                             std::uint32_t b1) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};\n"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// Four 8 x 8 matrices of 16-bit elements. Lane i gives the 16-byte aligned shared address of row i % 8 of
// matrix i / 8; r[j] is of matrix j: row l / 4, columns 2t, 2t+1. trans: row 2t, 2t+1, column l / 4.
__device__ __forceinline__ void ldmatrix_x4(std::uint32_t (&r)[4], const void* shared_row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];\n"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(shared_address(shared_row))
               : "memory");
}
__device__ __forceinline__ void ldmatrix_x4_trans(std::uint32_t (&r)[4], const void* shared_row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];\n"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(shared_address(shared_row))
               : "memory");
}

}  // namespace shoal::SHOAL_TARGET
