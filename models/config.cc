#include "models/config.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "data/json_file.h"
#include "kernels/base/error.h"
#include "models/config_labels.h"

namespace shoal::models {
namespace {

using Json = nlohmann::json;

std::string read_text(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  require(in.is_open(), "{}: error: cannot open the file: {}", file.string(), std::strerror(errno));
  std::string text{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  require(!in.bad(), "{}: error: cannot read the file", file.string());
  return text;
}

// The keys of one config.json, each refused by name when it does not hold what it should.
class Fields {
 public:
  Fields(const std::filesystem::path& file, const Json& json) : file_(file.string()), json_(json) {}

  // nullptr where the key is absent or null.
  const Json* find(const char* key) const {
    const auto it = json_.find(key);
    return it == json_.end() || it->is_null() ? nullptr : &*it;
  }

  bool has_null(const char* key) const {
    const auto it = json_.find(key);
    return it != json_.end() && it->is_null();
  }

  std::int64_t size(const char* key, std::int64_t largest) const {
    const Json* value = find(key);
    require(value != nullptr, "{}: error: {} is missing", file_, key);
    require(is_between(*value, 1, largest), "{}: error: {} is {}; allowed: an integer from 1 to {}", file_,
            key, value->dump(), largest);
    return value->get<std::int64_t>();
  }

  double number(const char* key, double otherwise, double low, double high, const char* allowed) const {
    const Json* value = find(key);
    if (value == nullptr) return otherwise;
    const double x = value->is_number() ? value->get<double>() : -1.0;
    require(x >= low && x < high, "{}: error: {} is {}; allowed: {}", file_, key, value->dump(), allowed);
    return x;
  }

  double probability(const char* key, double otherwise) const {
    return number(key, otherwise, 0.0, 1.0, "a number from 0 up to, not including, 1");
  }

  std::string text(const char* key, const std::string& otherwise) const {
    const Json* value = find(key);
    if (value == nullptr) return otherwise;
    require(value->is_string(), "{}: error: {} is {}; allowed: a string", file_, key, value->dump());
    return value->get<std::string>();
  }

  void refuse_true(const char* key) const {
    const Json* value = find(key);
    require(value == nullptr || *value == false, "{}: error: {} is {}; allowed: false (encoders only)", file_,
            key, value == nullptr ? "" : value->dump());
  }

  static bool is_between(const Json& value, std::int64_t low, std::int64_t high) {
    if (value.is_number_unsigned() && value.get<std::uint64_t>() > static_cast<std::uint64_t>(high))
      return false;
    return value.is_number_integer() && value.get<std::int64_t>() >= low && value.get<std::int64_t>() <= high;
  }

  const std::string& file() const { return file_; }

 private:
  std::string file_;
  const Json& json_;
};

// Google's bert_config.json has no model_type; what such a file calls itself is then in `architectures`.
void check_kind(const Fields& fields) {
  const std::string type = fields.text("model_type", "bert");
  require(type == "bert", "{}: error: model_type is \"{}\"; allowed: \"bert\"", fields.file(), type);
  const Json* architectures = fields.find("architectures");
  if (architectures != nullptr && architectures->is_array() && !architectures->empty()) {
    const Json& name = architectures->front();
    require(name.is_string() && name.get<std::string>().starts_with("Bert"),
            "{}: error: architectures names {}; allowed: a Bert... of transformers", fields.file(),
            name.dump());
  }
  const std::string positions = fields.text("position_embedding_type", "absolute");
  require(positions == "absolute", "{}: error: position_embedding_type is \"{}\"; allowed: \"absolute\"",
          fields.file(), positions);
  fields.refuse_true("is_decoder");
  fields.refuse_true("add_cross_attention");
  fields.refuse_true("is_encoder_decoder");
  const Json* pruned = fields.find("pruned_heads");
  require(pruned == nullptr || pruned->empty(), "{}: error: pruned_heads is {}; allowed: none", fields.file(),
          pruned == nullptr ? "" : pruned->dump());
}

constexpr std::string_view kGeluNames =
    "\"gelu\" (the erf form), \"gelu_new\", \"gelu_pytorch_tanh\", \"gelu_fast\" (the tanh form)";

std::optional<GeluForm> find_gelu(std::string_view name) {
  if (name == "gelu") return GeluForm::kErf;
  if (name == "gelu_new" || name == "gelu_pytorch_tanh" || name == "gelu_fast") return GeluForm::kTanh;
  return std::nullopt;
}

std::int64_t read_padding(const Fields& fields, std::int64_t vocab_size) {
  const Json* value = fields.find("pad_token_id");
  if (value == nullptr) return fields.has_null("pad_token_id") ? -1 : 0;
  require(Fields::is_between(*value, 0, vocab_size - 1),
          "{}: error: pad_token_id is {}; allowed: 0 to {}, or null", fields.file(), value->dump(),
          vocab_size - 1);
  return value->get<std::int64_t>();
}

}  // namespace

BertConfig read_config(const std::filesystem::path& file) {
  BertConfig config;
  config.source = read_text(file);
  const Json json = data::parse_json(config.source, file, 1);
  require(json.is_object(), "{}: error: wanted a JSON object, got {}", file.string(), json.type_name());
  const Fields fields(file, json);
  check_kind(fields);

  // Upper limits far beyond any BERT: they keep products of two sizes inside 64 bits.
  config.vocab_size = fields.size("vocab_size", 1 << 24);
  config.hidden_size = fields.size("hidden_size", 1 << 16);
  config.num_hidden_layers = fields.size("num_hidden_layers", 1 << 10);
  config.num_attention_heads = fields.size("num_attention_heads", 1 << 10);
  config.intermediate_size = fields.size("intermediate_size", 1 << 20);
  config.max_position_embeddings = fields.size("max_position_embeddings", 1 << 20);
  config.type_vocab_size = fields.size("type_vocab_size", 1 << 10);
  require(config.hidden_size % config.num_attention_heads == 0,
          "{}: error: hidden_size {} is not divisible by num_attention_heads {}", fields.file(),
          config.hidden_size, config.num_attention_heads);

  config.hidden_act = fields.text("hidden_act", config.hidden_act);
  require(find_gelu(config.hidden_act).has_value(), "{}: error: hidden_act is \"{}\"; allowed: {}",
          fields.file(), config.hidden_act, kGeluNames);
  config.hidden_dropout_prob = fields.probability("hidden_dropout_prob", config.hidden_dropout_prob);
  config.attention_probs_dropout_prob =
      fields.probability("attention_probs_dropout_prob", config.attention_probs_dropout_prob);
  if (fields.find("classifier_dropout") != nullptr)
    config.classifier_dropout = fields.probability("classifier_dropout", 0.0);
  config.layer_norm_eps =
      fields.number("layer_norm_eps", config.layer_norm_eps, 1e-38, 1.0, "a number above 0 and below 1");
  config.initializer_range =
      fields.number("initializer_range", config.initializer_range, 0.0, 1e6, "a number from 0 to 1e6");
  config.pad_token_id = read_padding(fields, config.vocab_size);
  config.id2label = read_labels(file, json);
  config.problem_type = fields.text("problem_type", "");
  return config;
}

GeluForm gelu_form(std::string_view hidden_act) {
  const std::optional<GeluForm> form = find_gelu(hidden_act);
  require(form.has_value(), "error: hidden_act is \"{}\"; allowed: {}", hidden_act, kGeluNames);
  return *form;
}

BertConfig preset_config(std::string_view name) {
  struct Preset {
    std::string_view name;
    std::int64_t layers, hidden;
  };
  // google-research/bert, README.md: heads = H / 64, intermediate = 4 H.
  constexpr std::array<Preset, 6> presets = {{{"bert-tiny", 2, 128},
                                              {"bert-mini", 4, 256},
                                              {"bert-small", 4, 512},
                                              {"bert-medium", 8, 512},
                                              {"bert-base", 12, 768},
                                              {"bert-large", 24, 1024}}};
  for (const Preset& preset : presets) {
    if (preset.name != name) continue;
    BertConfig config;
    config.num_hidden_layers = preset.layers;
    config.hidden_size = preset.hidden;
    config.num_attention_heads = preset.hidden / 64;
    config.intermediate_size = 4 * preset.hidden;
    return config;
  }
  std::string known;
  for (const Preset& preset : presets) known += (known.empty() ? "" : ", ") + std::string(preset.name);
  fail("error: no model preset \"{}\"; allowed: {}", name, known);
}

}  // namespace shoal::models
