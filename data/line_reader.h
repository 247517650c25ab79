// The physical lines of a text file as UTF-8, one at a time, split on \n only.
//
// The file is in the encoding that is named; bytes that this does not have are an Error with line and
// column, or are replaced or dropped (text_decoder.h). A UTF-8 file is not decoded, only looked at.
#pragma once

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "data/text_decoder.h"

namespace shoal::data {

// The names are checked by the reader that opens a file.
struct TextEncoding {
  std::string name = "utf-8";     // as iconv or Python has it
  std::string errors = "strict";  // "strict", "replace" or "ignore", as in Python
};

class LineReader {
 public:
  // Error if the file cannot be opened or the encoding is not known.
  explicit LineReader(const std::filesystem::path& file, const TextEncoding& encoding = {});

  // The next line without its \n (a \r before it stays); false at the end of the file. Valid until the
  // next call. A byte order mark at the start of the file is dropped. Error, with line and column, where
  // the file is not in its encoding.
  bool next(std::string_view& line);

  std::int64_t line_number() const { return line_number_; }  // of the last line, from 1
  const std::filesystem::path& file() const { return file_; }

 private:
  struct Close {
    void operator()(std::FILE* stream) const { std::fclose(stream); }
  };
  bool fill();
  bool append_decoded(std::string_view bytes, bool last);
  std::string_view checked(std::string_view line);

  std::filesystem::path file_;
  std::string encoding_;
  EncodingErrors errors_;
  std::optional<TextDecoder> decoder_;  // none for UTF-8
  std::unique_ptr<std::FILE, Close> stream_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0, end_ = 0;  // what is read (decoded) and not yet given out
  std::vector<char> raw_;            // of a file that is decoded
  std::string decoded_;
  bool at_end_ = false;
  std::string repaired_;  // the last line, where it held what is not UTF-8
  std::int64_t line_number_ = 0;
};

// A line without the \r that Windows leaves before its \n.
inline std::string_view without_return(std::string_view line) {
  return line.ends_with('\r') ? line.substr(0, line.size() - 1) : line;
}

}  // namespace shoal::data
