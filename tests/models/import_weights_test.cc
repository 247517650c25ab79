// Import of Hugging Face weights: every spelling and type that is out there (cases 34, 35, 37, 38, 43).
#include <cmath>
#include <cstring>
#include <limits>

#include "kernels/base/dtype.h"
#include "models/half.h"
#include "models/safetensors.h"
#include "models/weights.h"
#include "tests/models/support.h"

namespace shoal::models {
namespace {

std::string bytes_of(const std::vector<float>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)};
}

template <typename Narrow>
std::string narrowed(const std::vector<float>& values, Narrow&& narrow) {
  std::string bytes;
  for (const float value : values) {
    const std::uint16_t bits = narrow(value);
    bytes.append(reinterpret_cast<const char*>(&bits), 2);
  }
  return bytes;
}
std::string as_half(const std::vector<float>& values) {
  return narrowed(values, float_to_half);
}
std::string as_bf16(const std::vector<float>& values) {
  return narrowed(values, [](float value) { return bf16(value).bits; });
}

NewTensor tensor(const std::string& name, const std::vector<std::int64_t>& shape, const std::string& bytes,
                 const std::string& dtype = "F32") {
  return {name, dtype, shape, [bytes](const data::Append& append) { append(bytes); }};
}

// The writer knows no integer types: written as F32 of the same size, then renamed in place.
void relabel(const std::filesystem::path& file, const std::string& name, const std::string& dtype) {
  std::string bytes = read_file(file);
  const std::size_t at = bytes.find("\"F32\"", bytes.find("\"" + name + "\""));
  ASSERT_NE(at, std::string::npos);
  bytes.replace(at, 5, "\"" + dtype + "\"");
  write_file(file, bytes);
}

class ImportWeights : public testing::Test {
 protected:
  ImportWeights() {
    // The truth: a full random model for 3 labels.
    std::vector<float> row(static_cast<std::size_t>(layout_.row_elements()));
    BertConfig wide = config_;
    wide.initializer_range = 0.5;
    initialise_row(layout_, own_, wide, 11, row);
    truth_ = row;
    for (const Part& part : parts_of(layout_, own_))
      tensors_.push_back(
          tensor(part.spec->hf_name, part.shape,
                 bytes_of({row.begin() + part.offset, row.begin() + part.offset + part.elements})));
  }

  NewTensor& named(const std::string& name) {
    for (NewTensor& t : tensors_)
      if (t.name == name) return t;
    throw std::out_of_range(name);
  }
  void remove(const std::string& start) {
    std::erase_if(tensors_, [&](const NewTensor& t) { return t.name.starts_with(start); });
  }
  void replace_in_names(const std::string& from, const std::string& to) {
    for (NewTensor& t : tensors_)
      if (const std::size_t at = t.name.find(from); at != std::string::npos)
        t.name.replace(at, from.size(), to);
  }
  void save() { write_safetensors(folder_ / "model.safetensors", tensors_); }

  std::vector<float> import(std::uint64_t seed = 1) { return import_as(own_, seed); }
  std::vector<float> import_as(Extents own, std::uint64_t seed = 1) {
    std::vector<float> row(static_cast<std::size_t>(layout_.row_elements()), NAN);
    report_ = import_weights(folder_.path(), layout_, own, config_, seed, row);
    return row;
  }
  std::string error() {
    save();
    return error_text();
  }
  std::string error_text() {
    const std::string text = error_of([&] { import(); });
    const std::string place = folder_.path().string();
    return text.starts_with(place) ? text.substr(place.size()) : text;
  }
  std::vector<float> part_of(const std::vector<float>& row, const std::string& name, Extents own) const {
    for (const Part& part : parts_of(layout_, own))
      if (part.spec->hf_name == name)
        return {row.begin() + part.offset, row.begin() + part.offset + part.elements};
    throw std::out_of_range(name);
  }

  const BertConfig config_ = small_config();
  const Layout layout_ = layout_of(config_);
  const Extents own_{3, 10};
  std::vector<float> truth_;
  std::vector<NewTensor> tensors_;
  TempFolder folder_;
  ImportReport report_;
};

using Notes = std::vector<std::string>;

TEST_F(ImportWeights, TakesEveryTensorAndLeavesTheRestZero) {
  save();
  EXPECT_EQ(import(), truth_);
  EXPECT_EQ(report_.matched, static_cast<std::int64_t>(tensors_.size()));
  EXPECT_EQ(report_.notes, Notes{});
}

TEST_F(ImportWeights, Case34PrefixOrNone) {
  replace_in_names("bert.", "");
  save();
  EXPECT_EQ(import(), truth_);
}

TEST_F(ImportWeights, OldLayerNormNames) {
  replace_in_names("LayerNorm.weight", "LayerNorm.gamma");
  replace_in_names("LayerNorm.bias", "LayerNorm.beta");
  save();
  EXPECT_EQ(import(), truth_);
}

TEST_F(ImportWeights, Case34MissingTrunkTensorsAreRefusedByName) {
  remove("bert.encoder.layer.0.output.dense.bias");
  EXPECT_EQ(error(),
            "/model.safetensors: error: 1 of 21 tensors are missing: bert.encoder.layer.0.output.dense.bias");
  remove("bert.embeddings.LayerNorm");
  EXPECT_EQ(error(),
            "/model.safetensors: error: 3 of 21 tensors are missing: bert.embeddings.LayerNorm.weight, "
            "bert.embeddings.LayerNorm.bias, bert.encoder.layer.0.output.dense.bias");
  replace_in_names("bert.", "roberta.");
  EXPECT_EQ(error(),
            "/model.safetensors: error: none of the 21 tensors of this BERT is there (the file's first is "
            "'classifier.bias'): not its checkpoint");
}

TEST_F(ImportWeights, TheSameTensorTwiceIsRefused) {
  NewTensor twin = named("bert.embeddings.LayerNorm.bias");
  twin.name = "embeddings.LayerNorm.beta";
  tensors_.push_back(twin);
  EXPECT_EQ(error(),
            "/model.safetensors: error: 'bert.embeddings.LayerNorm.bias' and 'embeddings.LayerNorm.beta' are "
            "the same "
            "tensor");
}

TEST_F(ImportWeights, Case35PositionIdsAreIgnored) {
  const std::vector<NewTensor> without = tensors_;
  for (const char* name : {"bert.embeddings.position_ids", "embeddings.position_ids"}) {
    for (const char* dtype : {"F32", "I64"}) {
      tensors_ = without;
      // 12 floats or 6 integers of 8 bytes: the shape that HF writes, [1, positions].
      const bool integers = std::string(dtype) == "I64";
      tensors_.push_back(tensor(name, {1, integers ? 12 : 6}, std::string(integers ? 48 : 24, '\0')));
      save();
      if (integers) {
        relabel(folder_ / "model.safetensors", name, "I64");
        std::string bytes = read_file(folder_ / "model.safetensors");
        bytes.replace(bytes.find("[1,12]"), 6, "[1, 6]");
        write_file(folder_ / "model.safetensors", bytes);
      }
      EXPECT_EQ(import(), truth_) << name << " " << dtype;
      EXPECT_EQ(report_.notes, Notes{}) << name << " " << dtype;
    }
  }
}

TEST_F(ImportWeights, Case37MissingPoolerIsInitialisedFromTheSeed) {
  remove("bert.pooler");
  save();
  const std::vector<float> one = import(1), again = import(1), two = import(2);
  EXPECT_EQ(report_.notes, Notes{"no pooler in the file: initialised with seed 2"});
  EXPECT_EQ(report_.matched, static_cast<std::int64_t>(tensors_.size()));
  EXPECT_EQ(one, again);
  const std::string name = "bert.pooler.dense.weight";
  EXPECT_NE(part_of(one, name, own_), part_of(two, name, own_));
  std::vector<float> expected(64);
  initialise({.hf_name = name, .cols = 8}, 1, config_.initializer_range, -1, expected);
  EXPECT_EQ(part_of(one, name, own_), expected);
  EXPECT_EQ(part_of(one, "bert.pooler.dense.bias", own_), std::vector<float>(8, 0.0f));
  EXPECT_EQ(part_of(one, "classifier.weight", own_), part_of(truth_, "classifier.weight", own_));
}

TEST_F(ImportWeights, HalfAHeadIsRefused) {
  remove("bert.pooler.dense.bias");
  EXPECT_EQ(error(),
            "/model.safetensors: error: 'pooler.dense' is there, but 'bert.pooler.dense.bias' is missing");
}

TEST_F(ImportWeights, Case38HeadOfAnotherSizeIsDropped) {
  save();
  const Extents two{2, 10};
  const std::vector<float> row = import_as(two);
  EXPECT_EQ(report_.notes, Notes{"classifier [3,8] dropped: the job has 2 labels; initialised with seed 1"});
  std::vector<float> expected(16);
  initialise({.hf_name = "classifier.weight", .cols = 8}, 1, config_.initializer_range, -1, expected);
  EXPECT_EQ(part_of(row, "classifier.weight", two), expected);
  EXPECT_EQ(part_of(row, "classifier.bias", two), (std::vector<float>{0, 0}));
  remove("classifier");
  save();
  import();
  EXPECT_EQ(report_.notes, Notes{"no classifier in the file: initialised with seed 1"});
}

TEST_F(ImportWeights, OtherHeadsAreNotedOnce) {
  for (const char* name : {"cls.predictions.bias", "cls.predictions.decoder.weight",
                           "cls.seq_relationship.bias", "cls.seq_relationship.weight"})
    tensors_.push_back(tensor(name, {1}, "1234"));
  tensors_.push_back(tensor("bert.encoder.layer.1.output.dense.bias", {8}, std::string(32, '\0')));
  save();
  EXPECT_EQ(import(), truth_);
  EXPECT_EQ(
      report_.notes,
      (Notes{"1 tensors ignored that config.json has no place for: bert.encoder.layer.1.output.dense.bias",
             "4 tensors of other heads ignored: cls.predictions.bias, cls.predictions.decoder.weight, "
             "cls.seq_relationship.bias and 1 more"}));
}

TEST_F(ImportWeights, Case43SixteenBitWeightsWidenExactly) {
  const std::string half = "bert.embeddings.LayerNorm.bias",
                    brain = "bert.encoder.layer.0.output.LayerNorm.bias";
  // The smallest subnormal, a larger one, the largest number, a signed zero.
  const std::vector<float> halves = {0x1p-24f,     6e-8f, 65504.0f, -0.0f,
                                     0x1.ff8p-15f, -1.5f, 0x1p-14f, 1.0f / 3};
  const std::vector<float> brains = {0x1p-133f, 3e38f, -0.0f, 1.0f, 0x1p-126f, -2.0f, 0.1f, 0.0f};
  named(half) = tensor(half, {8}, as_half(halves), "F16");
  named(brain) = tensor(brain, {8}, as_bf16(brains), "BF16");
  save();
  const std::vector<float> row = import(), a = part_of(row, half, own_), b = part_of(row, brain, own_);
  for (std::size_t i = 0; i < 8; ++i) {
    EXPECT_EQ(a[i], static_cast<float>(static_cast<_Float16>(halves[i]))) << i;
    EXPECT_EQ(b[i], static_cast<float>(bf16(brains[i]))) << i;
    EXPECT_EQ(std::signbit(a[i]), std::signbit(halves[i])) << i;
    EXPECT_EQ(std::signbit(b[i]), std::signbit(brains[i])) << i;
  }
  EXPECT_EQ(a[1], 0x1p-24f);
  EXPECT_EQ(a[2], 65504.0f);
  EXPECT_EQ(part_of(row, "classifier.weight", own_), part_of(truth_, "classifier.weight", own_));
}

TEST_F(ImportWeights, Case43OtherTypesAndValuesAreRefused) {
  const std::string name = "bert.embeddings.LayerNorm.bias";
  const float inf = std::numeric_limits<float>::infinity();
  named(name) = tensor(name, {8}, bytes_of({0, 1, 2, NAN, 4, 5, 6, 7}));
  EXPECT_EQ(error(), "/model.safetensors: error: tensor '" + name +
                         "' holds nan at element 3; allowed: finite weights");
  named(name) = tensor(name, {8}, as_half({0, inf, 0, 0, 0, 0, 0, 0}), "F16");
  EXPECT_EQ(error(), "/model.safetensors: error: tensor '" + name +
                         "' holds inf at element 1; allowed: finite weights");
  named(name) = tensor(name, {8}, as_bf16({0, 0, 0, 0, 0, 0, 0, -inf}), "BF16");
  EXPECT_EQ(error(), "/model.safetensors: error: tensor '" + name +
                         "' holds -inf at element 7; allowed: finite weights");
  named(name) = tensor(name, {8}, std::string(32, '\0'));
  save();
  relabel(folder_ / "model.safetensors", name, "I32");
  EXPECT_EQ(error_text(),
            "/model.safetensors: error: tensor '" + name + "' has type I32; allowed: F32, F16, BF16");
}

TEST_F(ImportWeights, WrongShapesAreRefused) {
  const std::string words = "bert.embeddings.word_embeddings.weight";
  named(words) = tensor(words, {12, 8}, std::string(12 * 8 * 4, '\0'));
  EXPECT_EQ(error(),
            "/model.safetensors: error: tensor '" + words + "' has shape [12,8], the model needs [10,8]");
  named(words) = tensor(words, {80}, std::string(80 * 4, '\0'));
  EXPECT_EQ(error(),
            "/model.safetensors: error: tensor '" + words + "' has shape [80], the model needs [10,8]");
  // Another hidden size is no head of another label count.
  named(words) = tensor(words, {10, 8}, std::string(320, '\0'));
  named("classifier.weight") = tensor("classifier.weight", {2, 9}, std::string(72, '\0'));
  EXPECT_EQ(error(),
            "/model.safetensors: error: tensor 'classifier.weight' has shape [2,9], the model needs [3,8]");
}

TEST_F(ImportWeights, ReadsShards) {
  const auto half = tensors_.begin() + static_cast<std::ptrdiff_t>(tensors_.size() / 2);
  write_safetensors(folder_ / "model-00001-of-00002.safetensors", {tensors_.begin(), half});
  write_safetensors(folder_ / "model-00002-of-00002.safetensors", {half, tensors_.end()});
  std::string map;
  for (auto it = tensors_.begin(); it != tensors_.end(); ++it)
    map += fmt::format("{}\"{}\":\"model-0000{}-of-00002.safetensors\"", map.empty() ? "" : ",", it->name,
                       it < half ? 1 : 2);
  const std::string index = "/model.safetensors.index.json";
  write_file(folder_.path().string() + index, R"({"metadata":{},"weight_map":{)" + map + "}}");
  EXPECT_EQ(import(), truth_);
  write_file(folder_.path().string() + index, R"({"weight_map":{"a":"../other/model.safetensors"}})");
  EXPECT_EQ(
      error_text(),
      index +
          ": error: weight_map[\"a\"] is \"../other/model.safetensors\"; allowed: a file of the same folder");
  write_file(folder_.path().string() + index, R"({"weight_map":[]})");
  EXPECT_EQ(error_text(), index + ": error: weight_map is missing or not an object");
}

TEST_F(ImportWeights, OtherFrameworksFilesAreAnsweredInWords) {
  EXPECT_EQ(error_text(), ": error: no model.safetensors in this folder");
  write_file(folder_ / "tf_model.h5", "");
  EXPECT_EQ(error_text(),
            ": error: has tf_model.h5 but no model.safetensors; allowed: a folder saved by transformers' "
            "save_pretrained");
  write_file(folder_ / "pytorch_model.bin", "");
  EXPECT_TRUE(error_text().starts_with(
      ": error: has pytorch_model.bin but no model.safetensors; to convert it, run in "
      "that folder: python -c \"import torch, safetensors.torch"))
      << error_text();
}

}  // namespace
}  // namespace shoal::models
