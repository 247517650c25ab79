// config.json and safetensors.
#include "models/config.h"
#include "models/safetensors.h"
#include "tests/fuzz/target.h"

namespace shoal::fuzz {
namespace {

void read_config(std::string_view input) {
  const models::BertConfig config = models::read_config(input_file("config.json", input));
  promise(config.num_attention_heads > 0 && config.hidden_size % config.num_attention_heads == 0,
          "heads divide the size");
  models::gelu_form(config.hidden_act);
  models::export_config(config, "BertForSequenceClassification", {"a", "b"}, "", "float32");
}

void read_safetensors(std::string_view input) {
  const models::SafetensorsFile file(input_file("model.safetensors", input));
  unsigned sum = 0;
  for (const models::StoredTensor& tensor : file.tensors()) {
    for (const std::byte byte : file.bytes(tensor)) sum += static_cast<unsigned>(byte);
  }
  promise(sum < 256u * input.size(), "tensors lie in the file");  // and each byte was read
}

// Header, with its length in front, and data.
std::string stored(const std::string& header, std::size_t bytes) {
  std::string out;
  for (int i = 0; i < 8; ++i) out += static_cast<char>(header.size() >> (8 * i));
  return out + header + std::string(bytes, '\1');
}

}  // namespace

std::vector<Target> model_targets() {
  const std::string config =
      R"({"model_type":"bert","vocab_size":100,"hidden_size":32,"num_hidden_layers":2,)"
      R"("num_attention_heads":2,"intermediate_size":64,"hidden_act":"gelu",)"
      R"("max_position_embeddings":64,"type_vocab_size":2,"pad_token_id":0,)"
      R"("id2label":{"0":"no","1":"yes"},"label2id":{"no":0,"yes":1}})";
  const std::string one = R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]})";
  return {{"config_json", read_config, {config, "{}", R"({"model_type":"bert","num_labels":3})"}},
          {"safetensors",
           read_safetensors,
           {stored(one + R"(,"b":{"dtype":"F16","shape":[2,1],"data_offsets":[4,8]}})", 8),
            stored(one + R"(,"__metadata__":{"format":"pt"}})", 4),
            stored(one + R"(,"b":{"dtype":"BF16","shape":[4294967296,4294967296],"data_offsets":[2,6]}})", 8),
            stored("{}   ", 0), stored(R"({"a":{"dtype":"I64","shape":[],"data_offsets":[0,8]}})", 8)}}};
}

}  // namespace shoal::fuzz
