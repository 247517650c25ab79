// cuda_launches: which kernels training steps of BERT of many widths launch, and how. The real launchers and
// the real device, on a run-time without a GPU. One line each: kernel, threads of a block, bytes of dynamic
// shared memory.
#include <cstdio>
#include <exception>
#include <numeric>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "tests/cuda/fake_runtime.h"
#include "tests/engine/single_lane.h"

namespace shoal::test {
namespace {

models::BertConfig bert(std::int64_t hidden, const std::string& problem, const std::string& activation) {
  models::BertConfig config;
  config.vocab_size = 512;
  config.hidden_size = hidden;
  config.num_hidden_layers = 2;
  config.num_attention_heads = hidden / 64;
  config.intermediate_size = 4 * hidden;
  config.hidden_act = activation;
  config.problem_type = problem;
  return config;
}

// A row of two words.
data::Dataset two_words() {
  data::Dataset dataset;
  dataset.begin = {0, 2};
  dataset.tokens = {101, 102};
  dataset.second = {2};
  dataset.line = {1};
  dataset.label = {0};
  dataset.target = {0};
  dataset.stats.longest = 2;
  dataset.stats.rows = 1;
  return dataset;
}

void step(const models::BertConfig& config) {
  const auto device = make_device("cuda");
  engine::SingleLane model(config, 2, DType::kBF16, *device, 4,
                           {.W = 2, .rows = 2048, .first_rows = 256, .B = 8, .ld = 2});
  const data::Dataset dataset = two_words();
  const std::vector<std::int32_t> rows = {0};
  const std::vector<engine::LaneEntry> entries = {{.slot = 0,
                                                   .dataset = &dataset,
                                                   .rows = rows,
                                                   .n_labels = 2,
                                                   .hidden_dropout = 0.1,
                                                   .attention_dropout = 0.1,
                                                   .classifier_dropout = 0.1,
                                                   .update = true,
                                                   .max_norm = 1}};
  model.lane().run(engine::StepKind::kTrain, entries);
  model.lane().run(engine::StepKind::kEvaluate, entries);

  // As a job enters its slot.
  const Stream stream = device->make_stream();
  void* const some = device->allocate(Memory::kDevice, 1 << 20);
  device->ops().cast_rows({.to = static_cast<bf16*>(some),
                           .from = static_cast<const float*>(some),
                           .stride = model.layout().row_elements(),
                           .elements = model.layout().row_elements(),
                           .W = 1,
                           .slot = static_cast<const std::int32_t*>(some)},
                          stream);
  device->release(Memory::kDevice, some);
  device->release(stream);
}

int run() {
  for (const std::int64_t hidden : {128, 256, 512, 768, 1024, 2048, 4096}) {
    step(bert(hidden, "single_label_classification", "gelu"));
    step(bert(hidden, "regression", "gelu_new"));
  }
  std::set<std::tuple<std::string, std::size_t, std::size_t>> lines;
  for (const FakeLaunch& l : fake_machine().launches) {
    lines.emplace(l.kernel, std::size_t{l.block.x} * l.block.y * l.block.z, l.shared);
  }
  for (const auto& [kernel, threads, shared] : lines)
    std::printf("%s %zu %zu\n", kernel.c_str(), threads, shared);
  return 0;
}

}  // namespace
}  // namespace shoal::test

int main() {
  try {
    return shoal::test::run();
  } catch (const std::exception& e) {
    std::fprintf(stderr, "cuda_launches: %s\n", e.what());
    return 1;
  }
}
