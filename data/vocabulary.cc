#include "data/vocabulary.h"

#include <algorithm>
#include <bit>
#include <fstream>
#include <functional>
#include <iterator>
#include <limits>

#include "data/text_error.h"
#include "data/utf8.h"
#include "kernels/base/error.h"

namespace shoal::data {
namespace {

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

std::uint32_t hash_of(std::string_view text) {
  return static_cast<std::uint32_t>(std::hash<std::string_view>{}(text));
}

}  // namespace

void Vocabulary::Index::reserve(std::size_t count) {
  slots_.resize(std::bit_ceil(2 * count + 1));
}

template <typename TextOf>
void Vocabulary::Index::insert(std::string_view text, std::int32_t id, const TextOf& text_of) {
  const std::uint32_t hash = hash_of(text);
  std::size_t at = hash & (slots_.size() - 1);
  while (slots_[at].id >= 0 && !(slots_[at].hash == hash && text_of(slots_[at].id) == text)) {
    at = (at + 1) & (slots_.size() - 1);
  }
  slots_[at] = {hash, id};  // the last of equal tokens counts
}

template <typename TextOf>
std::int32_t Vocabulary::Index::find(std::string_view text, const TextOf& text_of) const {
  const std::uint32_t hash = hash_of(text);
  std::size_t at = hash & (slots_.size() - 1);
  while (slots_[at].id >= 0) {
    if (slots_[at].hash == hash && text_of(slots_[at].id) == text) return slots_[at].id;
    at = (at + 1) & (slots_.size() - 1);
  }
  return -1;
}

std::string_view Vocabulary::token(std::int32_t id) const {
  const Span& span = spans_.at(static_cast<std::size_t>(id));
  return std::string_view(bytes_).substr(span.begin, span.size);
}

std::int32_t Vocabulary::find(std::string_view token_text) const {
  return whole_.find(token_text, [this](std::int32_t id) { return token(id); });
}

std::int32_t Vocabulary::find_inner(std::string_view piece) const {
  return inner_.find(piece, [this](std::int32_t id) { return token(id).substr(kInner.size()); });
}

Vocabulary Vocabulary::read(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  require(in.good(), "{}: error: cannot be read", file.string());
  std::string bytes{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  require(!in.bad(), "{}: error: cannot be read", file.string());
  return parse(std::move(bytes), file);
}

Vocabulary Vocabulary::parse(std::string bytes, const std::filesystem::path& name) {
  Vocabulary vocabulary;
  vocabulary.bytes_ = std::move(bytes);
  vocabulary.build(name);
  return vocabulary;
}

Vocabulary Vocabulary::from_tokens(const std::vector<std::string>& tokens,
                                   const std::filesystem::path& name) {
  std::string bytes;
  for (std::size_t id = 0; id < tokens.size(); ++id) {
    if (tokens[id].find_first_of("\r\n") != std::string::npos) {
      fail_at(name, 0, 0, "token " + in_quotes(tokens[id]) + " holds a line end; vocab.txt cannot hold it");
    }
    bytes += tokens[id];
    bytes += '\n';
  }
  return parse(std::move(bytes), name);
}

void Vocabulary::build(const std::filesystem::path& name) {
  if (bytes_.size() > std::numeric_limits<std::uint32_t>::max()) fail_at(name, 0, 0, "larger than 4 GiB");
  const std::string_view all = bytes_;
  std::size_t begin = all.starts_with(kByteOrderMark) ? kByteOrderMark.size() : 0;
  while (begin < all.size()) {
    const std::size_t end = std::min(all.find('\n', begin), all.size());
    std::size_t size = end - begin;
    if (size > 0 && all[end - 1] == '\r') --size;
    const std::string_view line = all.substr(begin, size);
    if (const std::size_t bad = first_invalid_utf8(line); bad < size) {
      fail_at(name, static_cast<std::int64_t>(spans_.size()) + 1,
              static_cast<std::int64_t>(count_code_points(line.substr(0, bad))) + 1, "not UTF-8");
    }
    spans_.push_back({static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(size)});
    begin = end + 1;
  }
  while (!spans_.empty() && spans_.back().size == 0) spans_.pop_back();

  whole_.reserve(spans_.size());
  inner_.reserve(spans_.size());
  for (std::int32_t id = 0; id < size(); ++id) {
    const std::string_view text = token(id);
    if (text.empty()) continue;
    longest_ = std::max(longest_, text.size());
    whole_.insert(text, id, [this](std::int32_t other) { return token(other); });
    if (text.size() > kInner.size() && text.starts_with(kInner)) {
      inner_.insert(text.substr(kInner.size()), id,
                    [this](std::int32_t other) { return token(other).substr(kInner.size()); });
    }
  }

  std::string missing;
  const auto special = [&](std::string_view text) {
    const std::int32_t id = find(text);
    if (id < 0) (missing += missing.empty() ? "" : ", ") += text;
    return id;
  };
  pad_ = special(kPad);
  unk_ = special(kUnk);
  cls_ = special(kCls);
  sep_ = special(kSep);
  mask_ = special(kMask);
  if (!missing.empty()) fail_at(name, 0, 0, "special tokens missing from the vocabulary: " + missing);
}

}  // namespace shoal::data
