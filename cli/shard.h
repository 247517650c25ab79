// --shard K/N: one of N machines that share a fleet file without talking to each other.
#pragma once

#include <string>

#include "engine/job_spec.h"

namespace shoal::cli {

// Keeps jobs K, K + N, K + 2N, ... of the fleet (0 <= K < N), under output_dir/shard-K-of-N: shards never
// write into each other's files. "/N" takes K from SLURM_ARRAY_TASK_ID (less SLURM_ARRAY_TASK_MIN) or
// JOB_COMPLETION_INDEX. UsageError where the text is of another form, Error where the shard is empty.
void take_shard(const std::string& text, engine::FleetSpec& fleet);

}  // namespace shoal::cli
