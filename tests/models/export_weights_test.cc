// Export: what is written comes back bit for bit, with HF's names and the job's own extents.
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

class ExportWeights : public testing::Test {
 protected:
  ExportWeights() : row_(static_cast<std::size_t>(layout_.row_elements())) {
    initialise_row(layout_, own_, config_, 5, row_);
  }
  std::vector<float> read_back() {
    std::vector<float> row(row_.size(), NAN);
    import_weights(folder_.path(), layout_, own_, config_, 99, row);
    return row;
  }

  const BertConfig config_ = small_config();
  const Layout layout_ = layout_of(config_);
  const Extents own_{2, 10};
  std::vector<float> row_;
  TempFolder folder_;
  const std::filesystem::path file_ = folder_ / "model.safetensors";
};

TEST_F(ExportWeights, ComesBackBitForBit) {
  row_[static_cast<std::size_t>(layout_["embeddings.beta"].offset)] = -0.0f;
  export_weights(file_, layout_, own_, row_, SaveType::kF32);
  const std::vector<float> back = read_back();
  EXPECT_EQ(std::memcmp(back.data(), row_.data(), row_.size() * sizeof(float)), 0);
  EXPECT_EQ(folder_.names(), std::vector<std::string>{"model.safetensors"});
}

TEST_F(ExportWeights, HasHuggingFacesTensorsAndNothingElse) {
  export_weights(file_, layout_, own_, row_, SaveType::kF32);
  const SafetensorsFile file(file_);
  EXPECT_EQ(file.metadata(), (std::map<std::string, std::string>{{"format", "pt"}}));
  std::map<std::string, std::string> shapes;
  for (const StoredTensor& tensor : file.tensors())
    shapes[tensor.name] = tensor.dtype + shape_text(tensor.shape);
  EXPECT_EQ(shapes.size(), 25u);
  EXPECT_EQ(shapes.at("bert.embeddings.word_embeddings.weight"), "F32[10,8]");
  EXPECT_EQ(shapes.at("bert.encoder.layer.0.attention.self.key.weight"), "F32[8,8]");
  EXPECT_EQ(shapes.at("bert.encoder.layer.0.attention.self.value.bias"), "F32[8]");
  EXPECT_EQ(shapes.at("bert.encoder.layer.0.intermediate.dense.weight"), "F32[16,8]");
  EXPECT_EQ(shapes.at("bert.pooler.dense.weight"), "F32[8,8]");
  EXPECT_EQ(shapes.at("classifier.weight"), "F32[2,8]");
  EXPECT_EQ(shapes.at("classifier.bias"), "F32[2]");
}

TEST_F(ExportWeights, NarrowTypesRoundOnce) {
  for (const SaveType type : {SaveType::kF16, SaveType::kBF16}) {
    export_weights(file_, layout_, own_, row_, type);
    const std::vector<float> back = read_back();
    for (std::size_t i = 0; i < row_.size(); ++i) {
      const float expected =
          type == SaveType::kF16 ? half_to_float(float_to_half(row_[i])) : static_cast<float>(bf16(row_[i]));
      ASSERT_EQ(back[i], expected) << i;
    }
    const std::vector<float> once = back;
    export_weights(file_, layout_, own_, once, type);
    EXPECT_EQ(read_back(), once);
  }
}

TEST_F(ExportWeights, ValuesThatTheTypeCannotStoreAreRefused) {
  float& bias = row_[static_cast<std::size_t>(layout_["head.classifier.bias"].offset + 1)];
  const auto error = [&](float value, SaveType type) {
    bias = value;
    const std::string text = error_of([&] { export_weights(file_, layout_, own_, row_, type); });
    return text == "no error" ? text : text.substr(file_.string().size());
  };
  EXPECT_EQ(error(65519.0f, SaveType::kF16), "no error");
  EXPECT_EQ(error(65520.0f, SaveType::kF16),
            ": error: tensor 'classifier.bias' holds 65520, which F16 cannot store");
  EXPECT_EQ(error(3.4e38f, SaveType::kBF16),
            ": error: tensor 'classifier.bias' holds 3.4e+38, which BF16 cannot store");
  EXPECT_EQ(error(3.4e38f, SaveType::kF32), "no error");
  const std::string before = read_file(file_);
  EXPECT_EQ(error(NAN, SaveType::kF32),
            ": error: tensor 'classifier.bias' holds nan, which F32 cannot store");
  EXPECT_EQ(read_file(file_), before) << "a refused export leaves the file that was there";
}

}  // namespace
}  // namespace shoal::models
