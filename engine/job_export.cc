#include "engine/job_export.h"

#include "data/atomic_file.h"
#include "data/tokenizer_folder.h"
#include "engine/config/job_toml.h"
#include "models/hf_folder.h"

namespace shoal::engine {
namespace {

models::SaveType save_type(SaveDtype dtype) {
  switch (dtype) {
    case SaveDtype::kBfloat16:
      return models::SaveType::kBF16;
    case SaveDtype::kFloat16:
      return models::SaveType::kF16;
    case SaveDtype::kFloat32:
      break;
  }
  return models::SaveType::kF32;
}

}  // namespace

void export_job(const std::filesystem::path& folder, const PreparedJob& job, const models::Layout& layout,
                std::span<const float> row) {
  const models::HfExport model{.config = job.config,
                               .layout = layout,
                               .own = job.extents(),
                               .row = row,
                               .architecture = std::string(job.head->architecture()),
                               .problem_type = std::string(job.head->problem_type()),
                               .labels = job.labels.names(),
                               .type = save_type(job.spec->save_dtype)};
  models::export_folder(folder, model, [&](const std::filesystem::path& to) {
    data::write_tokenizer(to, *job.tokenizer, job.config.max_position_embeddings);
  });
  JobSpec resolved = *job.spec;
  resolved.precision = job.dtype == DType::kBF16 ? Precision::kBf16 : Precision::kFp32;
  data::write_atomically(folder / "job.toml", job_toml(resolved, job.facts));
}

}  // namespace shoal::engine
