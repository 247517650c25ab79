// The rows of a job: what it trains on, what it is measured by, what it predicts at its end. A file that many
// jobs name is read and tokenised once and held once; folds and splits are lists of its rows.
//
// Rows come from train_file and validation_file; or both from train_file, cut by validation_split_percentage
// (seed 0, so all jobs on the file keep the same rows out) or by a fold (data/folds.h). max_train_samples and
// max_eval_samples then take the first of what there is. A class that the cut leaves without a row to train
// on is refused, naming class and fold.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "data/build_dataset.h"
#include "data/labels.h"
#include "data/tokenizer.h"
#include "engine/job_spec.h"

namespace shoal::engine {

struct JobRows {
  data::Subset train;
  data::Subset validation;  // or none
  data::Subset test;        // or none; labels -1 where the file has no label column
};

class DataSets {
 public:
  // `cache_dir`: where tokenised files are kept between runs; empty: nowhere.
  explicit DataSets(std::filesystem::path cache_dir = {}) : cache_dir_(std::move(cache_dir)) {}

  // labels: of a classification; not looked at for a regression.
  JobRows rows_of(const JobSpec& spec, const std::shared_ptr<const data::BertTokenizer>& tokenizer,
                  const data::LabelMap& labels);

  // Distinct data sets so far.
  std::vector<std::shared_ptr<const data::Dataset>> all() const;
  // What the user should know of the cache, one line each; empties the list.
  std::vector<std::string> take_notes() { return std::exchange(notes_, {}); }

 private:
  using Shared = std::shared_ptr<const data::Dataset>;
  using Parts = std::shared_ptr<const std::vector<std::int32_t>>;

  Shared read(const std::filesystem::path& file, const data::DatasetOptions& options,
              const std::shared_ptr<const data::BertTokenizer>& tokenizer, const data::LabelMap* labels);
  Parts parts_of(const JobSpec& spec, const data::Dataset& dataset);

  std::filesystem::path cache_dir_;
  std::vector<std::string> notes_;
  std::map<std::string, Shared> datasets_;
  std::map<std::string, Parts> parts_;  // of each row, by data set and rule
};

data::DatasetOptions dataset_options(const JobSpec& spec, std::optional<std::int64_t> max_rows);

}  // namespace shoal::engine
