// Exported (or any Hugging Face) classifiers and regressors, ready to run forward: evaluation and prediction.
// Several models of one architecture and precision are slots of one lockstep.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "data/dataset.h"
#include "data/labels.h"
#include "engine/lane.h"
#include "engine/prepare.h"

namespace shoal::engine {

// A trained model's folder but for its weights. Without problem_type, a model of one label is a regression,
// as in transformers.
struct TrainedModel {
  BaseModel base;
  data::LabelMap labels;
  const models::Head* head = nullptr;

  bool is_regression() const { return head->problem_type() == models::kRegression; }
  models::Extents extents() const { return {labels.size(), base.config.vocab_size}; }
};
// Error where the folder names no labels.
TrainedModel read_trained_model(const std::filesystem::path& folder);

bool share_launches(const TrainedModel& a, const TrainedModel& b);

class Predictor {
 public:
  // models: that share launches; they outlive the predictor. Error where a folder has no trained head.
  Predictor(std::vector<const TrainedModel*> models, DType dtype, Device& device);
  ~Predictor();

  // Calls take(model, row, logits [labels], row loss) for every row of every model's data set, of one model
  // in order. Loss is 0 where label is -1 and means nothing of a regression without targets. batch_size: rows
  // of a micro-batch.
  using Take = std::function<void(std::size_t model, std::int64_t row, const float* logits, float loss)>;
  void run(std::span<const data::Dataset* const> datasets, std::int64_t batch_size, const Take& take);

 private:
  Device& device_;
  Stream stream_;
  DType dtype_;
  std::vector<const TrainedModel*> models_;
  models::Extents largest_;
  models::Layout layout_;
  std::unique_ptr<SlotMemory> memory_;
  std::unique_ptr<ParamTables> tables_;
};

}  // namespace shoal::engine
