// What every load and store of a kernel goes through, in a build that instruments them.
#pragma once

#include <cstddef>

namespace shoal::simt {

// The kernels are compiled with the thread sanitizer's calls, which access.cc answers; under
// AddressSanitizer they are not, as one excludes the other.
#if defined(SHOAL_SIMT_INSTRUMENTED)
constexpr bool kInstrumented = true;
#else
constexpr bool kInstrumented = false;
#endif

// Device memory: bounds, blocks of one launch that touch the same bytes, counts.
void read_global(const void* p, std::size_t bytes);
void write_global(const void* p, std::size_t bytes);

}  // namespace shoal::simt
