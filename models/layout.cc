#include "models/layout.h"

#include <utility>

#include "kernels/base/error.h"
#include "kernels/base/view.h"

namespace shoal::models {
namespace {

TensorSpec matrix(std::string name, std::int64_t rows, std::int64_t cols) {
  return {.hf_name = std::move(name), .rows = rows, .cols = cols};
}

TensorSpec vector(std::string name, std::int64_t size, Init init) {
  return {.hf_name = std::move(name), .rows = size, .init = init, .decay = false};
}

Tensor joined(std::string name, std::vector<TensorSpec> parts) {
  Tensor tensor{.name = std::move(name), .parts = std::move(parts)};
  const TensorSpec& first = tensor.parts.front();
  tensor.extent = first.extent;
  tensor.cols = first.cols == 0 ? 1 : first.cols;
  tensor.decay = first.decay;
  for (const TensorSpec& part : tensor.parts) tensor.rows += part.rows;
  return tensor;
}

Tensor single(std::string name, TensorSpec part) {
  return joined(std::move(name), {std::move(part)});
}

}  // namespace

BertShape shape_of(const BertConfig& config) {
  return {.layers = config.num_hidden_layers,
          .hidden = config.hidden_size,
          .heads = config.num_attention_heads,
          .intermediate = config.intermediate_size,
          .positions = config.max_position_embeddings,
          .types = config.type_vocab_size,
          .layer_norm_eps = config.layer_norm_eps,
          .gelu = gelu_form(config.hidden_act)};
}

Layout::Layout(const BertShape& shape, const std::vector<TensorSpec>& head_tensors, Extents largest)
    : largest_(largest), shape_(shape) {
  const std::int64_t C = shape.hidden, F = shape.intermediate;
  const std::string embeddings = "bert.embeddings.";
  place(single("embeddings.position", matrix(embeddings + "position_embeddings.weight", shape.positions, C)));
  place(single("embeddings.type", matrix(embeddings + "token_type_embeddings.weight", shape.types, C)));
  place(single("embeddings.gamma", vector(embeddings + "LayerNorm.weight", C, Init::kOnes)));
  place(single("embeddings.beta", vector(embeddings + "LayerNorm.bias", C, Init::kZeros)));
  for (std::int64_t l = 0; l < shape.layers; ++l) {
    const std::string ours = fmt::format("layer.{}.", l);
    const std::string theirs = fmt::format("bert.encoder.layer.{}.", l);
    const std::string self = theirs + "attention.self.";
    place(joined(ours + "qkv.weight", {matrix(self + "query.weight", C, C), matrix(self + "key.weight", C, C),
                                       matrix(self + "value.weight", C, C)}));
    place(joined(ours + "qkv.bias",
                 {vector(self + "query.bias", C, Init::kZeros), vector(self + "key.bias", C, Init::kZeros),
                  vector(self + "value.bias", C, Init::kZeros)}));
    const auto linear = [&](const std::string& name, const std::string& hf, std::int64_t out,
                            std::int64_t in) {
      place(single(ours + name + ".weight", matrix(theirs + hf + ".weight", out, in)));
      place(single(ours + name + ".bias", vector(theirs + hf + ".bias", out, Init::kZeros)));
    };
    const auto layernorm = [&](const std::string& name, const std::string& hf) {
      place(single(ours + name + ".gamma", vector(theirs + hf + ".weight", C, Init::kOnes)));
      place(single(ours + name + ".beta", vector(theirs + hf + ".bias", C, Init::kZeros)));
    };
    linear("attention_output", "attention.output.dense", C, C);
    layernorm("attention_norm", "attention.output.LayerNorm");
    linear("intermediate", "intermediate.dense", F, C);
    linear("output", "output.dense", C, F);
    layernorm("output_norm", "output.LayerNorm");
  }
  for (const TensorSpec& part : head_tensors) {
    Tensor tensor = single("head." + part.hf_name, part);
    if (tensor.extent == Extent::kLabels) tensor.rows = largest.labels;
    place(std::move(tensor));
  }
  Tensor word =
      single("embeddings.word",
             {.hf_name = embeddings + "word_embeddings.weight", .extent = Extent::kVocab, .cols = C});
  word.rows = round_up(largest.vocab, kTensorAlign);
  place(std::move(word));
}

void Layout::place(Tensor tensor) {
  tensor.offset = row_elements_;
  tensor.train_offset = train_elements_;
  const std::int64_t size = round_up(tensor.capacity(), kTensorAlign);
  row_elements_ += size;
  train_elements_ += size;
  index_.emplace(tensor.name, tensors_.size());
  tensors_.push_back(std::move(tensor));
}

const Tensor& Layout::operator[](std::string_view name) const {
  const auto found = index_.find(name);
  if (found == index_.end()) fail("internal error: the layout has no tensor '{}'", name);
  return tensors_[found->second];
}

std::int64_t Layout::own_rows(const Tensor& tensor, Extents own) {
  switch (tensor.extent) {
    case Extent::kLabels:
      return own.labels;
    case Extent::kVocab:
      return own.vocab;
    case Extent::kFixed:
      break;
  }
  return tensor.rows;
}

}  // namespace shoal::models
