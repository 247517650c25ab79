// The golden files and this program agree on the weights, and the sketch measures what it says.
#include <cmath>
#include <random>

#include "kernels/base/view.h"
#include "models/weights.h"
#include "tests/golden/golden.h"
#include "tests/models/support.h"

namespace shoal::golden {
namespace {

class GoldenFiles : public testing::TestWithParam<const char*> {
 protected:
  const Golden golden = read_golden(GetParam());
  const models::Layout layout = models::layout_of(golden.config, {golden.labels, golden.config.vocab_size});
  const models::Extents own{golden.labels, golden.config.vocab_size};
};

TEST_P(GoldenFiles, HaveOneGradientForEachTensorOfTheLayout) {
  std::vector<std::string> ours, theirs;
  for (const models::Part& part : models::parts_of(layout, own)) {
    ours.push_back(part.spec->hf_name + models::shape_text(part.shape));
  }
  for (const Gradient& gradient : golden.gradients)
    theirs.push_back(gradient.name + models::shape_text(gradient.shape));
  std::sort(ours.begin(), ours.end());
  std::sort(theirs.begin(), theirs.end());
  EXPECT_EQ(ours, theirs);
}

TEST_P(GoldenFiles, WeightsAreThoseThatPyTorchHad) {
  std::vector<float> row(static_cast<std::size_t>(layout.row_elements())), initial(row.size());
  fill_row(golden, layout, row);
  models::BertConfig plain = golden.config;
  plain.initializer_range = 0.02;
  initialise_row(layout, own, plain, golden.seed, initial);
  std::size_t checked = 0;
  for (const models::Part& part : models::parts_of(layout, own)) {
    for (const WeightCheck& check : golden.weights_check) {
      if (check.name != part.spec->hf_name) continue;
      // numpy's log, sin and cos may differ from libm's in the last bits of a double: one float ulp at most.
      const auto at = static_cast<std::size_t>(part.offset + check.index);
      EXPECT_NEAR(row[at], check.value, std::abs(check.value) * 1.2e-7) << check.name << " " << check.index;
      EXPECT_NEAR(initial[at], check.initial, std::abs(check.initial) * 1.2e-7)
          << check.name << " " << check.index;
      ++checked;
    }
  }
  EXPECT_EQ(checked, golden.weights_check.size());
  EXPECT_GT(checked, 100u);
}

TEST_P(GoldenFiles, SequencesReachEveryWorkList) {
  std::vector<int> lists(Seqs::kLists);
  for (std::int64_t b = 0; b < golden.micro.sequences(); ++b)
    ++lists[static_cast<std::size_t>(seq_list_of(golden.micro.cu[b + 1] - golden.micro.cu[b]))];
  for (const int count : lists) EXPECT_GT(count, 0);
  EXPECT_EQ(golden.training.updates.size(), 20u);
  for (const Update& update : golden.training.updates)
    EXPECT_NE(update.window.at(0).sequences(), update.window.at(1).sequences());
}

TEST_P(GoldenFiles, SketchFindsTheSizeOfAnError) {
  std::mt19937 random(1);
  std::normal_distribution<double> normal;
  for (const Gradient& gradient : golden.gradients) {
    if (!gradient.full.empty()) continue;
    // The true gradient is not at hand, but its sketch is linear: error e alone against a zero truth.
    Gradient zero = gradient;
    zero.scale = 1;
    std::fill(zero.sketch.begin(), zero.sketch.end(), 0.0);
    std::fill(zero.sample.begin(), zero.sample.end(), 0.0);
    std::size_t size = 1;
    for (const std::int64_t extent : gradient.shape) size *= static_cast<std::size_t>(extent);
    std::vector<float> error(size);
    double squares = 0;
    for (float& e : error) {
      e = static_cast<float>(normal(random));
      squares += double{e} * e;
    }
    // 35 %: four standard deviations (18 % of the square, 9 % of the root), as there are about 30 tensors.
    EXPECT_NEAR(relative_error(zero, error) / std::sqrt(squares), 1.0, 0.35) << gradient.name;
    if (size > 300000) break;  // time in a debug build
  }
}

INSTANTIATE_TEST_SUITE_P(Models, GoldenFiles, testing::Values("bert_tiny", "wide384", "tanh_regression"),
                         [](const auto& model) { return std::string(model.param); });

}  // namespace
}  // namespace shoal::golden
