#include "tests/golden/golden.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "kernels/base/error.h"
#include "kernels/base/philox.h"
#include "models/parts.h"
#include "models/weights.h"

namespace shoal::golden {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kSketch = 64;
constexpr std::uint32_t kSketchStream = 0x534b4348u;  // "SKCH"

std::string read_bytes(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  require(in.is_open(), "{}: cannot open the golden file", path);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

class Arrays {
 public:
  Arrays(const Json& directory, std::string bytes) : directory_(directory), bytes_(std::move(bytes)) {}

  bool has(const std::string& name) const { return directory_.contains(name); }

  template <typename T>
  std::vector<T> get(const std::string& name) const {
    const Json& entry = directory_.at(name);
    constexpr const char* type = std::is_same_v<T, double> ? "f64" : std::is_same_v<T, float> ? "f32" : "i32";
    require(entry.at("type") == type, "golden array {} is {}, wanted {}", name, entry.at("type").dump(),
            type);
    std::size_t size = 1;
    for (const Json& extent : entry.at("shape")) size *= extent.get<std::size_t>();
    const std::size_t offset = entry.at("offset");
    require(offset + size * sizeof(T) <= bytes_.size(), "golden array {} ends past the file", name);
    std::vector<T> values(size);
    std::memcpy(values.data(), bytes_.data() + offset, size * sizeof(T));
    return values;
  }

  Batch batch(const std::string& name) const {
    return {get<std::int32_t>(name + ".ids"), get<std::int32_t>(name + ".types"),
            get<std::int32_t>(name + ".cu"), get<std::int32_t>(name + ".labels"),
            has(name + ".targets") ? get<float>(name + ".targets") : std::vector<float>()};
  }

 private:
  const Json& directory_;
  std::string bytes_;
};

models::BertConfig config_of(const Json& model) {
  models::BertConfig config;
  config.vocab_size = model.at("vocab_size");
  config.hidden_size = model.at("hidden_size");
  config.num_hidden_layers = model.at("num_hidden_layers");
  config.num_attention_heads = model.at("num_attention_heads");
  config.intermediate_size = model.at("intermediate_size");
  config.max_position_embeddings = model.at("max_position_embeddings");
  config.type_vocab_size = model.at("type_vocab_size");
  config.hidden_dropout_prob = model.at("hidden_dropout_prob");
  config.attention_probs_dropout_prob = model.at("attention_probs_dropout_prob");
  config.classifier_dropout = model.at("classifier_dropout").get<double>();
  config.hidden_act = model.at("hidden_act");
  config.problem_type = model.value("problem_type", std::string());
  config.layer_norm_eps = model.at("layer_norm_eps");
  config.initializer_range = model.at("initializer_range");
  return config;
}

Errors errors_of(const Json& json) {
  return {.fp32 = json.at("fp32_error"),
          .autocast = json.at("bf16_autocast_error"),
          .autocast_rms = json.at("bf16_autocast_error_rms"),
          .bf16 = json.at("bf16_error"),
          .bf16_rms = json.at("bf16_error_rms")};
}

Gradient gradient_of(const Json& json, const Arrays& arrays) {
  Gradient gradient{.name = json.at("name"),
                    .shape = json.at("shape"),
                    .norm = json.at("norm"),
                    .scale = json.at("scale"),
                    .torch = errors_of(json),
                    .sketch = {},
                    .full = {},
                    .sample_at = {},
                    .sample = {}};
  gradient.sketch = arrays.get<double>(gradient.name + ".sketch");
  if (arrays.has(gradient.name + ".full")) {
    gradient.full = arrays.get<double>(gradient.name + ".full");
  } else {
    gradient.sample_at = arrays.get<std::int32_t>(gradient.name + ".sample_at");
    gradient.sample = arrays.get<double>(gradient.name + ".sample");
  }
  return gradient;
}

// Sequences first .. first + count of `all`, with cu from 0.
Batch slice(const Batch& all, std::int64_t first, std::int64_t count) {
  const std::int32_t begin = all.cu.at(first), end = all.cu.at(first + count);
  Batch part;
  part.ids.assign(all.ids.begin() + begin, all.ids.begin() + end);
  part.types.assign(all.types.begin() + begin, all.types.begin() + end);
  part.labels.assign(all.labels.begin() + first, all.labels.begin() + first + count);
  if (!all.targets.empty())
    part.targets.assign(all.targets.begin() + first, all.targets.begin() + first + count);
  for (std::int64_t b = first; b <= first + count; ++b) part.cu.push_back(all.cu[b] - begin);
  return part;
}

Training training_of(const Json& json, const Arrays& arrays) {
  Training training{.learning_rate = json.at("learning_rate"),
                    .warmup_updates = json.at("warmup_updates"),
                    .max_grad_norm = json.at("max_grad_norm"),
                    .weight_decay = json.at("weight_decay"),
                    .adam_beta1 = json.at("adam_beta1"),
                    .adam_beta2 = json.at("adam_beta2"),
                    .adam_epsilon = json.at("adam_epsilon"),
                    .updates = {}};
  const Batch all = arrays.batch("training");
  const std::vector<std::int32_t> sequences = arrays.get<std::int32_t>("training.sequences");
  const std::size_t accumulation = json.at("accumulation");
  std::int64_t first = 0;
  std::size_t micro = 0;
  for (const Json& row : json.at("updates")) {
    Update update{.lr = row.at("lr"),
                  .loss = row.at("loss"),
                  .grad_norm = row.at("grad_norm"),
                  .loss_fp32 = row.at("loss_fp32"),
                  .grad_norm_fp32 = row.at("grad_norm_fp32"),
                  .window = {}};
    for (std::size_t i = 0; i < accumulation; ++i, ++micro) {
      update.window.push_back(slice(all, first, sequences.at(micro)));
      first += sequences[micro];
    }
    training.updates.push_back(std::move(update));
  }
  return training;
}

}  // namespace

Golden read_golden(const std::string& name) {
  const std::string stem = std::string(SHOAL_GOLDEN_DIR) + "/" + name;
  const Json json = Json::parse(read_bytes(stem + ".json"));
  const Arrays arrays(json.at("arrays"), read_bytes(stem + ".bin"));
  Golden golden;
  golden.config = config_of(json.at("model"));
  golden.labels = json.at("model").at("labels");
  golden.seed = json.at("model").at("seed");
  golden.micro = arrays.batch("micro");
  golden.loss = json.at("micro").at("loss");
  golden.logits = arrays.get<double>("micro.logits");
  golden.logits_torch = errors_of(json.at("logits"));
  for (const Json& tensor : json.at("tensors")) golden.gradients.push_back(gradient_of(tensor, arrays));
  golden.training = training_of(json.at("training"), arrays);
  for (const Json& row : json.at("weights_check"))
    golden.weights_check.push_back({row.at("name"), row.at("index"), row.at("value"), row.at("initial")});
  return golden;
}

void fill_weight(const Golden& golden, const models::TensorSpec& part, std::span<float> values) {
  models::TensorSpec normal = part;
  normal.init = models::Init::kNormal;
  models::initialise(normal, golden.seed, golden.config.initializer_range, -1, values);
  if (part.hf_name.ends_with("LayerNorm.weight"))
    for (float& value : values) value += 1.0f;
}

void fill_row(const Golden& golden, const models::Layout& layout, std::span<float> row) {
  std::fill(row.begin(), row.end(), 0.0f);
  for (const models::Part& part : models::parts_of(layout, {golden.labels, golden.config.vocab_size}))
    fill_weight(golden, *part.spec,
                row.subspan(static_cast<std::size_t>(part.offset), static_cast<std::size_t>(part.elements)));
}

std::vector<double> sketch(std::string_view hf_name, std::span<const float> values) {
  std::vector<double> sums(kSketch, 0.0);
  const std::uint64_t key = models::name_hash(hf_name);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto low = static_cast<std::uint32_t>(i), high = static_cast<std::uint32_t>(std::uint64_t{i} >> 32);
    const Philox4 v = philox4x32_10(key, low, high, 0, kSketchStream);
    const std::uint64_t bits = std::uint64_t{v.v[1]} << 32 | v.v[0];
    const double both[2] = {values[i], -values[i]};
    for (std::size_t j = 0; j < kSketch; ++j) sums[j] += both[(bits >> j) & 1u];
  }
  return sums;
}

double relative_error(const Gradient& truth, std::span<const float> values) {
  double squares = 0;
  if (!truth.full.empty()) {
    SHOAL_CHECK(values.size() == truth.full.size());
    for (std::size_t i = 0; i < values.size(); ++i) squares += std::pow(values[i] - truth.full[i], 2);
    return std::sqrt(squares) / truth.scale;
  }
  const std::vector<double> sums = sketch(truth.name, values);
  for (std::size_t j = 0; j < kSketch; ++j) squares += std::pow(sums[j] - truth.sketch[j], 2);
  squares /= kSketch;
  double sampled = 0;
  for (std::size_t k = 0; k < truth.sample.size(); ++k)
    sampled += std::pow(values[static_cast<std::size_t>(truth.sample_at[k])] - truth.sample[k], 2);
  return std::sqrt(std::max(squares, sampled)) / truth.scale;
}

}  // namespace shoal::golden
