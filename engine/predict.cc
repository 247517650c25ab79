// evaluate_model, predict_texts, predict_file: a Predictor over a file or texts at hand.
#include <algorithm>
#include <cmath>

#include "engine/fleet.h"
#include "engine/job_run.h"
#include "engine/metrics.h"
#include "engine/predictor.h"
#include "kernels/base/error.h"

namespace shoal::engine {
namespace {

Predictor make_predictor(const EvalRequest& request, Device& device) {
  return Predictor(request.model, resolve_precision(request.precision, device.supports(DType::kBF16)),
                   device);
}

// The model's own limit where the request does not cut shorter.
data::DatasetOptions limited(const EvalRequest& request, const Predictor& predictor) {
  data::DatasetOptions options = request.data;
  options.max_seq_length = std::min(options.max_seq_length, predictor.config().max_position_embeddings);
  return options;
}

void append_softmax(const float* logits, std::int64_t n, std::vector<float>& to) {
  const float most = *std::max_element(logits, logits + n);
  double sum = 0;
  for (std::int64_t i = 0; i < n; ++i) sum += std::exp(static_cast<double>(logits[i] - most));
  for (std::int64_t i = 0; i < n; ++i)
    to.push_back(static_cast<float>(std::exp(static_cast<double>(logits[i] - most)) / sum));
}

Predictions predict(Predictor& predictor, const data::Dataset& dataset, std::int64_t batch_size) {
  Predictions predictions{.labels = predictor.labels().names(), .rows = dataset.rows()};
  const std::int64_t n = predictor.labels().size();
  predictor.run(dataset, batch_size, [&](std::int64_t, const float* logits, float) {
    predictions.logits.insert(predictions.logits.end(), logits, logits + n);
    append_softmax(logits, n, predictions.probabilities);
  });
  return predictions;
}

}  // namespace

Metrics evaluate_model(const EvalRequest& request, Device& device) {
  Predictor predictor = make_predictor(request, device);
  const data::Dataset dataset = data::build_dataset(request.file, predictor.tokenizer(), &predictor.labels(),
                                                    limited(request, predictor));
  const std::int64_t n = predictor.labels().size();
  ClassificationCounts counts(n);
  predictor.run(dataset, request.batch_size, [&](std::int64_t row, const float* logits, float loss) {
    counts.add(dataset.label[static_cast<std::size_t>(row)], argmax(logits, n), static_cast<double>(loss));
  });
  return counts.metrics();
}

Predictions predict_texts(const EvalRequest& request,
                          std::span<const std::pair<std::string, std::string>> texts, Device& device) {
  Predictor predictor = make_predictor(request, device);
  std::vector<std::pair<std::string_view, std::string_view>> views(texts.begin(), texts.end());
  const data::Dataset dataset =
      data::build_dataset(views, predictor.tokenizer(), limited(request, predictor));
  return predict(predictor, dataset, request.batch_size);
}

Predictions predict_file(const EvalRequest& request, Device& device) {
  Predictor predictor = make_predictor(request, device);
  const data::Dataset dataset =
      data::build_dataset(request.file, predictor.tokenizer(), nullptr, limited(request, predictor));
  return predict(predictor, dataset, request.batch_size);
}

}  // namespace shoal::engine
