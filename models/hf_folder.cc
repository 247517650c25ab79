#include "models/hf_folder.h"

#include "data/atomic_file.h"
#include "kernels/base/error.h"

namespace shoal::models {
namespace {

namespace fs = std::filesystem;

constexpr const char* kWeights = "model.safetensors";

// A folder that is removed with all it holds unless it has been renamed away.
class TemporaryFolder {
 public:
  explicit TemporaryFolder(const fs::path& path) : path_(path) {
    std::error_code code;
    fs::create_directory(path_, code);
    require(!code, "{}: error: cannot create the folder: {}", path_.string(), code.message());
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code code;
    fs::remove_all(path_, code);
  }
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

void move_into_place(const fs::path& from, const fs::path& to) {
  std::error_code code;
  fs::rename(from, to, code);
  require(!code, "{}: error: cannot put the file in place: {}", to.string(), code.message());
}

void replace_files(const fs::path& from, const fs::path& to) {
  std::vector<fs::path> names;
  for (const fs::directory_entry& entry : fs::directory_iterator(from))
    names.push_back(entry.path().filename());
  for (const fs::path& name : names)
    if (name != kWeights) move_into_place(from / name, to / name);
  move_into_place(from / kWeights, to / kWeights);
}

}  // namespace

HfFolder read_hf_folder(const fs::path& folder) {
  require(fs::is_directory(folder), "{}: error: no such folder", folder.string());
  for (const char* name : {"config.json", "bert_config.json"})
    if (fs::exists(folder / name)) return {folder, read_config(folder / name)};
  fail("{}: error: no config.json in this folder", folder.string());
}

void export_folder(const fs::path& folder, const HfExport& model,
                   const std::function<void(const fs::path&)>& write_rest) {
  const fs::path target = folder.filename().empty() ? folder.parent_path() : folder;  // "out/" is "out"
  const bool exists = fs::is_directory(target);
  if (!exists && target.has_parent_path()) fs::create_directories(target.parent_path());
  const TemporaryFolder temporary(data::temporary_sibling(exists ? target / "export" : target));
  data::write_atomically(
      temporary.path() / "config.json",
      export_config(model.config, model.architecture, model.labels, model.problem_type, name_of(model.type)));
  if (write_rest) write_rest(temporary.path());
  export_weights(temporary.path() / kWeights, model.layout, model.own, model.row, model.type);
  data::sync_folder(temporary.path());
  if (exists) {
    replace_files(temporary.path(), target);
    data::sync_folder(target);
  } else {
    move_into_place(temporary.path(), target);
    data::sync_folder(target.parent_path());
  }
}

}  // namespace shoal::models
