// Progress for programs: one JSON object a line, `event` says which. Numbers that are not finite are null.
//
//   plan        jobs, slots, device, groups [{model, jobs, slots, bytes}], data_sets, rows, tokens,
//   truncated, unknown note        job (absent: of the fleet), text start       job, slot progress    job,
//   update, updates, epoch, loss, grad_norm, learning_rate, tokens, seconds; at most one a second and job
//   evaluation  job, epoch, update, metrics {name: value}
//   end         job, status, reason, best, best_epoch, last, updates, tokens, seconds, folder
#pragma once

#include <vector>

#include "cli/plain_view.h"

namespace shoal::cli {

class JsonView : public engine::Observer {
 public:
  JsonView(const engine::FleetSpec& fleet, LineSink sink, Clock clock);

  void on_plan(const engine::FleetPlan& plan) override;
  void on_note(std::int64_t job, const std::string& line) override;
  void on_job_start(std::int64_t job, std::int64_t slot) override;
  void on_progress(const engine::JobProgress& progress) override;
  void on_evaluation(std::int64_t job, double epoch, std::int64_t update,
                     const engine::Metrics& metrics) override;
  void on_job_end(const engine::JobResult& result) override;

 private:
  const std::string& name(std::int64_t job) const {
    return fleet_.jobs.at(static_cast<std::size_t>(job)).name;
  }

  const engine::FleetSpec& fleet_;
  LineSink sink_;
  Clock clock_;
  std::vector<double> last_;  // time of each job's last progress line
};

}  // namespace shoal::cli
