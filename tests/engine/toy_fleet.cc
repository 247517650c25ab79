#include "tests/engine/toy_fleet.h"

#include <fmt/format.h>

#include <cstdlib>
#include <fstream>
#include <random>
#include <sstream>

#include "kernels/base/error.h"

namespace shoal::engine {
namespace {

void write_rows(const std::filesystem::path& file, const ToyData& data, int rows, std::mt19937_64& random) {
  std::ofstream out(file);
  out << "text\tlabel\n";
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<std::uint64_t>(n)); };
  for (int row = 0; row < rows; ++row) {
    const int label = row < data.labels ? row : below(data.labels);  // every label occurs
    out << "w" << label % data.words;
    const int words = data.min_words + below(data.max_words - data.min_words + 1);
    for (int i = 1; i < words; ++i) out << " w" << below(data.words);
    out << "\tclass" << label << "\n";
  }
}

}  // namespace

TemporaryFolder::TemporaryFolder() {
  std::string pattern = (std::filesystem::temp_directory_path() / "shoal-test-XXXXXX").string();
  if (mkdtemp(pattern.data()) == nullptr) fail("no temporary folder {}", pattern);
  path_ = pattern;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

JobSpec toy_job(const std::filesystem::path& folder, const std::string& name, const ToyData& data) {
  std::mt19937_64 random(data.seed);
  const std::filesystem::path vocab = folder / (name + ".vocab.txt");
  std::ofstream out(vocab);
  for (const char* token : {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"}) out << token << "\n";
  for (int i = 0; i < data.words; ++i) out << "w" << i << "\n";
  out.close();

  JobSpec job;
  job.name = name;
  job.where = "toy";
  job.model = {.folder = {}, .preset = "bert-tiny", .vocab = vocab};
  job.precision = Precision::kFp32;
  job.train_file = folder / (name + ".train.tsv");
  job.validation_file = folder / (name + ".dev.tsv");
  write_rows(job.train_file, data, data.rows, random);
  write_rows(job.validation_file, data, std::max(data.dev_rows, data.labels), random);
  job.max_seq_length = 256;
  job.num_train_epochs = 2;
  job.learning_rate = 1e-3;
  return job;
}

FleetSpec toy_fleet(const std::filesystem::path& output, std::vector<JobSpec> jobs, std::int64_t slots) {
  FleetSpec fleet;
  fleet.file = "toy.toml";
  fleet.output_dir = output;
  fleet.slots = slots;
  fleet.jobs = std::move(jobs);
  return fleet;
}

FleetResult train_toys(const FleetSpec& fleet, Observer& observer) {
  const std::unique_ptr<Device> device = make_device("cpu", {.threads = 2});
  const std::atomic<bool> stop = false;
  return train_fleet(fleet, *device, observer, stop);
}

FleetResult train_toys(const FleetSpec& fleet) {
  Observer quiet;
  return train_toys(fleet, quiet);
}

std::string file_bytes(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) fail("cannot read {}", file.string());
  std::ostringstream bytes;
  bytes << in.rdbuf();
  return std::move(bytes).str();
}

EvalRequest fp32_request(const std::filesystem::path& model, const std::filesystem::path& file) {
  EvalRequest request;
  request.model = model;
  request.file = file;
  request.precision = Precision::kFp32;
  return request;
}

}  // namespace shoal::engine
