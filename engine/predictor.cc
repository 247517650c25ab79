#include "engine/predictor.h"

#include <algorithm>
#include <numeric>

#include "data/pack.h"
#include "kernels/base/error.h"

namespace shoal::engine {
namespace {

constexpr std::int64_t kMaxEntries = 64;
constexpr std::int64_t kLaneRows = 16384;  // of tokens, unless one micro-batch alone needs more

models::Extents largest(std::span<const TrainedModel* const> models) {
  models::Extents most;
  for (const TrainedModel* model : models) {
    most.labels = std::max(most.labels, model->extents().labels);
    most.vocab = std::max(most.vocab, model->extents().vocab);
  }
  return most;
}

// Where one model stands in its data set.
struct Reader {
  const data::Dataset* dataset = nullptr;
  std::vector<std::int32_t> rows;
  std::vector<std::size_t> cuts;  // ends of the micro-batches
  std::size_t next = 0;

  Reader(const data::Dataset& of, std::int64_t batch_size) : dataset(&of) {
    rows.resize(static_cast<std::size_t>(of.rows()));
    std::iota(rows.begin(), rows.end(), 0);
    cuts = data::cut_window(of, rows, batch_size, micro_tokens(of));
  }
  static std::int64_t micro_tokens(const data::Dataset& of) {
    return std::max(kMicroTokens, of.stats.longest);
  }

  std::span<const std::int32_t> batch() const { return data::micro_batch(rows, cuts, next); }
};

LaneShape lane_shape(std::span<const data::Dataset* const> datasets, std::int64_t batch_size, int ld) {
  LaneShape shape{.W = static_cast<int>(std::min<std::int64_t>(std::ssize(datasets), kMaxEntries)), .ld = ld};
  std::int64_t sequences = 1, most = 0;
  for (const data::Dataset* dataset : datasets) {
    const std::int64_t rows = micro_rows(*dataset, batch_size, Reader::micro_tokens(*dataset));
    shape.rows += rows;
    most = std::max(most, rows);
    sequences = std::max(sequences, std::min(batch_size, dataset->rows()));
  }
  shape.rows = std::min(shape.rows, std::max(kLaneRows, most));
  shape.B = static_cast<int>(sequences);
  shape.first_rows = shape.W * ceil128(sequences);
  return shape;
}

}  // namespace

TrainedModel read_trained_model(const std::filesystem::path& folder) {
  TrainedModel model{.base = read_base_model({.folder = folder})};
  const models::BertConfig& config = model.base.config;
  require(!config.id2label.empty(), "{}: config.json names no labels (id2label): not a classifier",
          folder.string());
  model.labels = data::LabelMap::from_checkpoint(config.id2label);
  const std::string_view unnamed = model.labels.size() == 1 ? models::kRegression : models::kClassification;
  model.head = &models::find_head(
      "text-classification", config.problem_type.empty() ? unnamed : std::string_view(config.problem_type));
  return model;
}

bool share_launches(const TrainedModel& a, const TrainedModel& b) {
  return models::shape_of(a.base.config) == models::shape_of(b.base.config) && a.head == b.head;
}

Predictor::Predictor(std::vector<const TrainedModel*> models, DType dtype, Device& device)
    : device_(device),
      stream_(device.make_stream()),
      dtype_(dtype),
      models_(std::move(models)),
      largest_(largest(models_)),
      layout_(models::layout_of(models_.front()->base.config, *models_.front()->head, largest_)) {
  memory_ = std::make_unique<SlotMemory>(device, layout_, dtype, std::ssize(models_), false, stream_);
  tables_ = std::make_unique<ParamTables>(device, layout_, std::ssize(models_), stream_);
  std::vector<float> row(static_cast<std::size_t>(layout_.row_elements()));
  for (std::size_t slot = 0; slot < models_.size(); ++slot) {
    const TrainedModel& model = *models_[slot];
    const std::filesystem::path& folder = model.base.folder;
    std::fill(row.begin(), row.end(), 0.0f);
    const models::ImportReport report =
        models::import_weights(folder, layout_, model.extents(), model.base.config, 0, row);
    // A head that is made up on the spot would answer, and mean nothing.
    require(!report.initialised, "{}: not a trained classifier: {}", folder.string(),
            report.notes.empty() ? "its head is missing" : report.notes.front());
    memory_->fill(static_cast<std::int64_t>(slot), row);
    tables_->set_extents(static_cast<std::int64_t>(slot), model.extents());
  }
}

Predictor::~Predictor() {
  tables_.reset();
  memory_.reset();
  device_.release(stream_);
}

void Predictor::run(std::span<const data::Dataset* const> datasets, std::int64_t batch_size,
                    const Take& take) {
  SHOAL_CHECK(datasets.size() == models_.size());
  const LaneShape shape = lane_shape(datasets, batch_size, largest_.labels);
  Lane lane(device_, layout_, *models_.front()->head, dtype_, *memory_, *tables_, shape, false, stream_);
  std::vector<Reader> readers;
  for (const data::Dataset* dataset : datasets) readers.emplace_back(*dataset, batch_size);
  while (true) {
    std::vector<LaneEntry> entries;
    std::vector<std::size_t> model_of;
    for (std::size_t model = 0; model < readers.size(); ++model) {
      const Reader& reader = readers[model];
      if (reader.next == reader.cuts.size()) continue;
      model_of.push_back(model);
      entries.push_back({.slot = static_cast<std::int64_t>(model),
                         .dataset = reader.dataset,
                         .rows = reader.batch(),
                         .n_labels = models_[model]->labels.size()});
    }
    if (entries.empty()) return;
    entries.resize(lane.fitting(entries));
    const std::vector<LaneResult> results = lane.run(StepKind::kEvaluate, entries);
    for (std::size_t e = 0; e < results.size(); ++e) {
      for (std::size_t i = 0; i < entries[e].rows.size(); ++i) {
        take(model_of[e], entries[e].rows[i], results[e].logits + i * static_cast<std::size_t>(shape.ld),
             results[e].row_loss[i]);
      }
      ++readers[model_of[e]].next;
    }
  }
}

}  // namespace shoal::engine
