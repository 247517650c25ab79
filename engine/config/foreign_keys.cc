#include "engine/config/foreign_keys.h"

namespace shoal::engine::config {

const std::vector<ForeignKey>& foreign_keys() {
  static const std::vector<ForeignKey> keys = {
      {"fp16", "there is no fp16 arithmetic; use precision = \"bf16\", \"fp32\" or \"auto\""},
      {"bf16", "use precision = \"bf16\""},
      {"tf32", "there is no tf32 arithmetic; use precision = \"fp32\" or \"bf16\""},
      {"gradient_checkpointing", "not needed: large batches are cut into passes of micro_tokens"},
      {"deepspeed", "there is one device and no sharding; remove it"},
      {"fsdp", "there is one device and no sharding; remove it"},
      {"accelerator_config", "there is one device and no sharding; remove it"},
      {"local_rank", "there is one device and no sharding; remove it"},
      {"torch_compile", "there is no torch here and nothing to compile; remove it"},
      {"push_to_hub", "nothing is uploaded; every job leaves a Hugging Face folder that you can upload"},
      {"hub_model_id", "nothing is uploaded; every job leaves a Hugging Face folder that you can upload"},
      {"overwrite_output_dir", "use the option --overwrite of `shoal train`"},
      {"warmup_ratio", "use warmup_steps: below 1 it is the share of all updates"},
      {"group_by_length", "not needed: rows are packed, not padded"},
      {"pad_to_max_length", "not needed: rows are packed, not padded"},
      {"max_length", "use max_seq_length"},
      {"max_seq_len", "use max_seq_length"},
      {"model_name_or_path", "use model"},
      {"model_name", "use model"},
      {"tokenizer_name", "the tokenizer is that of model"},
      {"config_name", "the configuration is that of model"},
      {"num_labels", "not needed: labels are counted in train_file"},
      {"batch_size", "use per_device_train_batch_size"},
      {"train_batch_size", "use per_device_train_batch_size"},
      {"per_device_eval_batch_size", "not needed: evaluation fills its passes by itself"},
      {"eval_batch_size", "not needed: evaluation fills its passes by itself"},
      {"auto_find_batch_size", "not needed: large batches are cut into passes of micro_tokens"},
      {"epochs", "use num_train_epochs"},
      {"num_epochs", "use num_train_epochs"},
      {"steps", "use max_steps"},
      {"lr", "use learning_rate"},
      {"scheduler", "use lr_scheduler_type"},
      {"lr_scheduler", "use lr_scheduler_type"},
      {"optimizer", "use optim"},
      {"adafactor", "use optim"},
      {"dropout", "use hidden_dropout_prob, attention_probs_dropout_prob or classifier_dropout"},
      {"evaluation_strategy", "use eval_strategy"},
      {"save_strategy", "weights are written when a job ends; load_best_model_at_end chooses which"},
      {"save_safetensors", "weights are always written as safetensors"},
      {"logging_strategy", "use logging_steps"},
      {"logging_dir", "logs are in the folder of the run"},
      {"run_name", "use name"},
      {"do_train", "not needed: `shoal train` trains"},
      {"do_eval", "not needed: a job with a validation_file is evaluated"},
      {"do_predict", "use `shoal predict`"},
      {"use_cpu", "use device = \"cpu\" in [fleet]"},
      {"no_cuda", "use device = \"cpu\" in [fleet]"},
      {"dataset_name", "use train_file and validation_file"},
      {"train_data", "use train_file"},
      {"dev_file", "use validation_file"},
      {"eval_file", "use validation_file"},
      {"text_column", "use text"},
      {"text_column_name", "use text"},
      {"text_column_names", "use text and text_pair"},
      {"label_column", "use label"},
      {"label_column_name", "use label"},
      {"sep", "use delimiter"},
      {"dataloader_num_workers", "not needed: data are held in memory"},
      {"remove_unused_columns", "not needed: only text, text_pair and label are read"},
      {"full_determinism", "not needed: every run is repeatable to the bit"},
  };
  return keys;
}

const std::vector<ForeignKey>& later_keys() {
  constexpr std::string_view kNotYet = "not yet in this version of shoal";
  static const std::vector<ForeignKey> keys = {
      {"each", kNotYet},
      {"folds", kNotYet},
      {"search", kNotYet},
      {"trunk", kNotYet},
      {"use", kNotYet},
      {"preset", kNotYet},
      {"report_to", kNotYet},
      {"price_per_hour", kNotYet},
      {"cache_dir", kNotYet},
      {"gemm", kNotYet},
      {"lr_scheduler_kwargs", kNotYet},
      {"save_steps", kNotYet},
      {"save_total_limit", kNotYet},
      {"early_stopping_patience", kNotYet},
      {"test_file", kNotYet},
      {"validation_split_percentage", kNotYet},
      {"problem_type", "not yet in this version of shoal: every task has one label a row"},
      {"encoding", "not yet in this version of shoal: files are UTF-8"},
      {"encoding_errors", "not yet in this version of shoal: bytes that are not UTF-8 are refused"},
  };
  return keys;
}

std::string_view foreign_key_answer(std::string_view name) {
  for (const auto* list : {&foreign_keys(), &later_keys()}) {
    for (const ForeignKey& key : *list) {
      if (key.name == name) return key.answer;
    }
  }
  return {};
}

}  // namespace shoal::engine::config
