// From a JobSpec to a job that can be trained: tokenizer, labels, tokenised data, model configuration.
// All that can be wrong with files, labels and models is found here, before training.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "data/labels.h"
#include "data/tokenizer.h"
#include "engine/digest.h"
#include "engine/job_data.h"
#include "engine/job_spec.h"
#include "engine/metrics.h"
#include "engine/training_plan.h"
#include "kernels/device.h"
#include "models/config.h"
#include "models/head.h"
#include "models/layout.h"
#include "models/weights.h"

namespace shoal::engine {

// Tokens of a micro-batch, unless a job says otherwise or one row is longer.
constexpr std::int64_t kMicroTokens = 8192;

// A model and its tokenizer as jobs start from them.
struct BaseModel {
  models::BertConfig config;
  std::filesystem::path folder;  // empty: random weights
  std::shared_ptr<const data::BertTokenizer> tokenizer;
};

using Facts = std::vector<std::pair<std::string, std::string>>;

struct PreparedJob {
  std::int64_t index = 0;  // in FleetSpec::jobs
  const JobSpec* spec = nullptr;
  models::BertConfig config;     // the base model's, with the job's own dropout and vocabulary
  std::filesystem::path folder;  // weights to start from; empty: random
  std::shared_ptr<const data::BertTokenizer> tokenizer;
  data::LabelMap labels;
  JobRows rows;
  const models::Head* head = nullptr;
  DType dtype = DType::kF32;
  std::int64_t micro_tokens = 0;
  std::optional<TrainingPlan> plan;
  BestMetric best_metric;
  std::vector<std::string> notes;  // for the user, one line each
  Facts facts;                     // what it was trained from and with, for job.toml

  models::Extents extents() const { return {labels.size(), config.vocab_size}; }
};

// Prepares jobs; a file, tokenizer or model that many jobs name is read once.
class Preparer {
 public:
  // `cache_dir`: where tokenised files are kept between runs; empty: nowhere.
  explicit Preparer(const Device& device, const std::filesystem::path& cache_dir = {});

  // Error: one or several lines, each naming its file.
  PreparedJob prepare(const JobSpec& spec, std::int64_t index);

  // What a job is trained from and with, for its job.toml; hashes files, reads nothing else.
  Facts facts_of(const JobSpec& spec);
  // The job as its job.toml names it: "auto" resolved.
  JobSpec resolved(const JobSpec& spec) const;

  const DataSets& datasets() const { return datasets_; }

 private:
  const BaseModel& base_model(const ModelSource& source);

  std::string device_;  // its description
  bool bf16_;           // what precision "auto" means; bf16 asked for where it is false is refused
  Digests digests_;
  std::map<std::string, BaseModel> models_;
  DataSets datasets_;
};

BaseModel read_base_model(const ModelSource& source);

// "auto" becomes bf16 where the device is fast at it; bf16 elsewhere is an Error.
DType resolve_precision(Precision precision, bool bf16);

// The job's weight row as training starts from it. Notes are appended to `notes`.
void initial_row(const PreparedJob& job, const models::Layout& layout, std::span<float> row,
                 std::vector<std::string>& notes);

}  // namespace shoal::engine
