#include "engine/config/foreign_keys.h"

namespace shoal::engine::config {

const std::vector<ForeignKey>& foreign_keys() {
  constexpr std::string_view kOneDevice = "there is one device and no sharding; remove it";
  constexpr std::string_view kNoUpload =
      "nothing is uploaded; every job leaves a Hugging Face folder that you can upload";
  constexpr std::string_view kInMemory = "not needed: data are held in memory";
  constexpr std::string_view kPasses = "not needed: large batches are cut into passes of micro_tokens";
  constexpr std::string_view kPacked = "not needed: rows are packed, not padded";
  constexpr std::string_view kNoTorch = "there is no torch here to be told so; remove it";
  constexpr std::string_view kEvaluation = "not needed: evaluation fills its passes by itself";
  constexpr std::string_view kNoSuchThing = "there is no such thing here; remove it";
  static const std::vector<ForeignKey> keys = {
      {"fp16", "there is no fp16 arithmetic; use precision = \"bf16\", \"fp32\" or \"auto\""},
      {"bf16", "use precision = \"bf16\""},
      {"tf32", "there is no tf32 arithmetic; use precision = \"fp32\" or \"bf16\""},
      {"gradient_checkpointing", kPasses},
      {"deepspeed", kOneDevice},
      {"fsdp", kOneDevice},
      {"accelerator_config", kOneDevice},
      {"local_rank", kOneDevice},
      {"torch_compile", kNoTorch},
      {"push_to_hub", kNoUpload},
      {"hub_model_id", kNoUpload},
      {"overwrite_output_dir", "use the option --overwrite of `shoal train`"},
      {"warmup_ratio", "use warmup_steps: below 1 it is the share of all updates"},
      {"group_by_length", kPacked},
      {"pad_to_max_length", kPacked},
      {"max_length", "use max_seq_length"},
      {"max_seq_len", "use max_seq_length"},
      {"model_name_or_path", "use model"},
      {"model_name", "use model"},
      {"tokenizer_name", "the tokenizer is that of model"},
      {"config_name", "the configuration is that of model"},
      {"num_labels", "not needed: labels are counted in train_file"},
      {"batch_size", "use per_device_train_batch_size"},
      {"train_batch_size", "use per_device_train_batch_size"},
      {"per_device_eval_batch_size", kEvaluation},
      {"eval_batch_size", kEvaluation},
      {"auto_find_batch_size", kPasses},
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
      {"do_eval", "not needed: a job with rows to evaluate on is evaluated"},
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
      {"dataloader_num_workers", kInMemory},
      {"remove_unused_columns", "not needed: only text, text_pair and label are read"},
      {"full_determinism", "not needed: every run is repeatable to the bit"},
      {"ddp_find_unused_parameters", kOneDevice},
      {"ddp_bucket_cap_mb", kOneDevice},
      {"ddp_broadcast_buffers", kOneDevice},
      {"ddp_static_graph", kOneDevice},
      {"ddp_backend", kOneDevice},
      {"ddp_timeout", kOneDevice},
      {"fsdp_config", kOneDevice},
      {"parallelism_config", kOneDevice},
      {"average_tokens_across_devices", kOneDevice},
      {"log_on_each_node", kOneDevice},
      {"save_on_each_node", kOneDevice},
      {"log_level_replica", kOneDevice},
      {"hub_token", kNoUpload},
      {"hub_private_repo", kNoUpload},
      {"hub_strategy", kNoUpload},
      {"hub_always_push", kNoUpload},
      {"hub_revision", kNoUpload},
      {"dataloader_pin_memory", kInMemory},
      {"dataloader_persistent_workers", kInMemory},
      {"dataloader_prefetch_factor", kInMemory},
      {"dataloader_multiprocessing_context", kInMemory},
      {"dataloader_in_order", kInMemory},
      {"activation_checkpointing", kPasses},
      {"activation_checkpointing_kwargs", kPasses},
      {"gradient_checkpointing_kwargs", kPasses},
      {"train_sampling_strategy", kPacked},
      {"length_column_name", kPacked},
      {"torch_compile_backend", kNoTorch},
      {"torch_compile_mode", kNoTorch},
      {"torch_empty_cache_steps", kNoTorch},
      {"use_liger_kernel", kNoTorch},
      {"liger_kernel_config", kNoTorch},
      {"use_cache", kNoTorch},
      {"enable_jit_checkpoint", kNoTorch},
      {"skip_memory_metrics", kNoTorch},
      {"debug", kNoTorch},
      {"eval_accumulation_steps", kEvaluation},
      {"eval_do_concat_batches", kEvaluation},
      {"eval_use_gather_object", kEvaluation},
      {"batch_eval_metrics", kEvaluation},
      {"prediction_loss_only", kEvaluation},
      {"include_for_metrics", kEvaluation},
      {"optim_args", kNoSuchThing},
      {"optim_target_modules", kNoSuchThing},
      {"neftune_noise_alpha", kNoSuchThing},
      {"eval_delay", kNoSuchThing},
      {"eval_on_start", kNoSuchThing},
      {"logging_first_step", kNoSuchThing},
      {"include_num_input_tokens_seen", kNoSuchThing},
      {"project", "use report_to"},
      {"trackio_space_id", "use report_to"},
      {"trackio_bucket_id", "use report_to"},
      {"trackio_static_space_id", "use report_to"},
      {"bf16_full_eval", "use precision: evaluation has that of training"},
      {"fp16_full_eval", "use precision: evaluation has that of training"},
      {"disable_tqdm", "use the option --progress of `shoal train`"},
      {"log_level", "use the option --progress of `shoal train`"},
      {"resume_from_checkpoint", "use the option --resume of `shoal train`"},
      {"ignore_data_skip", "use the option --resume of `shoal train`"},
      {"restore_callback_states_from_checkpoint", "use the option --resume of `shoal train`"},
      {"logging_nan_inf_filter", "a loss that is not finite ends its job and is reported"},
      {"save_only_model", "weights are written when a job ends; load_best_model_at_end chooses which"},
      {"label_names", "use label"},
  };
  return keys;
}

const std::vector<ForeignKey>& later_keys() {
  constexpr std::string_view kNotYet = "not yet in this version of shoal";
  static const std::vector<ForeignKey> keys = {
      {"trunk", kNotYet},
      {"head", kNotYet},
      {"save_steps", kNotYet},
      {"save_total_limit", kNotYet},
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
