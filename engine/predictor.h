// An exported (or any Hugging Face) classifier, ready to run forward: evaluation and prediction.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "data/dataset.h"
#include "data/labels.h"
#include "engine/lane.h"
#include "engine/prepare.h"

namespace shoal::engine {

class Predictor {
 public:
  // rows, tokens: of the largest micro-batch. Error where the folder names no labels.
  Predictor(const std::filesystem::path& folder, DType dtype, Device& device);
  ~Predictor();

  const data::LabelMap& labels() const { return labels_; }
  const data::BertTokenizer& tokenizer() const { return *base_.tokenizer; }
  const models::BertConfig& config() const { return base_.config; }

  // Calls take(row, logits [labels], row loss) for every row in order. Loss is 0 where label is -1.
  using Take = std::function<void(std::int64_t row, const float* logits, float loss)>;
  void run(const data::Dataset& dataset, std::int64_t batch_size, const Take& take);

 private:
  Device& device_;
  Stream stream_;
  DType dtype_;
  BaseModel base_;
  data::LabelMap labels_;
  const models::Head& head_;
  models::Layout layout_;
  std::unique_ptr<SlotMemory> memory_;
  std::unique_ptr<ParamTables> tables_;
};

}  // namespace shoal::engine
