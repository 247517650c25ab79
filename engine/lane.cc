#include "engine/lane.h"

#include <algorithm>

#include "data/pack.h"
#include "kernels/base/error.h"
#include "kernels/base/philox.h"

namespace shoal::engine {
namespace {

std::int64_t tokens_of(const LaneEntry& entry) {
  return entry.dataset->length(entry.rows);
}

std::int64_t rows_of(const LaneEntry& entry) {
  return static_cast<std::int64_t>(entry.rows.size());
}

}  // namespace

std::int64_t micro_rows(const data::Dataset& dataset, std::int64_t max_rows, std::int64_t micro_tokens) {
  const std::int64_t most = std::min(max_rows, dataset.rows()) * dataset.stats.longest;
  return ceil128(std::min(most, std::max(micro_tokens, dataset.stats.longest)));
}

Lane::Lane(Device& device, const models::Layout& layout, const models::Head& head, DType dtype,
           SlotMemory& slots, const ParamTables& params, const LaneShape& shape, bool training, Stream stream)
    : device_(device),
      layout_(layout),
      bert_(layout, head, dtype),
      dtype_(dtype),
      slots_(slots),
      params_(params),
      stream_(stream),
      block_(device, shape) {
  const std::size_t bytes = dry_run(training);
  arena_block_ = DeviceBlock(device, Memory::kDevice, bytes);
  arena_ = std::make_unique<models::Arena>(arena_block_.data(), bytes);
  if (training) {
    const auto partials = static_cast<std::size_t>(shape.W) * static_cast<std::size_t>(params.table().chunks);
    partial_ = DeviceBlock(device, Memory::kDevice, partials * sizeof(float));
  }
}

// The real step over null memory: what it takes from the arena is what a step needs.
std::size_t Lane::dry_run(bool training) const {
  const std::unique_ptr<Device> null = make_device("null");
  const Stream stream = null->make_stream();
  constexpr std::size_t kEnough = std::size_t{1} << 46;
  models::Arena arena(null->allocate(Memory::kDevice, kEnough), kEnough);
  const models::LaneStep lane = block_.lane();
  bert_.evaluate(null->ops(), lane, slots_.rows(), arena, stream);
  if (training) bert_.train(null->ops(), lane, slots_.rows(), arena, stream);
  null->release(stream);
  return arena.high_water();
}

std::size_t Lane::fitting(std::span<const LaneEntry> entries) const {
  const LaneShape& shape = block_.shape();
  std::int64_t rows = 0, first_rows = 0;
  std::size_t n = 0;
  for (; n < entries.size() && static_cast<int>(n) < shape.W; ++n) {
    rows += ceil128(tokens_of(entries[n]));
    first_rows += ceil128(rows_of(entries[n]));
    if (rows > shape.rows || first_rows > shape.first_rows || rows_of(entries[n]) > shape.B) break;
  }
  SHOAL_CHECK(n > 0 || entries.empty());
  return n;
}

std::vector<LaneResult> Lane::run(StepKind kind, std::span<const LaneEntry> entries) {
  fill(kind, entries);
  const bool update =
      std::any_of(entries.begin(), entries.end(), [](const LaneEntry& e) { return e.update; });
  block_.upload(device_, stream_);
  enqueue(kind, update);
  block_.download(device_, stream_);
  device_.synchronize(stream_);

  const ResultArrays& from = block_.results();
  std::vector<LaneResult> results;
  for (std::size_t w = 0; w < entries.size(); ++w) {
    const std::int32_t first = block_.host().first_row0[w];
    results.push_back({.loss = from.loss[w],
                       .norm = entries[w].update ? from.norm[w] : 0,
                       .nonfinite = entries[w].update && from.nonfinite[w] != 0,
                       .row_loss = {from.row_loss + first, entries[w].rows.size()},
                       .logits = from.logits + std::int64_t{first} * block_.shape().ld});
  }
  return results;
}

void Lane::fill(StepKind kind, std::span<const LaneEntry> entries) {
  const StepArrays& host = block_.host();
  const LaneShape& shape = block_.shape();
  SHOAL_CHECK(static_cast<int>(entries.size()) <= shape.W);
  std::fill_n(host.item_count, Seqs::kLists, 0);
  host.row0[0] = host.first_row0[0] = 0;
  for (int w = 0; w < shape.W; ++w) {
    if (w < static_cast<int>(entries.size())) {
      fill_entry(kind, w, entries[static_cast<std::size_t>(w)]);
    } else {
      host.slot[w] = host.live[w] = host.first_live[w] = host.count[w] = host.chunk_count[w] =
          host.update[w] = 0;
      host.mode[w] = GradMode::kSkip;
      host.n_labels[w] = 0;
      std::fill_n(host.cu + std::int64_t{w} * (shape.B + 1), shape.B + 1, 0);
    }
    host.row0[w + 1] = host.row0[w] + static_cast<std::int32_t>(ceil128(host.live[w]));
    host.first_row0[w + 1] = host.first_row0[w] + static_cast<std::int32_t>(ceil128(host.first_live[w]));
  }
}

void Lane::fill_entry(StepKind kind, int w, const LaneEntry& entry) {
  const StepArrays& host = block_.host();
  const LaneShape& shape = block_.shape();
  const auto rows = static_cast<std::size_t>(ceil128(tokens_of(entry)));
  const auto first_rows = static_cast<std::size_t>(ceil128(rows_of(entry)));
  const std::int32_t row0 = host.row0[w], first0 = host.first_row0[w];
  const std::span<std::int32_t> cu(host.cu + std::int64_t{w} * (shape.B + 1),
                                   static_cast<std::size_t>(shape.B) + 1);
  SHOAL_CHECK(row0 + static_cast<std::int64_t>(rows) <= shape.rows);
  SHOAL_CHECK(first0 + static_cast<std::int64_t>(first_rows) <= shape.first_rows);

  const data::PackedCounts packed = data::pack(*entry.dataset, entry.rows,
                                               {.ids = {host.ids + row0, rows},
                                                .types = {host.types + row0, rows},
                                                .positions = {host.positions + row0, rows},
                                                .cu = cu,
                                                .labels = {host.labels + first0, first_rows},
                                                .targets = {host.targets + first0, first_rows},
                                                .first = {host.first + first0, first_rows}});
  std::span<SeqItem> lists[Seqs::kLists];
  for (int i = 0; i < Seqs::kLists; ++i)
    lists[i] = {host.items[i], static_cast<std::size_t>(shape.W) * static_cast<std::size_t>(shape.B)};
  data::append_seq_items(w, cu, packed.sequences, lists, host.item_count);

  const bool train = kind == StepKind::kTrain;
  const auto tokens = static_cast<std::size_t>(packed.tokens);
  host.chunk_count[w] = !train ? 0
                               : data::sort_by_id({host.ids + row0, tokens}, packed.tokens,
                                                  {host.order + row0, tokens}, {host.chunks + row0, tokens});
  host.slot[w] = static_cast<std::int32_t>(entry.slot);
  host.live[w] = packed.tokens;
  host.count[w] = host.first_live[w] = packed.sequences;
  host.n_labels[w] = entry.n_labels;
  host.inv_items[w] = entry.inv_items;
  host.smoothing[w] = entry.smoothing;
  host.seed[w] = entry.seed;
  host.update_index[w] = entry.update_index;
  host.micro[w] = entry.micro;
  host.hidden_threshold[w] = dropout_threshold(train ? entry.hidden_dropout : 0);
  host.attention_threshold[w] = dropout_threshold(train ? entry.attention_dropout : 0);
  host.classifier_threshold[w] = dropout_threshold(train ? entry.classifier_dropout : 0);
  host.mode[w] = !train ? GradMode::kSkip : entry.micro == 0 ? GradMode::kSet : GradMode::kAdd;
  host.update[w] = train && entry.update ? 1 : 0;
  host.max_norm[w] = entry.max_norm;
  host.scalars[w] = entry.scalars;
}

void Lane::enqueue(StepKind kind, bool update) {
  const OpTable& ops = device_.ops();
  const models::LaneStep lane = block_.lane();
  const models::SlotRows& rows = slots_.rows();
  if (kind == StepKind::kEvaluate) {
    bert_.evaluate(ops, lane, rows, *arena_, stream_);
    return;
  }
  bert_.train(ops, lane, rows, *arena_, stream_);
  if (!update) return;
  const StepArrays& step = block_.on_device();
  const ResultArrays& results = block_.results_on_device();
  const int W = block_.shape().W;
  ops.gradient_norm({.norm = results.norm,
                     .coef = results.coef,
                     .nonfinite = results.nonfinite,
                     .partial = partial_.as<float>(),
                     .grad = rows.grad,
                     .loss = results.loss,
                     .stride = rows.train_stride,
                     .touched = rows.touched,
                     .table = params_.table(),
                     .W = W,
                     .slot = step.slot,
                     .update = step.update,
                     .max_norm = step.max_norm},
                    stream_);
  ops.adamw({.p = rows.p,
             .p16 = rows.p16,
             .m = rows.m,
             .v = rows.v,
             .grad = rows.grad,
             .row_stride = rows.row_stride,
             .train_stride = rows.train_stride,
             .touched = rows.touched,
             .table = params_.table(),
             .W = W,
             .slot = step.slot,
             .update = step.update,
             .coef = results.coef,
             .nonfinite = results.nonfinite,
             .scalars = step.scalars},
            stream_);
}

}  // namespace shoal::engine
