// Random data on the device, the same for the same seed: near-normal values of mean 0 and deviation 1.
// Zeros or constants would let the tensor cores draw less power and run faster than they do on real data.
#pragma once

#include <cuda_bf16.h>
#include <cuda_runtime.h>

#include <cstdint>

namespace shoal::probe {

void fill_bf16(__nv_bfloat16* out, std::int64_t count, std::uint64_t seed, cudaStream_t stream);
void fill_f32(float* out, std::int64_t count, std::uint64_t seed, cudaStream_t stream);

// How many of the 32-bit words at a and b differ; synchronises the stream.
std::int64_t count_differing_words(const void* a, const void* b, std::int64_t words, cudaStream_t stream);

}  // namespace shoal::probe
