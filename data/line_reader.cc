#include "data/line_reader.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "data/text_error.h"
#include "data/utf8.h"

namespace shoal::data {
namespace {

constexpr std::size_t kBufferBytes = std::size_t{1} << 18;
constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

}  // namespace

LineReader::LineReader(const std::filesystem::path& file) : file_(file), buffer_(kBufferBytes) {
  stream_.reset(std::fopen(file.c_str(), "rb"));
  if (!stream_) fail_at(file, 0, 0, std::string("cannot be opened: ") + std::strerror(errno));
  std::setvbuf(stream_.get(), nullptr, _IONBF, 0);  // buffer_ is the only buffer
}

// Reads more behind what is left; false at the end of the file.
bool LineReader::fill() {
  if (begin_ > 0) {
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  if (end_ == buffer_.size()) buffer_.resize(2 * buffer_.size());
  const std::size_t got = std::fread(buffer_.data() + end_, 1, buffer_.size() - end_, stream_.get());
  if (got == 0 && std::ferror(stream_.get())) {
    fail_at(file_, 0, 0, std::string("cannot be read: ") + std::strerror(errno));
  }
  end_ += got;
  return got > 0;
}

bool LineReader::next(std::string_view& line) {
  std::size_t searched = 0;
  const char* newline = nullptr;
  while (true) {
    newline = static_cast<const char*>(
        std::memchr(buffer_.data() + begin_ + searched, '\n', end_ - begin_ - searched));
    if (newline != nullptr) break;
    searched = end_ - begin_;
    if (!fill()) break;
  }
  if (newline == nullptr && begin_ == end_) return false;
  const char* start = buffer_.data() + begin_;
  const char* stop = newline != nullptr ? newline : buffer_.data() + end_;
  line = std::string_view(start, static_cast<std::size_t>(stop - start));
  begin_ += line.size() + (newline != nullptr ? 1 : 0);
  ++line_number_;
  if (line_number_ == 1 && line.starts_with(kByteOrderMark)) line.remove_prefix(kByteOrderMark.size());
  refuse_unless_utf8(line);
  return true;
}

void LineReader::refuse_unless_utf8(std::string_view line) const {
  const std::size_t bad = first_invalid_utf8(line);
  if (bad == line.size()) return;
  const bool utf16 = line_number_ == 1 && (line.starts_with("\xff\xfe") || line.starts_with("\xfe\xff"));
  fail_at(file_, line_number_, static_cast<std::int64_t>(count_code_points(line.substr(0, bad))) + 1,
          fmt::format("not UTF-8 (byte 0x{:02x}{}); allowed: UTF-8", static_cast<unsigned char>(line[bad]),
                      utf16 ? ", looks like UTF-16" : ""));
}

}  // namespace shoal::data
