// config.json: what is read, what is refused and in which words, what an export keeps (cases 26, 38, 40).
#include "models/config.h"

#include <nlohmann/json.hpp>

#include "models/head.h"
#include "models/layout.h"
#include "tests/models/support.h"

namespace shoal::models {
namespace {

using Json = nlohmann::ordered_json;

class Config : public testing::Test {
 protected:
  // A tiny config with some keys changed; "absent" removes a key.
  BertConfig read(const std::string& changes) {
    Json json =
        Json::parse(R"({"vocab_size":100,"hidden_size":8,"num_hidden_layers":1,"num_attention_heads":2,
      "intermediate_size":16,"max_position_embeddings":32,"type_vocab_size":2})");
    const Json changed = Json::parse(changes);
    for (const auto& [key, value] : changed.items()) {
      if (value == "absent") {
        json.erase(key);
      } else {
        json[key] = value;
      }
    }
    return read_text(json.dump());
  }
  BertConfig read_text(const std::string& text) {
    write_file(file_, text);
    return read_config(file_);
  }
  std::string error(const std::string& changes) {
    const std::string text = error_of([&] { read(changes); });
    const std::string place = file_.string() + ": error: ";
    return text.starts_with(place) ? text.substr(place.size()) : text;
  }

  TempFolder folder_;
  std::filesystem::path file_ = folder_ / "config.json";
};

TEST(ConfigFiles, AllPublishedFilesAreRead) {
  const std::filesystem::path folder = std::filesystem::path(SHOAL_SHARED_DATA) / "bert_configs";
  if (!std::filesystem::exists(folder))
    GTEST_SKIP() << folder << " is not there: published config files NOT checked";
  struct File {
    const char* name;
    std::int64_t layers, hidden, heads, intermediate, vocab;
  };
  for (const File& file : {File{"bert-base-cased.bert_config.json", 12, 768, 12, 3072, 28996},
                           File{"bert-base-cased.hf_config.json", 12, 768, 12, 3072, 28996},
                           File{"bert-base-chinese.config.json", 12, 768, 12, 3072, 21128},
                           File{"bert-base-uncased.bert_config.json", 12, 768, 12, 3072, 30522},
                           File{"bert-base-uncased.hf_config.json", 12, 768, 12, 3072, 30522},
                           File{"bert-large-uncased.bert_config.json", 24, 1024, 16, 4096, 30522},
                           File{"bert-tiny.hf_config.json", 2, 128, 2, 512, 30522}}) {
    const BertConfig config = read_config(folder / file.name);
    EXPECT_EQ(config.num_hidden_layers, file.layers) << file.name;
    EXPECT_EQ(config.hidden_size, file.hidden) << file.name;
    EXPECT_EQ(config.num_attention_heads, file.heads) << file.name;
    EXPECT_EQ(config.intermediate_size, file.intermediate) << file.name;
    EXPECT_EQ(config.vocab_size, file.vocab) << file.name;
    EXPECT_EQ(config.max_position_embeddings, 512) << file.name;
    EXPECT_EQ(config.layer_norm_eps, 1e-12) << file.name;
    EXPECT_EQ(config.hidden_dropout_prob, 0.1) << file.name;
    EXPECT_FALSE(config.classifier_dropout.has_value()) << file.name;
    EXPECT_TRUE(config.id2label.empty()) << file.name;
  }
}

TEST_F(Config, DefaultsAreThoseOfTransformers) {
  const BertConfig config = read("{}");
  EXPECT_EQ(config.layer_norm_eps, 1e-12);
  EXPECT_EQ(config.hidden_dropout_prob, 0.1);
  EXPECT_EQ(config.attention_probs_dropout_prob, 0.1);
  EXPECT_EQ(config.initializer_range, 0.02);
  EXPECT_EQ(config.pad_token_id, 0);
  EXPECT_EQ(read(R"({"pad_token_id":null})").pad_token_id, -1);
  EXPECT_EQ(read(R"({"classifier_dropout":0.25})").classifier_dropout, 0.25);
}

TEST_F(Config, OtherModelsAreRefusedByName) {
  EXPECT_EQ(error(R"({"model_type":"roberta"})"), "model_type is \"roberta\"; allowed: \"bert\"");
  EXPECT_EQ(error(R"({"architectures":["RobertaForMaskedLM"]})"),
            "architectures names \"RobertaForMaskedLM\"; allowed: a Bert... of transformers");
  EXPECT_EQ(error(R"({"position_embedding_type":"relative_key"})"),
            "position_embedding_type is \"relative_key\"; allowed: \"absolute\"");
  EXPECT_EQ(error(R"({"is_decoder":true})"), "is_decoder is true; allowed: false (encoders only)");
  EXPECT_EQ(error(R"({"add_cross_attention":true})"),
            "add_cross_attention is true; allowed: false (encoders only)");
  EXPECT_EQ(error(R"({"is_decoder":false,"add_cross_attention":false,"pruned_heads":{}})"), "no error");
  EXPECT_EQ(error(R"({"pruned_heads":{"0":[1]}})"), "pruned_heads is {\"0\":[1]}; allowed: none");
}

TEST_F(Config, Case40ActivationsKeepTheirNameAndMeanAForm) {
  for (const char* name : {"gelu", "gelu_new", "gelu_pytorch_tanh", "gelu_fast"}) {
    const BertConfig config = read(fmt::format(R"({{"hidden_act":"{}"}})", name));
    EXPECT_EQ(config.hidden_act, name);
    EXPECT_EQ(shape_of(config).gelu, config.hidden_act == "gelu" ? GeluForm::kErf : GeluForm::kTanh) << name;
    EXPECT_EQ(Json::parse(export_config(config, "BertForSequenceClassification", {"a", "b"},
                                        "single_label_classification", "float32"))["hidden_act"],
              name);
  }
  // Jobs of one form may share a group, whatever the spelling; those of two may not.
  const auto shape = [&](const char* name) {
    return shape_of(read(fmt::format(R"({{"hidden_act":"{}"}})", name)));
  };
  EXPECT_FALSE(shape("gelu") == shape("gelu_new"));
  EXPECT_TRUE(shape("gelu_pytorch_tanh") == shape("gelu_new"));
}

TEST_F(Config, Case40OtherActivationsAreRefusedByName) {
  for (const char* name : {"relu", "GELU", "gelu_10", "nonsense"})
    EXPECT_EQ(error(fmt::format(R"({{"hidden_act":"{}"}})", name)),
              fmt::format("hidden_act is \"{}\"; allowed: \"gelu\" (the erf form), \"gelu_new\", "
                          "\"gelu_pytorch_tanh\", \"gelu_fast\" (the tanh form)",
                          name));
  EXPECT_EQ(error(R"({"hidden_act":1})"), "hidden_act is 1; allowed: a string");
}

TEST_F(Config, RegressionIsWrittenAsTransformersWritesIt) {
  const Json json = Json::parse(
      export_config(read("{}"), "BertForSequenceClassification", {"LABEL_0"}, "regression", "float32"));
  EXPECT_EQ(json["problem_type"], "regression");
  EXPECT_EQ(json["id2label"].dump(), R"({"0":"LABEL_0"})");
  EXPECT_EQ(json["label2id"].dump(), R"({"LABEL_0":0})");
  EXPECT_FALSE(json.contains("num_labels"));
  const BertConfig back = read_text(json.dump());
  EXPECT_EQ(back.problem_type, "regression");
  EXPECT_EQ(back.id2label, std::vector<std::string>{"LABEL_0"});
  EXPECT_EQ(read("{}").problem_type, "");
}

TEST(Heads, AreFoundByTaskAndProblemType) {
  EXPECT_EQ(find_head("text-classification").problem_type(), "single_label_classification");
  const Head& head = find_head("text-classification", "regression");
  EXPECT_EQ(head.problem_type(), "regression");
  EXPECT_EQ(head.architecture(), "BertForSequenceClassification");
  EXPECT_EQ(
      error_of([] { find_head("text-classification", "ranking"); }),
      "no head for task 'text-classification' with problem_type 'ranking'; allowed: text-classification "
      "(single_label_classification), text-classification (regression)");
}

TEST_F(Config, SizesAreChecked) {
  for (const char* key : {"vocab_size", "hidden_size", "num_hidden_layers", "num_attention_heads",
                          "intermediate_size", "max_position_embeddings", "type_vocab_size"}) {
    EXPECT_EQ(error(fmt::format(R"({{"{}":"absent"}})", key)), std::string(key) + " is missing");
    for (const char* bad :
         {"0", "-1", "8.0", "\"8\"", "true", "1e3", "9223372036854775808", "18446744073709551615"}) {
      const std::string text = error(fmt::format(R"({{"{}":{}}})", key, bad));
      EXPECT_TRUE(text.starts_with(std::string(key) + " is ") &&
                  text.find("; allowed: an integer from 1 to ") != text.npos)
          << key << " " << bad << ": " << text;
    }
  }
  EXPECT_EQ(error(R"({"hidden_size":10,"num_attention_heads":4})"),
            "hidden_size 10 is not divisible by num_attention_heads 4");
  EXPECT_EQ(error(R"({"pad_token_id":100})"), "pad_token_id is 100; allowed: 0 to 99, or null");
  EXPECT_EQ(error(R"({"hidden_dropout_prob":1.0})"),
            "hidden_dropout_prob is 1.0; allowed: a number from 0 up to, not including, 1");
  EXPECT_EQ(error(R"({"attention_probs_dropout_prob":"0.1"})"),
            "attention_probs_dropout_prob is \"0.1\"; allowed: a number from 0 up to, not including, 1");
  EXPECT_EQ(error(R"({"layer_norm_eps":0})"), "layer_norm_eps is 0; allowed: a number above 0 and below 1");
}

TEST_F(Config, Case38ContradictoryLabelsAreRefused) {
  EXPECT_EQ(error(R"({"num_labels":3,"id2label":{"0":"a","1":"b"}})"),
            "num_labels is 3, but id2label names 2 labels");
  EXPECT_EQ(error(R"({"_num_labels":3,"id2label":{"0":"a","1":"b"}})"),
            "_num_labels is 3, but id2label names 2 labels");
  EXPECT_EQ(error(R"({"num_labels":3,"label2id":{"a":0,"b":1}})"),
            "num_labels is 3, but label2id names 2 labels");
  EXPECT_EQ(error(R"({"id2label":{"0":"a","2":"b"}})"),
            "id2label has id 2 but no id 1; allowed: ids 0, 1, ... without a hole");
  EXPECT_EQ(error(R"({"id2label":{"0":"a","x":"b"}})"),
            "id2label has the key \"x\"; allowed: \"0\", \"1\", ...");
  EXPECT_EQ(error(R"({"id2label":{"0":"a","00":"b"}})"), "id2label names id 0 twice");
  EXPECT_EQ(error(R"({"id2label":{"0":"a","1":"a"}})"), "id2label names \"a\" twice");
  EXPECT_EQ(error(R"({"id2label":{"0":"a","1":7}})"), "id2label[\"1\"] is 7; allowed: a string");
  EXPECT_EQ(error(R"({"id2label":["a","b"]})"), "id2label is [\"a\",\"b\"]; allowed: an object");
  EXPECT_EQ(error(R"({"id2label":{"0":"a","1":"b"},"label2id":{"a":1,"b":0}})"),
            "label \"a\" has id 0 in id2label and id 1 in label2id");
  EXPECT_EQ(error(R"({"label2id":{"a":0,"b":2}})"),
            "label2id gives \"b\" the id 2; allowed: ids 0 to 1, each once");
}

TEST_F(Config, Case26LabelsComeInTheOrderOfTheirIds) {
  using Labels = std::vector<std::string>;
  EXPECT_EQ(read(R"({"label2id":{"CONTRADICTION":0,"NEUTRAL":1,"ENTAILMENT":2}})").id2label,
            (Labels{"CONTRADICTION", "NEUTRAL", "ENTAILMENT"}));
  EXPECT_EQ(
      read(R"({"id2label":{"1":"b","0":"a","10":"k","2":"c","3":"d","4":"e","5":"f","6":"g","7":"h","8":"i",
                     "9":"j"}})")
          .id2label.at(10),
      "k");
  EXPECT_EQ(
      read(R"({"num_labels":2,"id2label":{"0":"a","1":"b"},"label2id":{"LABEL_0":0,"LABEL_1":1}})").id2label,
      (Labels{"a", "b"}));
  EXPECT_TRUE(read(R"({"num_labels":3})").id2label.empty());
}

TEST_F(Config, BrokenFilesAreRefusedWithTheirPlace) {
  EXPECT_TRUE(error_of([&] {
                read_text("{\"a\": 1,\n  \"b\": }");
              }).starts_with(file_.string() + ":2:8: error: not JSON: "))
      << error_of([&] { read_text("{\"a\": 1,\n  \"b\": }"); });
  EXPECT_EQ(error_of([&] { read_text("[1]"); }), file_.string() + ": error: wanted a JSON object, got array");
  EXPECT_EQ(error_of([&] { read_config(folder_ / "none.json"); }),
            (folder_ / "none.json").string() + ": error: cannot open the file: No such file or directory");
}

TEST(Presets, HaveThePublishedSizes) {
  const BertConfig tiny = preset_config("bert-tiny"), large = preset_config("bert-large");
  EXPECT_EQ(tiny.num_hidden_layers, 2);
  EXPECT_EQ(tiny.hidden_size, 128);
  EXPECT_EQ(tiny.num_attention_heads, 2);
  EXPECT_EQ(tiny.intermediate_size, 512);
  EXPECT_EQ(large.num_hidden_layers, 24);
  EXPECT_EQ(large.num_attention_heads, 16);
  EXPECT_EQ(large.intermediate_size, 4096);
  EXPECT_EQ(error_of([] { preset_config("bert-huge"); }),
            "error: no model preset \"bert-huge\"; allowed: bert-tiny, bert-mini, bert-small, bert-medium, "
            "bert-base, "
            "bert-large");
}

TEST_F(Config, ExportKeepsUnknownKeysAndWritesTheJobsOwn) {
  const BertConfig config =
      read(R"({"pooler_type":"first_token_transform","torch_dtype":"float16","num_labels":3,
    "id2label":{"0":"x","1":"y","2":"z"},"pad_token_id":null,"architectures":["BertForMaskedLM"]})");
  const std::string text = export_config(config, "BertForSequenceClassification", {"no", "yes"},
                                         "single_label_classification", "bfloat16");
  const Json json = Json::parse(text);
  EXPECT_EQ(json.at("pooler_type"), "first_token_transform");
  EXPECT_EQ(json.at("architectures"), Json({"BertForSequenceClassification"}));
  EXPECT_EQ(json.at("model_type"), "bert");
  EXPECT_EQ(json.at("dtype"), "bfloat16");
  EXPECT_FALSE(json.contains("torch_dtype") || json.contains("num_labels"));
  EXPECT_EQ(json.at("id2label"), Json::parse(R"({"0":"no","1":"yes"})"));
  EXPECT_EQ(json.at("label2id"), Json::parse(R"({"no":0,"yes":1})"));
  EXPECT_TRUE(json.at("pad_token_id").is_null());

  const BertConfig again = read_text(text);
  EXPECT_EQ(again.id2label, (std::vector<std::string>{"no", "yes"}));
  EXPECT_EQ(again.hidden_size, config.hidden_size);
  EXPECT_EQ(again.pad_token_id, -1);
}

TEST(ExportConfig, RefusesLabelsThatNoReaderCouldTellApart) {
  const auto text = [](const std::vector<std::string>& labels) {
    return error_of([&] { export_config(preset_config("bert-tiny"), "X", labels, "p", "float32"); });
  };
  EXPECT_EQ(text({"a", "b"}), "no error");
  EXPECT_EQ(text({}), "config.json: error: a model with a head needs at least one label name");
  EXPECT_EQ(text({"a", "a"}), "config.json: error: two classes are called \"a\"");
  EXPECT_EQ(text({"a", "\xff"}), "config.json: error: a label name is not valid UTF-8");
}

}  // namespace
}  // namespace shoal::models
