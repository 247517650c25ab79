#include "cli/stop.h"

#include <unistd.h>

#include <csignal>

#include "cli/exit_codes.h"

namespace shoal::cli {
namespace {

std::atomic<bool> stop_asked{false};
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler may touch nothing else");

void on_signal(int) {
  if (stop_asked.exchange(true)) ::_exit(kStopped);
}

}  // namespace

const std::atomic<bool>& stop_on_signals() {
  struct sigaction action = {};
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART;  // a write that the signal meets goes on
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  return stop_asked;
}

}  // namespace shoal::cli
