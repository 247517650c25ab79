// adamw: one pass over weights, moments and gradients. In a sparse tensor a warp takes one run of kTouchRun
// elements at a time: a run without a mark moves by the decay alone, and the rest of it is left unread.
#include <ptx/bf16.h>

#include "kernels/cuda/parts/params.h"
#include "kernels/cuda/parts/warp.h"

namespace shoal::SHOAL_TARGET {
namespace {

static_assert(kTouchRun == kWarp * kGroup);

// Where a group of a slot's elements stands.
struct Place {
  float* p;
  bf16* p16;  // or null
  float* m;
  float* v;
  float* grad;
};

__device__ __forceinline__ void store_weights(const Place& at, const float4& p, int left) {
  store_group(at.p, p, left);
  if (at.p16 == nullptr) return;
  if (left >= kGroup) {
    *reinterpret_cast<uint2*>(at.p16) = make_uint2(pack_bf16(p.x, p.y), pack_bf16(p.z, p.w));
    return;
  }
  at.p16[0] = to_bf16(p.x);
  if (left > 1) at.p16[1] = to_bf16(p.y);
  if (left > 2) at.p16[2] = to_bf16(p.z);
}

__device__ __forceinline__ void step(float& p, float& m, float& v, float grad, float coef, float decay,
                                     const AdamWScalars& s) {
  const float g = coef * grad;
  m = fmaf(s.one_minus_beta1, g, s.beta1 * m);
  v = fmaf(s.one_minus_beta2 * g, g, s.beta2 * v);
  p = fmaf(-s.step_size, m / (sqrtf(v) / s.bias2_sqrt + s.eps), p * decay);
}

__device__ __forceinline__ void update(const Place& at, const float4& g, float coef, float decay,
                                       const AdamWScalars& s, int left) {
  float4 p = load_group(at.p, left), m = load_group(at.m, left), v = load_group(at.v, left);
  step(p.x, m.x, v.x, g.x, coef, decay, s);
  step(p.y, m.y, v.y, g.y, coef, decay, s);
  step(p.z, m.z, v.z, g.z, coef, decay, s);
  step(p.w, m.w, v.w, g.w, coef, decay, s);
  store_group(at.m, m, left);
  store_group(at.v, v, left);
  store_weights(at, p, left);
}

__device__ __forceinline__ void decay_alone(const Place& at, float decay, int left) {
  if (decay == 1.0f) return;
  const float4 p = load_group(at.p, left);
  store_weights(at, make_float4(p.x * decay, p.y * decay, p.z * decay, p.w * decay), left);
}

// Whether any bit is set.
__device__ __forceinline__ bool any_bit(const float4& g) {
  return (__float_as_uint(g.x) | __float_as_uint(g.y) | __float_as_uint(g.z) | __float_as_uint(g.w)) != 0;
}

__global__ void __launch_bounds__(kParamThreads) adamw_kernel(AdamW a) {
  const int w = static_cast<int>(blockIdx.y);
  if (a.update[w] == 0) return;
  const int slot = a.slot[w];
  const ParamChunk chunk = a.table.chunk[blockIdx.x];
  const int n = own_elements(a.table, chunk, slot);
  const ParamSpan span = a.table.span[chunk.tensor];
  const bool held_back = a.nonfinite[w] != 0, sparse = span.sparse != 0;
  if (n <= 0 || (held_back && !sparse)) return;
  const AdamWScalars s = a.scalars[w];
  const float coef = a.coef[w], decay = span.decay != 0 ? s.decay : 1.0f;
  const std::int64_t weight = slot * a.row_stride + span.offset + chunk.begin;
  const std::int64_t train = slot * a.train_stride + span.train_offset + chunk.begin;
  const bool marked = sparse && a.touched != nullptr && s.eps > 0;
  for (int i = static_cast<int>(threadIdx.x) * kGroup; i < n; i += kParamThreads * kGroup) {
    const Place at{a.p + weight + i, a.p16 == nullptr ? nullptr : a.p16 + weight + i, a.m + train + i,
                   a.v + train + i, a.grad + train + i};
    const int left = n - i;
    if (marked && a.touched[(train + i) / kTouchRun] == 0) {
      if (!held_back) decay_alone(at, decay, left);
      continue;
    }
    const float4 g = load_group(at.grad, left);
    if (!held_back) update(at, g, coef, decay, s, left);
    if (sparse && any_bit(g)) store_group(at.grad, make_float4(0, 0, 0, 0), left);
  }
}

}  // namespace

void adamw(const AdamW& a, Stream stream) {
  check(a);
  launch<adamw_kernel>({.name = "adamw",
                        .grid = dim3(static_cast<unsigned>(a.table.chunks), static_cast<unsigned>(a.W)),
                        .block = dim3(kParamThreads),
                        .stream = stream},
                       a);
}

}  // namespace shoal::SHOAL_TARGET
