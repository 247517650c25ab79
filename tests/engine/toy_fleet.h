// Small made-up classification jobs in a temporary folder, and fleets of them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "engine/fleet.h"

namespace shoal::engine {

// A folder that goes away with its owner.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

struct ToyData {
  int rows = 48;
  int dev_rows = 12;
  int labels = 2;
  int words = 40;     // vocabulary beside the special tokens
  int min_words = 2;  // a text
  int max_words = 12;
  std::uint64_t seed = 1;
};

// Writes NAME.vocab.txt, NAME.train.tsv and NAME.dev.tsv (columns text, label; the label is told by the
// first word) and returns a job on them: bert-tiny, fp32, 2 epochs, batch 8, learning rate 1e-3.
JobSpec toy_job(const std::filesystem::path& folder, const std::string& name, const ToyData& data);

FleetSpec toy_fleet(const std::filesystem::path& output, std::vector<JobSpec> jobs, std::int64_t slots);

// Trains on two threads of the CPU.
FleetResult train_toys(const FleetSpec& fleet);
FleetResult train_toys(const FleetSpec& fleet, Observer& observer);

std::string file_bytes(const std::filesystem::path& file);

// What a job left, asked about a file in fp32, as these jobs train.
EvalRequest fp32_request(const std::filesystem::path& model, const std::filesystem::path& file);

}  // namespace shoal::engine
