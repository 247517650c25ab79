// SHA-256 of files, for the record of what a job was trained from.
#pragma once

#include <filesystem>
#include <map>
#include <string>

namespace shoal::engine {

// In lower-case hexadecimal. Error: the file cannot be read.
std::string sha256_of(const std::filesystem::path& file);

// The same, each file read once.
class Digests {
 public:
  const std::string& sha256(const std::filesystem::path& file);

 private:
  std::map<std::filesystem::path, std::string> known_;
};

}  // namespace shoal::engine
