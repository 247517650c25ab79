// What PyTorch computed for two small BERTs: reader of the files that make_golden.py wrote (their format, the
// rule of the weights, the sketch of a gradient and the scale of an error are described at its head).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/config.h"
#include "models/layout.h"

namespace shoal::golden {

// Packed: sequence b holds ids[cu[b] .. cu[b + 1]).
struct Batch {
  std::vector<std::int32_t> ids;
  std::vector<std::int32_t> types;
  std::vector<std::int32_t> cu;
  std::vector<std::int32_t> labels;
  std::vector<float> targets;  // of a regression, else empty

  std::int64_t sequences() const { return static_cast<std::int64_t>(labels.size()); }
};

// PyTorch's own errors against double: fp32; under bf16 autocast; all in bf16. *_rms: over several batches.
struct Errors {
  double fp32 = 0;
  double autocast = 0;
  double autocast_rms = 0;
  double bf16 = 0;
  double bf16_rms = 0;
};

struct Gradient {
  std::string name;  // HF
  std::vector<std::int64_t> shape;
  double norm = 0;
  double scale = 0;  // errors are relative to this
  Errors torch;
  std::vector<double> sketch;
  std::vector<double> full;             // empty where the tensor is large; then
  std::vector<std::int32_t> sample_at;  // a few elements
  std::vector<double> sample;
};

struct Update {
  double lr = 0;
  double loss = 0;
  double grad_norm = 0;  // before clipping
  double loss_fp32 = 0;
  double grad_norm_fp32 = 0;
  std::vector<Batch> window;  // its micro-batches
};

struct Training {
  double learning_rate = 0;
  std::int64_t warmup_updates = 0;
  double max_grad_norm = 0;
  double weight_decay = 0;
  double adam_beta1 = 0;
  double adam_beta2 = 0;
  double adam_epsilon = 0;
  std::vector<Update> updates;
};

struct WeightCheck {
  std::string name;
  std::int64_t index = 0;
  double value = 0;    // golden weight
  double initial = 0;  // by plain HF initialisation, range 0.02, same seed
};

struct Golden {
  models::BertConfig config;
  std::int64_t labels = 0;
  std::uint64_t seed = 0;
  Batch micro;
  double loss = 0;
  std::vector<double> logits;  // [sequences, labels]
  Errors logits_torch;
  std::vector<Gradient> gradients;  // in HF's order
  Training training;
  std::vector<WeightCheck> weights_check;
};

// "bert_tiny", "wide384" or "tanh_regression".
Golden read_golden(const std::string& name);

// The golden weight of an HF tensor; of a whole row (own extents: the config's vocabulary, the golden's
// labels).
void fill_weight(const Golden& golden, const models::TensorSpec& part, std::span<float> values);
void fill_row(const Golden& golden, const models::Layout& layout, std::span<float> row);

// The sums of a gradient with 64 vectors of random signs.
std::vector<double> sketch(std::string_view hf_name, std::span<const float> values);

// |values - truth| / scale: exact where the whole gradient is stored, else estimated from the sketch (within
// 25 % but once in several thousand times) and never below what the stored samples alone prove.
double relative_error(const Gradient& truth, std::span<const float> values);

}  // namespace shoal::golden
