// The physical lines of a text file, one at a time: UTF-8, split on \n only.
#pragma once

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string_view>
#include <vector>

namespace shoal::data {

class LineReader {
 public:
  explicit LineReader(const std::filesystem::path& file);  // Error if it cannot be opened

  // The next line without its \n (a \r before it stays); false at the end of the file. Valid until the
  // next call. A byte order mark at the start of the file is dropped. Error, with line and column,
  // where the line is not UTF-8.
  bool next(std::string_view& line);

  std::int64_t line_number() const { return line_number_; }  // of the last line, from 1
  const std::filesystem::path& file() const { return file_; }

 private:
  struct Close {
    void operator()(std::FILE* stream) const { std::fclose(stream); }
  };
  bool fill();
  void refuse_unless_utf8(std::string_view line) const;

  std::filesystem::path file_;
  std::unique_ptr<std::FILE, Close> stream_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0, end_ = 0;  // what is read and not yet given out
  std::int64_t line_number_ = 0;
};

// A line without the \r that Windows leaves before its \n.
inline std::string_view without_return(std::string_view line) {
  return line.ends_with('\r') ? line.substr(0, line.size() - 1) : line;
}

}  // namespace shoal::data
