// safetensors files: a JSON header of named tensors, then their bytes.
//
// Reading trusts nothing: the header (at most 100 MB) is checked against the file's real size before
// a single number of it is used, and no number of it ever sizes an allocation. Refused: overlaps,
// holes, trailing bytes, ranges past the end or backwards, a byte count that is not shape times element
// size (overflow included), a name twice, unknown keys or types, anything before the '{'.
// The bytes are the file's own pages (mmap): they stay valid while the object lives, and nobody may
// shorten the file meanwhile.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "data/atomic_file.h"

namespace shoal::models {

struct StoredTensor {
  std::string name;
  std::string dtype;  // as the file spells it: "F32", "BF16", "I64", ...
  std::vector<std::int64_t> shape;
  std::uint64_t begin = 0;  // bytes, from the end of the header
  std::uint64_t end = 0;
};

class SafetensorsFile {
 public:
  // Error: `file: error: ...` for each of the faults above.
  explicit SafetensorsFile(const std::filesystem::path& file);
  ~SafetensorsFile();
  SafetensorsFile(SafetensorsFile&& other) noexcept;
  SafetensorsFile& operator=(SafetensorsFile&&) = delete;

  const std::filesystem::path& path() const { return path_; }
  const std::vector<StoredTensor>& tensors() const { return tensors_; }  // by place in the file
  const std::map<std::string, std::string>& metadata() const { return metadata_; }

  // Not aligned to anything.
  std::span<const std::byte> bytes(const StoredTensor& tensor) const;

 private:
  void map_file();
  void read_header();

  std::filesystem::path path_;
  const std::byte* map_ = nullptr;
  std::size_t size_ = 0;        // of the whole file
  std::size_t data_begin_ = 0;  // first byte after the header
  std::vector<StoredTensor> tensors_;
  std::map<std::string, std::string> metadata_;
};

// A tensor to write: `produce` appends exactly elements * size_of(dtype) bytes.
struct NewTensor {
  std::string name;
  std::string dtype;  // "F32", "F16" or "BF16"
  std::vector<std::int64_t> shape;
  std::function<void(const data::Append&)> produce;
};

// Whole or not at all, tensors in the given order, metadata {"format":"pt"}, header padded with spaces to a
// multiple of 8 so that the data are aligned.
void write_safetensors(const std::filesystem::path& file, const std::vector<NewTensor>& tensors);

}  // namespace shoal::models
