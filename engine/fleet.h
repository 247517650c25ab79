// Runs a fleet: all jobs of a FleetSpec through the slots of one device.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/job_spec.h"
#include "engine/observer.h"
#include "kernels/device.h"

namespace shoal::engine {

struct FleetResult {
  std::vector<JobResult> jobs;  // in file order
  bool stopped = false;         // by `stop`
};

// Trains every job; writes the folders, metrics.jsonl and results.csv under output_dir. Whatever can be
// seen before training (files, labels, models, sizes) is found first: all errors of all jobs in one Error,
// one a line (OnError::kRefuse), or those jobs are failed and the rest train (OnError::kSkip). Later
// faults fail their job alone. `stop` set from a signal handler ends the run at the next step.
FleetResult train_fleet(const FleetSpec& fleet, Device& device, Observer& observer,
                        const std::atomic<bool>& stop);

// Evaluates an exported folder on a labelled file.
struct EvalRequest {
  std::filesystem::path model;
  std::filesystem::path file;
  data::DatasetOptions data;
  std::string device = "auto";
  Precision precision = Precision::kAuto;
  std::int64_t batch_size = 32;  // rows of a micro-batch: speed and memory, not results
};
Metrics evaluate_model(const EvalRequest& request, Device& device);

// Class probabilities of texts; one row a text, columns in label order.
struct Predictions {
  std::vector<std::string> labels;
  std::vector<float> logits;         // [texts, labels]
  std::vector<float> probabilities;  // [texts, labels]
  std::int64_t rows = 0;
};
// Texts in memory (second: the text_pair, or empty where the request has none), or a file.
Predictions predict_texts(const EvalRequest& request,
                          std::span<const std::pair<std::string, std::string>> texts, Device& device);
Predictions predict_file(const EvalRequest& request, Device& device);

}  // namespace shoal::engine
