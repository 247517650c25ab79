// The one exception of Shoal, and the two ways to raise it.
//
// Error      the caller's mistake or the world's (bad file, bad shape, no memory): one clear sentence,
//            naming what was wanted and what was got. The library never prints and never exits.
// require()  refuses an argument: throws Error with the formatted message when the condition is false.
// SHOAL_CHECK  a broken invariant of Shoal itself; stays on in release builds; says where.
#pragma once

#include <fmt/format.h>

#include <stdexcept>
#include <string>
#include <utility>

namespace shoal {

class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

template <typename... Args>
[[noreturn]] void fail(fmt::format_string<Args...> format, Args&&... args) {
  throw Error(fmt::format(format, std::forward<Args>(args)...));
}

template <typename... Args>
void require(bool condition, fmt::format_string<Args...> format, Args&&... args) {
  if (!condition) fail(format, std::forward<Args>(args)...);
}

}  // namespace shoal

#define SHOAL_CHECK(condition)                                                                               \
  do {                                                                                                       \
    if (!(condition)) ::shoal::fail("internal error: {} is false at {}:{}", #condition, __FILE__, __LINE__); \
  } while (false)
