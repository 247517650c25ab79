#include "kernels/cpu/context.h"

#include <asm/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdlib>
#include <oneapi/dnnl/dnnl.hpp>

#include "kernels/base/error.h"

namespace shoal::cpu {
namespace {

// The kernel gives a process the tile registers only when it asks for them.
bool ask_for_tiles() {
#if defined(__x86_64__)
  constexpr long kRequestPermission = 0x1023;  // ARCH_REQ_XCOMP_PERM
  constexpr long kTileData = 18;               // XFEATURE_XTILEDATA
  return syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
#else
  return false;
#endif
}

}  // namespace

Bf16Unit find_bf16_unit() {
#if defined(__x86_64__)
  const int isa = static_cast<int>(dnnl::get_effective_cpu_isa());
  const auto has = [isa](dnnl::cpu_isa wanted) {
    return (isa & static_cast<int>(wanted)) == static_cast<int>(wanted);
  };
  if (has(dnnl::cpu_isa::avx512_core_amx) && ask_for_tiles()) return Bf16Unit::kAmx;
  if (has(dnnl::cpu_isa::avx512_core_bf16)) return Bf16Unit::kAvx512;
#endif
  return Bf16Unit::kNone;
}

Buffer::~Buffer() {
  std::free(data_);
}

std::byte* Buffer::reserve(std::size_t bytes) {
  if (bytes > bytes_) {
    std::free(data_);
    bytes_ = 0;
    const auto rounded = static_cast<std::size_t>(round_up(static_cast<std::int64_t>(bytes), 4096));
    data_ = static_cast<std::byte*>(std::aligned_alloc(4096, rounded));
    require(data_ != nullptr, "cpu: no memory for {} bytes of scratch", rounded);
    bytes_ = rounded;
  }
  return data_;
}

Context::Context(int thread_count, Bf16Unit unit)
    : threads(thread_count), bf16_unit(unit), scratch_(static_cast<std::size_t>(thread_count)) {}

void Context::reserve(std::size_t bytes_per_thread) {
  for (Buffer& buffer : scratch_) buffer.reserve(bytes_per_thread);
}

}  // namespace shoal::cpu
