// The config.json of an exported folder. Written as transformers 5 writes it: `dtype`, which replaces
// `torch_dtype`; no num_labels beside id2label.
#include <nlohmann/json.hpp>

#include "kernels/base/error.h"
#include "models/config.h"

namespace shoal::models {
namespace {

using Json = nlohmann::ordered_json;

void set_sizes(Json& json, const BertConfig& config) {
  json["vocab_size"] = config.vocab_size;
  json["hidden_size"] = config.hidden_size;
  json["num_hidden_layers"] = config.num_hidden_layers;
  json["num_attention_heads"] = config.num_attention_heads;
  json["intermediate_size"] = config.intermediate_size;
  json["max_position_embeddings"] = config.max_position_embeddings;
  json["type_vocab_size"] = config.type_vocab_size;
  json["pad_token_id"] = config.pad_token_id < 0 ? Json(nullptr) : Json(config.pad_token_id);
}

void set_behaviour(Json& json, const BertConfig& config) {
  json["hidden_act"] = config.hidden_act;
  json["hidden_dropout_prob"] = config.hidden_dropout_prob;
  json["attention_probs_dropout_prob"] = config.attention_probs_dropout_prob;
  json["classifier_dropout"] = config.classifier_dropout ? Json(*config.classifier_dropout) : Json(nullptr);
  json["layer_norm_eps"] = config.layer_norm_eps;
  json["initializer_range"] = config.initializer_range;
}

}  // namespace

std::string export_config(const BertConfig& config, const std::string& architecture,
                          const std::vector<std::string>& labels, const std::string& problem_type,
                          const std::string& dtype) {
  require(!labels.empty(), "config.json: error: a model with a head needs at least one label name");
  Json json = Json::parse(config.source);
  for (const char* stale : {"torch_dtype", "num_labels", "_num_labels", "id2label", "label2id"})
    json.erase(stale);
  json["architectures"] = {architecture};
  json["model_type"] = "bert";
  set_sizes(json, config);
  set_behaviour(json, config);
  json["problem_type"] = problem_type;
  json["dtype"] = dtype;
  Json id2label = Json::object(), label2id = Json::object();
  for (std::size_t id = 0; id < labels.size(); ++id) {
    require(!label2id.contains(labels[id]), "config.json: error: two classes are called \"{}\"", labels[id]);
    id2label[std::to_string(id)] = labels[id];
    label2id[labels[id]] = id;
  }
  json["id2label"] = std::move(id2label);
  json["label2id"] = std::move(label2id);
  try {
    return json.dump(2) + "\n";
  } catch (const nlohmann::json::type_error&) {
    fail("config.json: error: a label name is not valid UTF-8");
  }
}

}  // namespace shoal::models
