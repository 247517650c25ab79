#include "engine/job_data.h"

#include <algorithm>
#include <limits>

#include "data/folds.h"
#include "data/text_error.h"
#include "data/token_cache.h"
#include "engine/metrics.h"
#include "kernels/base/error.h"

namespace shoal::engine {
namespace {

constexpr std::uint64_t kSplitSeed = 0;

std::string key_of(const std::filesystem::path& file, const data::DatasetOptions& options,
                   const void* tokenizer, const data::LabelMap* labels) {
  std::string key = fmt::format("{}|{}|{}|{}|{}|{}|{}", file.string(), options.columns.text.text(),
                                options.columns.text_pair ? options.columns.text_pair->text() : "",
                                options.columns.label.text(), options.table.header,
                                options.table.delimiter.value_or(""), options.max_seq_length);
  key += fmt::format("|{}|{}|{}", options.table.encoding, options.table.encoding_errors, options.regression);
  key += fmt::format("|{}|{}", options.max_rows.value_or(-1), tokenizer);
  if (labels == nullptr) return key + "|unlabelled";
  for (const std::string& name : labels->names()) key += fmt::format("|{}", name);
  return key;
}

bool is_cut(const JobSpec& spec) {
  return spec.fold.has_value() || spec.validation_split_percentage.has_value();
}

// The first `most` rows whose part is (or is not) the wanted one.
std::vector<std::int32_t> rows_in(const std::vector<std::int32_t>& part_of, std::int32_t part, bool inside,
                                  std::optional<std::int64_t> most) {
  std::vector<std::int32_t> rows;
  const auto room = static_cast<std::size_t>(most.value_or(std::numeric_limits<std::int64_t>::max()));
  for (std::size_t row = 0; row < part_of.size() && rows.size() < room; ++row)
    if ((part_of[row] == part) == inside) rows.push_back(static_cast<std::int32_t>(row));
  return rows;
}

std::string name_of_cut(const JobSpec& spec) {
  if (!spec.fold) return fmt::format("validation_split_percentage = {}", *spec.validation_split_percentage);
  return fmt::format("fold {} (n = {}, seed = {})", spec.fold->fold, spec.fold->n, spec.fold->seed);
}

void refuse_lost_labels(const JobSpec& spec, const data::Dataset& dataset, const data::LabelMap& labels,
                        const std::vector<std::int32_t>& part_of, std::int32_t held_out) {
  const auto n = static_cast<std::size_t>(labels.size());
  std::vector<std::int64_t> in_train(n), in_all(n), line(n);
  for (std::size_t row = 0; row < part_of.size(); ++row) {
    const auto label = static_cast<std::size_t>(dataset.label[row]);
    if (in_all[label]++ == 0) line[label] = dataset.line[row];
    in_train[label] += part_of[row] != held_out;
  }
  for (std::size_t label = 0; label < n; ++label) {
    if (in_train[label] > 0 || in_all[label] == 0) continue;
    data::fail_at(
        dataset.file, line[label], 0,
        fmt::format("job {}: label {} has no row in the train part of {}: all {} are held out", spec.name,
                    data::in_quotes(labels.name(static_cast<int>(label))), name_of_cut(spec), in_all[label]));
  }
}

bool has_label_column(const JobSpec& spec) {
  const data::TableOptions table = dataset_options(spec, {}).table;
  const std::vector<std::string> columns = data::table_columns(spec.test_file, table);
  if (spec.label.number > 0) return spec.label.number <= static_cast<int>(columns.size());
  return std::ranges::find(columns, spec.label.name) != columns.end();
}

}  // namespace

data::DatasetOptions dataset_options(const JobSpec& spec, std::optional<std::int64_t> max_rows) {
  return {.table = {.delimiter = spec.delimiter,
                    .header = spec.header,
                    .encoding = spec.encoding,
                    .encoding_errors = spec.encoding_errors},
          .columns = {.text = spec.text, .text_pair = spec.text_pair, .label = spec.label},
          .max_seq_length = spec.max_seq_length,
          .max_rows = max_rows,
          .regression = is_regression(spec)};
}

DataSets::Shared DataSets::read(const std::filesystem::path& file, const data::DatasetOptions& options,
                                const std::shared_ptr<const data::BertTokenizer>& tokenizer,
                                const data::LabelMap* labels) {
  Shared& known = datasets_[key_of(file, options, tokenizer.get(), labels)];
  if (known == nullptr) {
    data::CachedDataset cached = data::build_dataset_cached(cache_dir_, file, *tokenizer, labels, options);
    if (!cached.note.empty()) notes_.push_back(std::move(cached.note));
    known = std::make_shared<data::Dataset>(std::move(cached.dataset));
  }
  return known;
}

DataSets::Parts DataSets::parts_of(const JobSpec& spec, const data::Dataset& dataset) {
  const std::int64_t percent = spec.validation_split_percentage.value_or(0);
  const Fold fold = spec.fold.value_or(Fold{.n = 1});
  const std::int64_t repeat = fold.fold / fold.n;
  Parts& known = parts_[fmt::format("{}|{}|{}|{}|{}|{}", static_cast<const void*>(&dataset), percent, fold.n,
                                    repeat, fold.seed, fold.group ? fold.group->text() : "")];
  if (known != nullptr) return known;
  std::vector<std::int32_t> part_of;
  if (spec.fold) {
    std::vector<std::string> groups;
    if (fold.group) groups = data::read_column(dataset.file, *fold.group, dataset_options(spec, {}).table);
    part_of = data::assign_folds(dataset, groups, fold.n, repeat, fold.seed);
  } else {
    part_of = data::assign_split(dataset, percent, kSplitSeed);
  }
  known = std::make_shared<std::vector<std::int32_t>>(std::move(part_of));
  return known;
}

JobRows DataSets::rows_of(const JobSpec& spec, const std::shared_ptr<const data::BertTokenizer>& tokenizer,
                          const data::LabelMap& labels) {
  JobRows rows;
  if (is_cut(spec)) {
    const Shared whole = read(spec.train_file, dataset_options(spec, {}), tokenizer, &labels);
    const Parts parts = parts_of(spec, *whole);
    const auto held_out = static_cast<std::int32_t>(spec.fold ? spec.fold->fold % spec.fold->n : 1);
    if (!is_regression(spec)) refuse_lost_labels(spec, *whole, labels, *parts, held_out);
    rows.train = data::Subset(whole, rows_in(*parts, held_out, false, spec.max_train_samples));
    rows.validation = data::Subset(whole, rows_in(*parts, held_out, true, spec.max_eval_samples));
  } else {
    rows.train = data::Subset(
        read(spec.train_file, dataset_options(spec, spec.max_train_samples), tokenizer, &labels));
  }
  if (!is_cut(spec) && !spec.validation_file.empty()) {
    rows.validation = data::Subset(
        read(spec.validation_file, dataset_options(spec, spec.max_eval_samples), tokenizer, &labels));
  }
  if (!spec.test_file.empty()) {
    data::DatasetOptions options = dataset_options(spec, {});
    const bool labelled = has_label_column(spec);
    options.regression = options.regression && labelled;
    rows.test = data::Subset(read(spec.test_file, options, tokenizer, labelled ? &labels : nullptr));
  }
  return rows;
}

std::vector<std::shared_ptr<const data::Dataset>> DataSets::all() const {
  std::vector<Shared> all;
  for (const auto& [key, dataset] : datasets_)
    if (dataset != nullptr) all.push_back(dataset);
  return all;
}

}  // namespace shoal::engine
