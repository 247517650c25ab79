// libFuzzer's way in: SHOAL_FUZZ_TARGET, a name of target.h, is set for each program by CMakeLists.txt.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "tests/fuzz/target.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace shoal::fuzz;
  static const Target target = [] {
    for (Target& candidate : all_targets())
      if (candidate.name == SHOAL_FUZZ_TARGET) return candidate;
    std::abort();
  }();
  run_target(target, {reinterpret_cast<const char*>(bytes), size});
  return 0;
}
