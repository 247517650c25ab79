// Runs one part in a child process: a CUDA fault, which spoils its whole process, or a hang then ends that
// part and no other. The child writes its lines to a pipe as they are measured; what came before a fault or
// the end of the slice is kept. The parent itself never touches CUDA, or the children could not.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "bench/probe/part.h"

namespace shoal::probe {

enum class Outcome { kDone, kFailed, kStopped, kNoGpu };

struct PartReport {
  Outcome outcome = Outcome::kFailed;
  std::string reason;  // empty when done
  double seconds = 0;
  std::vector<Measure> lines;
};

using PartFunction = std::function<void(PartContext&)>;

// slice: what the part is told; limit: when it is ended by force. Both in seconds from now.
PartReport run_apart(const PartFunction& part, double slice, double limit, const std::string& cublaslt_path,
                     const std::function<void(const Measure&)>& on_line);

const char* outcome_word(Outcome outcome);

}  // namespace shoal::probe
