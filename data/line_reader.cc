#include "data/line_reader.h"

#include <fmt/format.h>

#include <algorithm>
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

LineReader::LineReader(const std::filesystem::path& file, const TextEncoding& encoding)
    : file_(file),
      encoding_(encoding.name),
      errors_(parse_encoding_errors(encoding.errors)),
      buffer_(kBufferBytes) {
  if (!names_utf8(encoding_)) {
    decoder_.emplace(encoding_, errors_);
    raw_.resize(kBufferBytes / 2);
  }
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
  char* to = decoder_ ? raw_.data() : buffer_.data() + end_;
  const std::size_t room = decoder_ ? raw_.size() : buffer_.size() - end_;
  const std::size_t got = std::fread(to, 1, room, stream_.get());
  if (got == 0 && std::ferror(stream_.get())) {
    fail_at(file_, 0, 0, std::string("cannot be read: ") + std::strerror(errno));
  }
  if (decoder_) return append_decoded({to, got}, got == 0);
  end_ += got;
  return got > 0;
}

// Puts `bytes` into buffer_ as UTF-8; false where nothing is left to come.
bool LineReader::append_decoded(std::string_view bytes, bool last) {
  if (at_end_) return false;
  at_end_ = last;
  decoded_.clear();
  const bool good = decoder_->decode(bytes, last, decoded_);
  if (buffer_.size() < end_ + decoded_.size()) buffer_.resize(end_ + decoded_.size());
  std::ranges::copy(decoded_, buffer_.begin() + static_cast<std::ptrdiff_t>(end_));
  end_ += decoded_.size();
  if (good) return true;
  const std::string_view open(buffer_.data() + begin_, end_ - begin_);
  const std::size_t start = open.rfind('\n') == std::string_view::npos ? 0 : open.rfind('\n') + 1;
  std::string fault;
  for (const char c : decoder_->fault()) fault += fmt::format(" 0x{:02x}", static_cast<unsigned char>(c));
  fail_at(file_, line_number_ + 1 + std::ranges::count(open, '\n'),
          static_cast<std::int64_t>(count_code_points(open.substr(start))) + 1,
          fmt::format("not {} ({}{})", encoding_, decoder_->fault().size() == 1 ? "byte" : "bytes", fault));
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
  line = checked(line);
  return true;
}

// The line, if need be repaired.
std::string_view LineReader::checked(std::string_view line) {
  const std::size_t bad = first_invalid_utf8(line);
  if (bad == line.size()) return line;
  if (errors_ != EncodingErrors::kStrict) {
    repaired_ = repair_utf8(line, errors_);
    return repaired_;
  }
  const bool utf16 = line_number_ == 1 && (line.starts_with("\xff\xfe") || line.starts_with("\xfe\xff"));
  fail_at(file_, line_number_, static_cast<std::int64_t>(count_code_points(line.substr(0, bad))) + 1,
          fmt::format("not UTF-8 (byte 0x{:02x}{}); allowed: UTF-8, unless encoding or encoding_errors says "
                      "otherwise",
                      static_cast<unsigned char>(line[bad]), utf16 ? ", looks like UTF-16" : ""));
}

}  // namespace shoal::data
