// A BERT's config.json: what the engine needs of it, and the rest kept word for word for the export.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/linear_gelu.h"

namespace shoal::models {

// Names and defaults are those of transformers' BertConfig.
struct BertConfig {
  std::int64_t vocab_size = 30522;
  std::int64_t hidden_size = 768;
  std::int64_t num_hidden_layers = 12;
  std::int64_t num_attention_heads = 12;
  std::int64_t intermediate_size = 3072;
  std::int64_t max_position_embeddings = 512;
  std::int64_t type_vocab_size = 2;
  std::int64_t pad_token_id = 0;    // -1: none (null in the file)
  std::string hidden_act = "gelu";  // as the file writes it; gelu_form() is what it means
  double hidden_dropout_prob = 0.1;
  double attention_probs_dropout_prob = 0.1;
  std::optional<double> classifier_dropout;  // absent: hidden_dropout_prob
  double layer_norm_eps = 1e-12;
  double initializer_range = 0.02;
  std::vector<std::string> id2label;  // empty where the file names none
  std::string problem_type;           // of the checkpoint's head; empty where the file names none
  std::string source = "{}";          // the file's own text: unknown keys survive an export

  std::int64_t head_size() const { return hidden_size / num_attention_heads; }
};

// Reads and validates config.json. Error (naming file and key) on: another model_type, a missing or
// impossible size, hidden_size not divisible by the heads, a hidden_act that is no GELU, relative position
// embeddings, decoder or cross-attention settings, num_labels contradicting id2label, id2label keys with
// holes.
BertConfig read_config(const std::filesystem::path& file);

// The form that a hidden_act names: "gelu" is the erf form; "gelu_new", "gelu_pytorch_tanh" and "gelu_fast"
// are three spellings of the tanh form. Error names the known ones.
GeluForm gelu_form(std::string_view hidden_act);

// "bert-tiny", "bert-mini", "bert-small", "bert-medium", "bert-base", "bert-large": the published sizes.
// Error names the known ones. vocab_size is left to the vocabulary.
BertConfig preset_config(std::string_view name);

// The text of an exported config.json: source's keys, overwritten by what the job decides.
std::string export_config(const BertConfig& config, const std::string& architecture,
                          const std::vector<std::string>& labels, const std::string& problem_type,
                          const std::string& dtype);

}  // namespace shoal::models
