#include "tests/fuzz/target.h"

#include <unistd.h>

#include <fstream>

#include "kernels/base/error.h"

namespace shoal::fuzz {
namespace {

namespace fs = std::filesystem;

class Folder {
 public:
  Folder() {
    const fs::path memory = "/dev/shm";
    const fs::path parent = fs::is_directory(memory) ? memory : fs::temp_directory_path();
    std::string pattern = (parent / "shoal-fuzz-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no folder for the fuzzer's files");
    path_ = pattern;
  }
  ~Folder() { fs::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

}  // namespace

std::vector<Target> all_targets() {
  std::vector<Target> all;
  for (const auto& some : {table_targets(), tokenizer_targets(), model_targets(), fleet_targets()}) {
    all.insert(all.end(), some.begin(), some.end());
  }
  return all;
}

void run_target(const Target& target, std::string_view input) {
  try {
    target.run(input);
  } catch (const Error& error) {
    promise(*error.what() != '\0', "an Error says something");
  }
}

fs::path input_file(const std::string& name, std::string_view bytes) {
  static const Folder folder;
  const fs::path file = folder.path() / name;
  std::ofstream(file, std::ios::binary | std::ios::trunc) << bytes;
  return file;
}

}  // namespace shoal::fuzz
