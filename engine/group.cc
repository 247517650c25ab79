#include "engine/group.h"

#include <algorithm>
#include <functional>
#include <numeric>

#include "kernels/base/error.h"

namespace shoal::engine {
namespace {

constexpr std::int64_t kMaxLaneEntries = 64;
constexpr std::int64_t kLaneRows = 16384;  // budget of a lane, unless one micro-batch alone needs more

bool share_launches(const PreparedJob& a, const PreparedJob& b) {
  return models::shape_of(a.config) == models::shape_of(b.config) && a.dtype == b.dtype && a.head == b.head;
}

models::Extents largest(std::span<const PreparedJob* const> jobs) {
  models::Extents most;
  for (const PreparedJob* job : jobs) {
    most.labels = std::max(most.labels, job->extents().labels);
    most.vocab = std::max(most.vocab, job->extents().vocab);
  }
  return most;
}

models::Layout layout_of(std::span<const PreparedJob* const> jobs) {
  return models::layout_of(jobs.front()->config, *jobs.front()->head, largest(jobs));
}

// What the largest micro-batch of a job needs, in training or evaluation.
struct Largest {
  std::int64_t rows = 0;  // token rows
  std::int64_t sequences = 1;

  void take(const data::Subset& of, std::int64_t batch, std::int64_t micro_tokens) {
    if (!of) return;
    rows = std::max(rows, micro_rows(of.dataset(), batch, micro_tokens));
    sequences = std::max(sequences, std::min(batch, of.rows()));
  }
};

Largest largest_batch(const PreparedJob& job) {
  Largest most;
  most.take(job.rows.train, job.spec->per_device_train_batch_size, job.micro_tokens);
  most.take(job.rows.validation, kEvalRows, job.micro_tokens);
  most.take(job.rows.test, kEvalRows, job.micro_tokens);
  return most;
}

LaneShape lane_shape(std::span<const PreparedJob* const> jobs, std::int64_t slots) {
  LaneShape shape;
  shape.W = static_cast<int>(std::min(slots, kMaxLaneEntries));
  std::vector<std::int64_t> rows;
  std::int64_t sequences = 1;
  for (const PreparedJob* job : jobs) {
    const Largest most = largest_batch(*job);
    rows.push_back(most.rows);
    sequences = std::max(sequences, most.sequences);
  }
  std::sort(rows.begin(), rows.end(), std::greater<>());
  rows.resize(std::min(rows.size(), static_cast<std::size_t>(shape.W)));
  const std::int64_t wanted = std::accumulate(rows.begin(), rows.end(), std::int64_t{0});
  shape.rows = std::min(wanted, std::max(kLaneRows, rows.front()));
  shape.B = static_cast<int>(sequences);
  shape.first_rows = shape.W * ceil128(sequences);
  shape.ld = static_cast<int>(largest(jobs).labels);
  return shape;
}

std::size_t bytes_per_slot(std::span<const PreparedJob* const> jobs) {
  return SlotMemory::bytes_per_slot(layout_of(jobs), jobs.front()->dtype, true);
}

}  // namespace

std::vector<std::vector<const PreparedJob*>> group_jobs(std::span<const PreparedJob> jobs) {
  std::vector<std::vector<const PreparedJob*>> groups;
  for (const PreparedJob& job : jobs) {
    const auto home = std::find_if(groups.begin(), groups.end(), [&](const auto& members) {
      return share_launches(*members.front(), job);
    });
    if (home == groups.end()) {
      groups.push_back({&job});
    } else {
      home->push_back(&job);
    }
  }
  return groups;
}

// No more than half of the free memory goes to rows: the other half is for activations, data and the system.
std::int64_t resolve_slots(const Device& device, std::span<const PreparedJob* const> jobs,
                           std::int64_t asked) {
  const auto n = static_cast<std::int64_t>(jobs.size());
  if (asked > 0) return std::min(asked, n);
  const auto fit = static_cast<std::int64_t>(device.memory_available() / 2 / bytes_per_slot(jobs));
  return std::clamp(fit, std::int64_t{1}, n);
}

std::size_t rows_bytes(std::span<const PreparedJob* const> jobs, std::int64_t slots) {
  return static_cast<std::size_t>(slots) * bytes_per_slot(jobs);
}

std::string describe(std::span<const PreparedJob* const> jobs) {
  const PreparedJob& first = *jobs.front();
  const bool random =
      std::all_of(jobs.begin(), jobs.end(), [](const PreparedJob* j) { return j->folder.empty(); });
  const std::int64_t vocab = largest(jobs).vocab;
  const std::string words =
      vocab < 1000 ? fmt::to_string(vocab) : fmt::format("{},{:03}", vocab / 1000, vocab % 1000);
  return fmt::format("BERT {} layers x {}, vocabulary {}, {}{}", first.config.num_hidden_layers,
                     first.config.hidden_size, words, random ? "random weights, " : "", name_of(first.dtype));
}

Group::Group(Device& device, std::vector<const PreparedJob*> jobs, std::int64_t slots)
    : device_(device), stream_(device.make_stream()), jobs_(std::move(jobs)), layout_(layout_of(jobs_)) {
  const DType dtype = jobs_.front()->dtype;
  const std::int64_t R = resolve_slots(device, jobs_, slots);
  memory_ = std::make_unique<SlotMemory>(device, layout_, dtype, R, true, stream_);
  tables_ = std::make_unique<ParamTables>(device, layout_, R, stream_);
  lane_ = std::make_unique<Lane>(device, layout_, *jobs_.front()->head, dtype, *memory_, *tables_,
                                 lane_shape(jobs_, R), true, stream_);
}

Group::~Group() {
  lane_.reset();
  tables_.reset();
  memory_.reset();
  device_.release(stream_);
}

void Group::fill_slot(std::int64_t slot, const PreparedJob& job, std::vector<std::string>& notes) {
  std::vector<float> row(static_cast<std::size_t>(layout_.row_elements()));
  initial_row(job, layout_, row, notes);
  memory_->fill(slot, row);
  tables_->set_extents(slot, job.extents());
}

}  // namespace shoal::engine
