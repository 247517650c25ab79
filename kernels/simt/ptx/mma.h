// The twin of kernels/cuda/ptx/mma.h: fragments as there.
#pragma once

#include <ptx/cuda.h>

#include <cstdint>

namespace shoal::simt {

inline void mma_m16n8k16(float (&d)[4], const std::uint32_t (&a)[4], std::uint32_t b0, std::uint32_t b1,
                         Site at = Site::current()) {
  multiply_fragments(d, a, b0, b1, at);
}
inline void ldmatrix_x4(std::uint32_t (&r)[4], const void* shared_row, Site at = Site::current()) {
  load_matrices(r, shared_row, false, at);
}
inline void ldmatrix_x4_trans(std::uint32_t (&r)[4], const void* shared_row, Site at = Site::current()) {
  load_matrices(r, shared_row, true, at);
}

}  // namespace shoal::simt
