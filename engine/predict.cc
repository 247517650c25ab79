// evaluate_model and predict_models: Predictors over a file or texts at hand.
#include <algorithm>

#include "engine/fleet.h"
#include "engine/predictor.h"
#include "engine/scores.h"
#include "kernels/base/error.h"

namespace shoal::engine {
namespace {

DType dtype_of(const EvalRequest& request, const Device& device) {
  return resolve_precision(request.precision, device.supports(DType::kBF16));
}

// The model's own limit where the request does not cut shorter.
data::DatasetOptions limited(const EvalRequest& request, const TrainedModel& model) {
  data::DatasetOptions options = request.data;
  options.max_seq_length = std::min(options.max_seq_length, model.base.config.max_position_embeddings);
  return options;
}

Predictions empty_answer(const TrainedModel& model, const data::Dataset& dataset) {
  Predictions answer;
  answer.labels = model.labels.names();
  answer.rows = dataset.rows();
  return answer;
}

// Indices of the models of each group, in order of first appearance.
std::vector<std::vector<std::size_t>> grouped(const std::vector<TrainedModel>& models) {
  std::vector<std::vector<std::size_t>> groups;
  for (std::size_t m = 0; m < models.size(); ++m) {
    const auto home = std::ranges::find_if(
        groups, [&](const auto& group) { return share_launches(models[group.front()], models[m]); });
    if (home == groups.end()) {
      groups.push_back({m});
    } else {
      home->push_back(m);
    }
  }
  return groups;
}

// read(model): its data set.
template <typename Read>
std::vector<Predictions> predict(const EvalRequest& request, std::span<const std::filesystem::path> folders,
                                 Device& device, const Read& read) {
  std::vector<TrainedModel> models;
  std::vector<data::Dataset> datasets;
  std::vector<Predictions> answers;
  for (const std::filesystem::path& folder : folders) {
    models.push_back(read_trained_model(folder));
    datasets.push_back(read(models.back()));
    answers.push_back(empty_answer(models.back(), datasets.back()));
  }
  for (const std::vector<std::size_t>& group : grouped(models)) {
    std::vector<const TrainedModel*> members;
    std::vector<const data::Dataset*> data;
    for (const std::size_t m : group) {
      members.push_back(&models[m]);
      data.push_back(&datasets[m]);
    }
    const auto take = [&](std::size_t member, std::int64_t, const float* logits, float) {
      const TrainedModel& model = *members[member];
      Predictions& answer = answers[group[member]];
      answer.logits.insert(answer.logits.end(), logits, logits + model.labels.size());
      if (!model.is_regression()) append_softmax(logits, model.labels.size(), answer.probabilities);
    };
    Predictor(members, dtype_of(request, device), device).run(data, request.batch_size, take);
  }
  return answers;
}

}  // namespace

Metrics evaluate_model(const EvalRequest& request, Device& device) {
  const TrainedModel model = read_trained_model(request.model);
  data::DatasetOptions options = limited(request, model);
  options.regression = model.is_regression();
  const data::Dataset dataset =
      data::build_dataset(request.file, *model.base.tokenizer, &model.labels, options);
  const data::Dataset* const data = &dataset;
  Scores scores(model.labels.size(), model.is_regression());
  const auto take = [&](std::size_t, std::int64_t row, const float* logits, float loss) {
    scores.add(dataset, row, logits, loss);
  };
  Predictor({&model}, dtype_of(request, device), device).run({&data, 1}, request.batch_size, take);
  return scores.metrics();
}

std::vector<Predictions> predict_models(const EvalRequest& request,
                                        std::span<const std::filesystem::path> models,
                                        std::span<const std::pair<std::string, std::string>> texts,
                                        Device& device) {
  const std::vector<std::pair<std::string_view, std::string_view>> views(texts.begin(), texts.end());
  return predict(request, models, device, [&](const TrainedModel& model) {
    return data::build_dataset(views, *model.base.tokenizer, limited(request, model));
  });
}

std::vector<Predictions> predict_models(const EvalRequest& request,
                                        std::span<const std::filesystem::path> models, Device& device) {
  return predict(request, models, device, [&](const TrainedModel& model) {
    return data::build_dataset(request.file, *model.base.tokenizer, nullptr, limited(request, model));
  });
}

}  // namespace shoal::engine
