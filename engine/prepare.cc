#include "engine/prepare.h"

#include <algorithm>

#include "data/tokenizer_folder.h"
#include "kernels/base/error.h"
#include "kernels/base/view.h"
#include "models/hf_folder.h"

namespace shoal::engine {
namespace {

std::string key_of(const std::filesystem::path& file, const data::DatasetOptions& options,
                   const BaseModel& base, const data::LabelMap& labels) {
  std::string key = fmt::format("{}|{}|{}|{}|{}|{}|{}", file.string(), options.columns.text.text(),
                                options.columns.text_pair ? options.columns.text_pair->text() : "",
                                options.columns.label.text(), options.table.header,
                                options.table.delimiter.value_or(""), options.max_seq_length);
  key += fmt::format("|{}|{}", options.max_rows.value_or(-1), static_cast<const void*>(base.tokenizer.get()));
  for (const std::string& name : labels.names()) key += fmt::format("|{}", name);
  return key;
}

void check_sizes(const JobSpec& spec, const models::BertConfig& config) {
  require(spec.max_seq_length <= config.max_position_embeddings,
          "{}: max_seq_length {} is more than the model's {} positions", spec.where, spec.max_seq_length,
          config.max_position_embeddings);
  require(!spec.text_pair || config.type_vocab_size >= 2,
          "{}: text_pair needs a model with two token types; type_vocab_size is {}", spec.where,
          config.type_vocab_size);
  const std::int64_t D = config.head_size();
  require(config.hidden_size % 16 == 0 && config.intermediate_size % 16 == 0 &&
              (D == 16 || D == 32 || D == 64 || D == 128),
          "{}: the model's sizes cannot be trained here: hidden_size {} and intermediate_size {} must be "
          "multiples of "
          "16, the head size {} one of 16, 32, 64, 128",
          spec.where, config.hidden_size, config.intermediate_size, D);
}

// Rows that lost tokens and words that are unknown: training goes on, but not in silence.
void note_losses(const data::Dataset& dataset, std::vector<std::string>& notes) {
  const data::DatasetStats& stats = dataset.stats;
  if (stats.pieces > 0 && 2 * stats.unknown > stats.pieces) {
    notes.push_back(
        fmt::format("warning: {:.1f} % of the tokens of {} are [UNK]: is this the model's vocabulary?",
                    100.0 * static_cast<double>(stats.unknown) / static_cast<double>(stats.pieces),
                    dataset.file.string()));
  }
}

}  // namespace

DType resolve_precision(Precision precision, bool bf16) {
  require(precision != Precision::kBf16 || bf16,
          "precision \"bf16\": this CPU has neither AVX512-BF16 nor AMX; allowed: \"fp32\", \"auto\"");
  return bf16 && precision != Precision::kFp32 ? DType::kBF16 : DType::kF32;
}

data::DatasetOptions dataset_options(const JobSpec& spec, std::optional<std::int64_t> max_rows) {
  return {.table = {.delimiter = spec.delimiter, .header = spec.header},
          .columns = {.text = spec.text, .text_pair = spec.text_pair, .label = spec.label},
          .max_seq_length = spec.max_seq_length,
          .max_rows = max_rows};
}

BaseModel read_base_model(const ModelSource& source) {
  BaseModel base;
  if (!source.folder.empty()) {
    base.config = models::read_hf_folder(source.folder).config;
    base.folder = source.folder;
    base.tokenizer = std::make_shared<data::BertTokenizer>(data::load_tokenizer(source.folder));
    require(base.tokenizer->vocabulary().size() <= base.config.vocab_size,
            "{}: the vocabulary has {} tokens, config.json's vocab_size is {}", source.folder.string(),
            base.tokenizer->vocabulary().size(), base.config.vocab_size);
    return base;
  }
  base.config = models::preset_config(source.preset);
  base.tokenizer = std::filesystem::is_directory(source.vocab)
                       ? std::make_shared<data::BertTokenizer>(data::load_tokenizer(source.vocab))
                       : std::make_shared<data::BertTokenizer>(data::Vocabulary::read(source.vocab));
  base.config.vocab_size = base.tokenizer->vocabulary().size();
  base.config.pad_token_id = base.tokenizer->vocabulary().pad();
  return base;
}

Preparer::Preparer(const Device& device)
    : device_(device.description()), bf16_(device.supports(DType::kBF16)) {}

const BaseModel& Preparer::base_model(const ModelSource& source) {
  const std::string key =
      fmt::format("{}|{}|{}", source.folder.string(), source.preset, source.vocab.string());
  const auto found = models_.find(key);
  if (found != models_.end()) return found->second;
  return models_.emplace(key, read_base_model(source)).first->second;
}

std::shared_ptr<const data::Dataset> Preparer::dataset(const std::filesystem::path& file,
                                                       const data::DatasetOptions& options,
                                                       const BaseModel& base, const data::LabelMap& labels) {
  std::shared_ptr<const data::Dataset>& cached = datasets_[key_of(file, options, base, labels)];
  if (cached == nullptr) {
    cached = std::make_shared<data::Dataset>(data::build_dataset(file, *base.tokenizer, &labels, options));
  }
  return cached;
}

std::vector<std::shared_ptr<const data::Dataset>> Preparer::datasets() const {
  std::vector<std::shared_ptr<const data::Dataset>> all;
  for (const auto& [key, dataset] : datasets_)
    if (dataset != nullptr) all.push_back(dataset);
  return all;
}

PreparedJob Preparer::prepare(const JobSpec& spec, std::int64_t index) {
  if (!spec.refused.empty()) throw Error(spec.refused);
  PreparedJob job{.index = index, .spec = &spec};
  job.head = &models::find_head(spec.task);
  job.dtype = resolve_precision(spec.precision, bf16_);
  const BaseModel& base = base_model(spec.model);
  check_sizes(spec, base.config);
  job.config = base.config;
  job.config.hidden_dropout_prob = spec.hidden_dropout_prob.value_or(base.config.hidden_dropout_prob);
  job.config.attention_probs_dropout_prob =
      spec.attention_probs_dropout_prob.value_or(base.config.attention_probs_dropout_prob);
  if (spec.classifier_dropout) job.config.classifier_dropout = spec.classifier_dropout;
  job.folder = base.folder;
  job.tokenizer = base.tokenizer;

  const data::DatasetOptions train_options = dataset_options(spec, spec.max_train_samples);
  job.labels = data::make_label_map(data::read_labels(spec.train_file, train_options), base.config.id2label);
  job.best_metric = best_metric(spec, job.labels.size());
  job.train = dataset(spec.train_file, train_options, base, job.labels);
  note_losses(*job.train, job.notes);
  if (!spec.validation_file.empty()) {
    job.validation =
        dataset(spec.validation_file, dataset_options(spec, spec.max_eval_samples), base, job.labels);
    note_losses(*job.validation, job.notes);
  }
  const std::int64_t batch_tokens = spec.per_device_train_batch_size * spec.max_seq_length;
  job.micro_tokens =
      std::max(spec.micro_tokens.value_or(std::min(batch_tokens, kMicroTokens)), spec.max_seq_length);
  job.plan.emplace(spec, job.train->rows());
  record_facts(job);
  return job;
}

void Preparer::record_facts(PreparedJob& job) {
  job.facts = {{"shoal", SHOAL_VERSION}, {"device", device_}};
  const auto hashed = [&](const std::string& what, const std::filesystem::path& file) {
    // Shards and streams have no one file to name.
    if (std::filesystem::is_regular_file(file))
      job.facts.emplace_back(what + " sha256", digests_.sha256(file));
  };
  hashed("train_file", job.spec->train_file);
  hashed("validation_file", job.spec->validation_file);
  if (!job.folder.empty()) hashed("weights", job.folder / "model.safetensors");
}

void initial_row(const PreparedJob& job, const models::Layout& layout, std::span<float> row,
                 std::vector<std::string>& notes) {
  std::fill(row.begin(), row.end(), 0.0f);
  if (job.folder.empty()) {
    models::initialise_row(layout, job.extents(), job.config, job.spec->seed, row);
    return;
  }
  const models::ImportReport report =
      models::import_weights(job.folder, layout, job.extents(), job.config, job.spec->seed, row);
  notes.insert(notes.end(), report.notes.begin(), report.notes.end());
}

}  // namespace shoal::engine
