// What the launchers see of a simt device: stream_set.h says how streams behave.
#pragma once

#include <functional>

#include "kernels/simt/settings.h"
#include "kernels/table.h"

namespace shoal::simt {

// Work runs when somebody waits for it, in its stream's order.
void enqueue(Stream stream, std::function<void()> work);
Settings& settings(Stream stream);

}  // namespace shoal::simt
