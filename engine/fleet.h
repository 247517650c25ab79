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

// Trains every job; writes the folders, fleet.jsonl and results.csv under output_dir. Whatever can be
// seen before training (files, labels, models, sizes) is found first: all errors of all jobs in one Error,
// one a line (OnError::kRefuse), or those jobs are failed and the rest train (OnError::kSkip). Later
// faults fail their job alone. FleetSpec::resume goes on with an earlier run (engine/second_run.h). `stop`
// set from a signal handler ends the run at the next step.
FleetResult train_fleet(const FleetSpec& fleet, Device& device, Observer& observer,
                        const std::atomic<bool>& stop);

// What train_fleet would find before it trains; nothing is written. Error as train_fleet's.
struct FleetCheck {
  FleetPlan plan;
  std::vector<std::pair<std::int64_t, std::string>> notes;  // of a job, by its index
  std::vector<JobResult> failed;                            // under OnError::kSkip
};
FleetCheck check_fleet(const FleetSpec& fleet, Device& device);

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

// Class probabilities of texts; one row a text, columns in label order. A regression has one label, its
// logits are the numbers predicted, and there are no probabilities.
struct Predictions {
  std::vector<std::string> labels;
  std::vector<float> logits;         // [texts, labels]
  std::vector<float> probabilities;  // [texts, labels]; empty: a regression
  std::int64_t rows = 0;

  bool is_regression() const { return probabilities.empty() && rows > 0; }
};
// What exported folders say (EvalRequest::model is ignored) of texts in memory (second: the text_pair, or
// empty where the request has none), or of a file: one answer a folder, in their order. Folders of one
// architecture and precision are slots of one lockstep, group goes after group; each answers what it would
// answer alone, bit for bit.
std::vector<Predictions> predict_models(const EvalRequest& request,
                                        std::span<const std::filesystem::path> models,
                                        std::span<const std::pair<std::string, std::string>> texts,
                                        Device& device);
std::vector<Predictions> predict_models(const EvalRequest& request,
                                        std::span<const std::filesystem::path> models, Device& device);

}  // namespace shoal::engine
