// The collectives of a warp: each lane leaves its operands, the last one to come computes for all.
#include <bit>

#include "kernels/base/error.h"
#include "kernels/simt/meet.h"
#include "kernels/simt/shared.h"

namespace shoal::simt {
namespace {

constexpr std::uint32_t kAllLanes = 0xffffffffu;

struct Shuffle {
  std::uint64_t value;
  int lane;
  std::uint64_t got;
};
struct Vote {
  bool vote;
  unsigned got;
};
struct Multiply {
  float* d;
  const std::uint32_t* a;
  std::uint32_t b0, b1;
};
struct Load {
  std::uint32_t* r;
  const std::uint16_t* row;
};

template <typename T>
const T& of(void* const (&args)[kWarpLanes], int lane) {
  return *static_cast<const T*>(args[lane]);
}

// Two bf16 of a register.
std::uint16_t low(std::uint32_t r) {
  return static_cast<std::uint16_t>(r);
}
std::uint16_t high(std::uint32_t r) {
  return static_cast<std::uint16_t>(r >> 16);
}

void multiply(void* const (&args)[kWarpLanes], std::uint32_t) {
  std::uint16_t a[16][16], b[16][8];
  float d[16][8];
  for (int lane = 0; lane < kWarpLanes; ++lane) {
    const Multiply& m = of<Multiply>(args, lane);
    const int g = lane / 4, t = lane % 4 * 2;
    for (int r = 0; r < 4; ++r) {
      std::uint16_t* const at = a[g + r % 2 * 8] + t + r / 2 * 8;
      at[0] = low(m.a[r]);
      at[1] = high(m.a[r]);
    }
    b[t][g] = low(m.b0);
    b[t + 1][g] = high(m.b0);
    b[t + 8][g] = low(m.b1);
    b[t + 9][g] = high(m.b1);
    for (int i = 0; i < 4; ++i) d[g + i / 2 * 8][t + i % 2] = m.d[i];
  }
  multiply_m16n8k16(run->settings->tensor_core, d, a, b);
  for (int lane = 0; lane < kWarpLanes; ++lane) {
    const int g = lane / 4, t = lane % 4 * 2;
    for (int i = 0; i < 4; ++i) of<Multiply>(args, lane).d[i] = d[g + i / 2 * 8][t + i % 2];
  }
  ++run->settings->counters.mma;
}

void load(void* const (&args)[kWarpLanes], std::uint32_t) {
  for (int lane = 0; lane < kWarpLanes; ++lane) {
    for (int m = 0; m < 4; ++m) {
      const std::uint16_t* const row = of<Load>(args, m * 8 + lane / 4).row + lane % 4 * 2;
      of<Load>(args, lane).r[m] = row[0] | static_cast<std::uint32_t>(row[1]) << 16;
    }
  }
}
void load_transposed(void* const (&args)[kWarpLanes], std::uint32_t) {
  for (int lane = 0; lane < kWarpLanes; ++lane) {
    for (int m = 0; m < 4; ++m) {
      const std::uint16_t first = of<Load>(args, m * 8 + lane % 4 * 2).row[lane / 4];
      const std::uint16_t second = of<Load>(args, m * 8 + lane % 4 * 2 + 1).row[lane / 4];
      of<Load>(args, lane).r[m] = first | static_cast<std::uint32_t>(second) << 16;
    }
  }
}

}  // namespace

void sync_warp(unsigned mask, Site site) {
  Warp& w = run->warps[static_cast<std::size_t>(self->warp)];
  // A part of the warp is not ordered against the rest: no new epoch, the races stay visible.
  meet("__syncwarp", mask & w.lanes, site, nullptr, [](void* const(&)[kWarpLanes], std::uint32_t lanes) {
    Warp& own = run->warps[static_cast<std::size_t>(self->warp)];
    if (lanes == own.lanes) ++own.epoch;
  });
}

std::uint64_t shuffle_bits(unsigned mask, std::uint64_t value, int lane, Site site) {
  Shuffle s{value, lane, 0};
  meet("__shfl_sync", mask, site, &s, [](void* const(&args)[kWarpLanes], std::uint32_t lanes) {
    for (std::uint32_t left = lanes; left != 0; left &= left - 1) {
      Shuffle& own = *static_cast<Shuffle*>(args[std::countr_zero(left)]);
      if (own.lane < 0 || own.lane >= kWarpLanes || args[own.lane] == nullptr) {
        fault("lane {} shuffles from lane {}, which is not in the mask {:#x}", std::countr_zero(left),
              own.lane, lanes);
      }
      own.got = static_cast<const Shuffle*>(args[own.lane])->value;
    }
  });
  return s.got;
}

unsigned ballot(unsigned mask, bool vote, Site site) {
  Vote v{vote, 0};
  meet("a vote", mask, site, &v, [](void* const(&args)[kWarpLanes], std::uint32_t lanes) {
    unsigned votes = 0;
    for (std::uint32_t left = lanes; left != 0; left &= left - 1) {
      const int lane = std::countr_zero(left);
      if (of<Vote>(args, lane).vote) votes |= 1u << lane;
    }
    for (std::uint32_t left = lanes; left != 0; left &= left - 1) {
      static_cast<Vote*>(args[std::countr_zero(left)])->got = votes;
    }
  });
  return v.got;
}

void multiply_fragments(float (&d)[4], const std::uint32_t (&a)[4], std::uint32_t b0, std::uint32_t b1,
                        Site site) {
  Multiply m{d, a, b0, b1};
  meet("mma", kAllLanes, site, &m, multiply);
}

void load_matrices(std::uint32_t (&r)[4], const void* shared_row, bool transposed, Site site) {
  if (!shared_memory().contains(shared_row)) fault_at("ldmatrix from outside of shared memory", site);
  if (reinterpret_cast<std::uintptr_t>(shared_row) % 16 != 0)
    fault_at("ldmatrix from an address not a multiple of 16", site);
  shared_memory().read(shared_row, 16);
  Load l{r, static_cast<const std::uint16_t*>(shared_row)};
  meet("ldmatrix", kAllLanes, site, &l, transposed ? load_transposed : load);
}

}  // namespace shoal::simt
