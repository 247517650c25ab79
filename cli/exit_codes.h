// What `shoal` returns to the shell.
#pragma once

namespace shoal::cli {

enum ExitCode : int {
  kAllDone = 0,
  kRefused = 1,     // nothing was trained
  kUsage = 2,       // the command line could not be understood
  kSomeFailed = 3,  // of the jobs; the others are done
  kStopped = 4,     // by a signal
};

}  // namespace shoal::cli
