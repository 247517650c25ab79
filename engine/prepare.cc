#include "engine/prepare.h"

#include <algorithm>
#include <set>

#include "data/tokenizer_folder.h"
#include "kernels/base/error.h"
#include "kernels/base/view.h"
#include "models/hf_folder.h"

namespace shoal::engine {
namespace {

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

// A regression has one output, called as Hugging Face calls a class that has no name.
data::LabelMap labels_of(const JobSpec& spec, const BaseModel& base) {
  if (is_regression(spec)) return data::LabelMap({"LABEL_0"});
  const data::LabelSet met =
      data::read_labels(spec.train_file, dataset_options(spec, spec.max_train_samples));
  return data::make_label_map(met, base.config.id2label);
}

}  // namespace

DType resolve_precision(Precision precision, bool bf16) {
  require(precision != Precision::kBf16 || bf16,
          "precision \"bf16\": this CPU has neither AVX512-BF16 nor AMX; allowed: \"fp32\", \"auto\"");
  return bf16 && precision != Precision::kFp32 ? DType::kBF16 : DType::kF32;
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

Preparer::Preparer(const Device& device, const std::filesystem::path& cache_dir)
    : device_(device.description()), bf16_(device.supports(DType::kBF16)), datasets_(cache_dir) {}

const BaseModel& Preparer::base_model(const ModelSource& source) {
  const std::string key =
      fmt::format("{}|{}|{}", source.folder.string(), source.preset, source.vocab.string());
  const auto found = models_.find(key);
  if (found != models_.end()) return found->second;
  return models_.emplace(key, read_base_model(source)).first->second;
}

PreparedJob Preparer::prepare(const JobSpec& spec, std::int64_t index) {
  if (!spec.refused.empty()) throw Error(spec.refused);
  PreparedJob job{.index = index, .spec = &spec};
  job.head =
      &models::find_head(spec.task, is_regression(spec) ? models::kRegression : models::kClassification);
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

  job.labels = labels_of(spec, base);
  job.best_metric = best_metric(spec, job.labels.size());
  job.rows = datasets_.rows_of(spec, base.tokenizer, job.labels);
  for (std::string& note : datasets_.take_notes()) job.notes.push_back(std::move(note));
  std::set<const data::Dataset*> noted;
  for (const data::Subset* rows : {&job.rows.train, &job.rows.validation, &job.rows.test})
    if (*rows && noted.insert(&rows->dataset()).second) note_losses(rows->dataset(), job.notes);
  const std::int64_t batch_tokens = spec.per_device_train_batch_size * spec.max_seq_length;
  job.micro_tokens =
      std::max(spec.micro_tokens.value_or(std::min(batch_tokens, kMicroTokens)), spec.max_seq_length);
  job.plan.emplace(spec, job.rows.train.rows());
  job.facts = facts_of(spec);
  return job;
}

JobSpec Preparer::resolved(const JobSpec& spec) const {
  JobSpec resolved = spec;
  resolved.precision =
      resolve_precision(spec.precision, bf16_) == DType::kBF16 ? Precision::kBf16 : Precision::kFp32;
  return resolved;
}

Facts Preparer::facts_of(const JobSpec& spec) {
  Facts facts = {{"shoal", SHOAL_VERSION}, {"device", device_}};
  const auto hashed = [&](const std::string& what, const std::filesystem::path& file) {
    // Shards and streams have no one file to name.
    if (std::filesystem::is_regular_file(file)) facts.emplace_back(what + " sha256", digests_.sha256(file));
  };
  hashed("train_file", spec.train_file);
  hashed("validation_file", spec.validation_file);
  hashed("test_file", spec.test_file);
  if (!spec.model.folder.empty()) hashed("weights", spec.model.folder / "model.safetensors");
  return facts;
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
