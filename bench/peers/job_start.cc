// job_start FLEET OUT: where the jobs of a fleet file begin, for trainers other than shoal to begin there
// too.
//
// Writes for each job OUT/NAME/, the Hugging Face folder with the weights that training starts from (a new
// head as the job's seed draws it), and OUT/NAME/order.txt, a line an epoch: the rows of train_file in the
// order in which the job sees them.
#include <fmt/core.h>

#include <fstream>
#include <vector>

#include "data/order.h"
#include "engine/config/fleet_file.h"
#include "engine/job_export.h"
#include "engine/prepare.h"
#include "kernels/base/error.h"
#include "kernels/device.h"

namespace {

void write_start(const shoal::engine::PreparedJob& job, const std::filesystem::path& folder) {
  const shoal::models::Layout layout = shoal::models::layout_of(job.config, *job.head, job.extents());
  std::vector<float> row(static_cast<std::size_t>(layout.row_elements()));
  std::vector<std::string> notes;
  shoal::engine::initial_row(job, layout, row, notes);
  std::filesystem::create_directories(folder);
  shoal::engine::export_job(folder, job, layout, row);
  std::ofstream order(folder / "order.txt");
  const std::uint64_t seed = job.spec->data_seed.value_or(job.spec->seed);
  for (std::int64_t epoch = 0; epoch < job.plan->epochs(); ++epoch) {
    const char* separator = "";
    for (const std::int32_t index : shoal::data::epoch_order(job.rows.train.rows(), seed, epoch)) {
      order << separator << index;
      separator = " ";
    }
    order << '\n';
  }
  shoal::require(order.good(), "{}: cannot be written", folder.string());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    fmt::print(stderr, "usage: job_start FLEET OUT\n");
    return 2;
  }
  try {
    const shoal::engine::FleetSpec fleet = shoal::engine::read_fleet_file(argv[1]);
    const auto device = shoal::make_device("cpu", {});
    shoal::engine::Preparer preparer(*device);
    for (std::size_t i = 0; i < fleet.jobs.size(); ++i) {
      write_start(preparer.prepare(fleet.jobs[i], static_cast<std::int64_t>(i)),
                  std::filesystem::path(argv[2]) / fleet.jobs[i].name);
    }
  } catch (const shoal::Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}
