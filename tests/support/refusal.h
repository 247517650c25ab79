// What an Error says.
#pragma once

#include <string>

#include "kernels/base/error.h"

namespace shoal::test {

// Of the Error that f throws; "" if it throws none.
template <typename F>
std::string refusal(const F& f) {
  try {
    f();
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

}  // namespace shoal::test
