#include "engine/predictor.h"

#include <algorithm>
#include <numeric>

#include "data/pack.h"
#include "kernels/base/error.h"

namespace shoal::engine {
namespace {

data::LabelMap labels_of(const BaseModel& base) {
  require(!base.config.id2label.empty(), "{}: config.json names no labels (id2label): not a classifier",
          base.folder.string());
  return data::LabelMap::from_checkpoint(base.config.id2label);
}

}  // namespace

Predictor::Predictor(const std::filesystem::path& folder, DType dtype, Device& device)
    : device_(device),
      stream_(device.make_stream()),
      dtype_(dtype),
      base_(read_base_model({.folder = folder})),
      labels_(labels_of(base_)),
      head_(models::find_head("text-classification")),
      layout_(models::layout_of(base_.config, head_, {labels_.size(), base_.config.vocab_size})) {
  const models::Extents own{labels_.size(), base_.config.vocab_size};
  std::vector<float> row(static_cast<std::size_t>(layout_.row_elements()));
  const models::ImportReport report = models::import_weights(folder, layout_, own, base_.config, 0, row);
  // A head that is made up on the spot would answer, and mean nothing.
  require(!report.initialised, "{}: not a trained classifier: {}", folder.string(),
          report.notes.empty() ? "its head is missing" : report.notes.front());
  memory_ = std::make_unique<SlotMemory>(device, layout_, dtype, 1, false, stream_);
  memory_->fill(0, row);
  tables_ = std::make_unique<ParamTables>(device, layout_, 1, stream_);
}

Predictor::~Predictor() {
  tables_.reset();
  memory_.reset();
  device_.release(stream_);
}

void Predictor::run(const data::Dataset& dataset, std::int64_t batch_size, const Take& take) {
  const std::int64_t micro_tokens = std::max(kMicroTokens, dataset.stats.longest);
  const std::int64_t sequences = std::min(batch_size, dataset.rows());
  const LaneShape shape{.W = 1,
                        .rows = micro_rows(dataset, batch_size, micro_tokens),
                        .first_rows = ceil128(sequences),
                        .B = static_cast<int>(sequences),
                        .ld = labels_.size()};
  Lane lane(device_, layout_, head_, dtype_, *memory_, *tables_, shape, false, stream_);

  std::vector<std::int32_t> rows(static_cast<std::size_t>(dataset.rows()));
  std::iota(rows.begin(), rows.end(), 0);
  LaneEntry entry{.dataset = &dataset, .n_labels = labels_.size()};
  std::size_t begin = 0;
  for (const std::size_t end : data::cut_window(dataset, rows, batch_size, micro_tokens)) {
    entry.rows = {rows.data() + begin, end - begin};
    const LaneResult result = lane.run(StepKind::kEvaluate, {&entry, 1}).front();
    for (std::size_t i = 0; i < entry.rows.size(); ++i)
      take(entry.rows[i], result.logits + i * static_cast<std::size_t>(shape.ld), result.row_loss[i]);
    begin = end;
  }
}

}  // namespace shoal::engine
