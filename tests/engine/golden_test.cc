// The whole model against PyTorch (tests/golden/make_golden.py): logits, every gradient tensor, and twenty
// updates with warm-up, weight decay, clipping and accumulation.
#include "tests/golden/golden.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "engine/adamw_scalars.h"
#include "tests/engine/single_lane.h"

namespace shoal::engine {
namespace {

data::Dataset dataset_of(const golden::Batch& batch) {
  data::Dataset dataset;
  dataset.tokens = batch.ids;
  dataset.begin.assign(batch.cu.begin(), batch.cu.end());
  for (std::size_t b = 0; b < batch.labels.size(); ++b) {
    const auto begin = batch.types.begin() + batch.cu[b], end = batch.types.begin() + batch.cu[b + 1];
    dataset.second.push_back(std::find(begin, end, 1) - batch.types.begin());
    dataset.line.push_back(static_cast<std::int64_t>(b) + 1);
    dataset.stats.longest = std::max<std::int64_t>(dataset.stats.longest, end - begin);
  }
  dataset.label = batch.labels;
  dataset.target = batch.targets;
  dataset.stats.rows = batch.sequences();
  return dataset;
}

std::vector<std::int32_t> all_rows(const data::Dataset& dataset) {
  std::vector<std::int32_t> rows(static_cast<std::size_t>(dataset.rows()));
  std::iota(rows.begin(), rows.end(), 0);
  return rows;
}

struct Case {
  const char* golden;
  DType dtype;
};

class GoldenTest : public testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    device_ = make_device("cpu", {.threads = 2});
    ASSERT_TRUE(GetParam().dtype == DType::kF32 || device_->supports(DType::kBF16));
    golden_ = golden::read_golden(GetParam().golden);
    model_ = std::make_unique<SingleLane>(
        golden_.config, golden_.labels, GetParam().dtype, *device_, 1,
        LaneShape{.W = 1, .rows = 2048, .first_rows = 128, .B = 128, .ld = static_cast<int>(golden_.labels)});
    std::vector<float> row(static_cast<std::size_t>(model_->layout().row_elements()));
    golden::fill_row(golden_, model_->layout(), row);
    model_->fill(0, row);
  }
  bool bf16() const { return GetParam().dtype == DType::kBF16; }

  std::unique_ptr<Device> device_;
  golden::Golden golden_;
  std::unique_ptr<SingleLane> model_;
};

double relative_error(std::span<const float> values, std::span<const double> truth) {
  double error = 0, norm = 0;
  for (std::size_t i = 0; i < truth.size(); ++i) {
    error += (static_cast<double>(values[i]) - truth[i]) * (static_cast<double>(values[i]) - truth[i]);
    norm += truth[i] * truth[i];
  }
  return std::sqrt(error / norm);
}

// PyTorch's own error of a gradient under bf16 autocast. The true gradient of a key bias is zero (softmax
// does not see it), what is left is rounding noise over the query bias's norm. FlashAttention's delta =
// sum(do o) takes o as stored, so its noise is that of a rounded operand, the query bias's own, not of an f32
// sum.
double autocast_error(const golden::Golden& golden, const golden::Gradient& gradient) {
  std::string name = gradient.name;
  const std::size_t key = name.find("self.key.bias");
  if (key == std::string::npos) return gradient.torch.autocast_rms;
  name.replace(key, std::string::npos, "self.query.bias");
  for (const golden::Gradient& query : golden.gradients)
    if (query.name == name) return query.torch.autocast_rms;
  ADD_FAILURE() << name;
  return 0;
}

// The bound of issue and design: fp32 within 1e-5 of double; bf16 at most twice the error of PyTorch's own
// bf16 autocast (its root mean square over several batches: one batch's error is luck).
TEST_P(GoldenTest, LogitsAndGradients) {
  const data::Dataset dataset = dataset_of(golden_.micro);
  const std::vector<std::int32_t> rows = all_rows(dataset);
  const LaneEntry entry{.dataset = &dataset,
                        .rows = rows,
                        .n_labels = static_cast<int>(golden_.labels),
                        .inv_items = 1.0f / static_cast<float>(rows.size())};
  const LaneResult result = model_->lane().run(StepKind::kTrain, {&entry, 1}).front();

  EXPECT_NEAR(static_cast<double>(result.loss), golden_.loss, (bf16() ? 2e-2 : 1e-5) * golden_.loss);
  const double logits = relative_error({result.logits, golden_.logits.size()}, golden_.logits);
  EXPECT_LE(logits, bf16() ? 2 * golden_.logits_torch.autocast_rms : 1e-5);
  const std::vector<float> gradients = model_->gradients(0);
  for (const golden::Gradient& truth : golden_.gradients) {
    const double error =
        golden::relative_error(truth, hf_part(model_->layout(), model_->own(), truth.name, gradients));
    EXPECT_LE(error, bf16() ? 2 * autocast_error(golden_, truth) : 1e-5) << truth.name;
  }
}

TEST_P(GoldenTest, TwentyUpdates) {
  const golden::Training& training = golden_.training;
  JobSpec spec;
  spec.weight_decay = training.weight_decay;
  spec.adam_beta1 = training.adam_beta1;
  spec.adam_beta2 = training.adam_beta2;
  spec.adam_epsilon = training.adam_epsilon;
  for (std::size_t u = 0; u < training.updates.size(); ++u) {
    const golden::Update& update = training.updates[u];
    std::int64_t items = 0;
    for (const golden::Batch& batch : update.window) items += batch.sequences();
    double loss = 0;
    for (std::size_t micro = 0; micro < update.window.size(); ++micro) {
      const data::Dataset dataset = dataset_of(update.window[micro]);
      const std::vector<std::int32_t> rows = all_rows(dataset);
      const bool last = micro + 1 == update.window.size();
      const LaneEntry entry{.dataset = &dataset,
                            .rows = rows,
                            .n_labels = static_cast<int>(golden_.labels),
                            .inv_items = 1.0f / static_cast<float>(items),
                            .update_index = static_cast<std::int32_t>(u),
                            .micro = static_cast<std::int32_t>(micro),
                            .update = last,
                            .max_norm = static_cast<float>(training.max_grad_norm),
                            .scalars = adamw_scalars(spec, update.lr, static_cast<std::int64_t>(u) + 1)};
      const LaneResult result = model_->lane().run(StepKind::kTrain, {&entry, 1}).front();
      loss += static_cast<double>(result.loss);
      if (last) {
        // The norm's own error grows with the weights' drift over the updates.
        EXPECT_NEAR(static_cast<double>(result.norm), update.grad_norm,
                    (bf16() ? 0.1 : 1e-4) * update.grad_norm)
            << u;
        EXPECT_FALSE(result.nonfinite);
      }
    }
    // fp32: the 1e-5. bf16: a trajectory of twenty steps at learning rate 1e-3 amplifies rounding.
    EXPECT_NEAR(loss, update.loss, (bf16() ? 5e-2 : 1e-5) * update.loss) << "update " << u;
  }
}

INSTANTIATE_TEST_SUITE_P(Cpu, GoldenTest,
                         testing::Values(Case{"bert_tiny", DType::kF32}, Case{"wide384", DType::kF32},
                                         Case{"tanh_regression", DType::kF32},
                                         Case{"bert_tiny", DType::kBF16}, Case{"wide384", DType::kBF16},
                                         Case{"tanh_regression", DType::kBF16}),
                         [](const auto& tested) {
                           return std::string(tested.param.golden) + "_" + name_of(tested.param.dtype);
                         });

}  // namespace
}  // namespace shoal::engine
