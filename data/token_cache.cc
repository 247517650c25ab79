#include "data/token_cache.h"

#include <xxhash.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <memory>
#include <optional>
#include <span>
#include <type_traits>
#include <vector>

#include "data/atomic_file.h"
#include "data/text_error.h"
#include "kernels/base/error.h"

namespace shoal::data {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kFormat = 1;  // a change of what is stored, or of what tokenising gives, counts it up

// XXH3 over fields, each with its length in front, so that no two lists of fields look alike.
class Hash {
 public:
  Hash() : state_(XXH3_createState()) {
    require(state_ != nullptr, "xxhash: out of memory");
    XXH3_128bits_reset(state_.get());
  }
  void bytes(const void* data, std::size_t size) { XXH3_128bits_update(state_.get(), data, size); }
  void number(std::int64_t value) { bytes(&value, sizeof value); }
  void text(std::string_view value) {
    number(static_cast<std::int64_t>(value.size()));
    bytes(value.data(), value.size());
  }
  void column(const Column& column) {
    text(column.number > 0 ? "" : column.name);
    number(column.number);
  }
  XXH128_hash_t value() const { return XXH3_128bits_digest(state_.get()); }

 private:
  struct Free {
    void operator()(XXH3_state_t* state) const { XXH3_freeState(state); }
  };
  std::unique_ptr<XXH3_state_t, Free> state_;
};

void add_file(Hash& hash, const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) fail_at(file, 0, 0, std::string("cannot be opened: ") + std::strerror(errno));
  std::vector<char> block(std::size_t{1} << 18);
  std::int64_t size = 0;
  while (in.read(block.data(), static_cast<std::streamsize>(block.size())), in.gcount() > 0) {
    hash.bytes(block.data(), static_cast<std::size_t>(in.gcount()));
    size += in.gcount();
  }
  if (in.bad()) fail_at(file, 0, 0, "cannot be read");
  hash.number(size);
}

void add_tokenizer(Hash& hash, const BertTokenizer& tokenizer) {
  const TokenizerOptions& options = tokenizer.options();
  hash.text(tokenizer.vocabulary().bytes());
  hash.number(options.do_lower_case);
  hash.number(options.strip_accents.value_or(options.do_lower_case));
  hash.number(options.tokenize_chinese_chars);
  hash.number(options.clean_text);
  hash.number(options.max_chars_per_word);
}

void add_options(Hash& hash, const fs::path& file, const DatasetOptions& options) {
  hash.number(static_cast<std::int64_t>(table_format(file, options.table)));
  hash.text(options.table.delimiter.value_or(""));
  hash.number(options.table.header);
  hash.text(options.table.encoding);
  hash.text(options.table.encoding_errors);
  hash.column(options.columns.text);
  hash.number(options.columns.text_pair.has_value());
  if (options.columns.text_pair) hash.column(*options.columns.text_pair);
  hash.column(options.columns.label);
  hash.number(options.max_seq_length);
  hash.number(options.max_rows.value_or(-1));
  hash.number(options.regression);
}

// One file: this header, then the arrays of a Dataset in its order.
struct Header {
  std::array<char, 8> magic = {'s', 'h', 'o', 'a', 'l', 't', 'o', 'k'};
  std::int64_t format = kFormat;
  std::int64_t tokens = 0, rows = 0, targets = 0;
  DatasetStats stats;
  std::array<unsigned char, 16> checksum = {};  // of the header without it, and of the arrays
};
static_assert(std::is_trivially_copyable_v<Header> && std::has_unique_object_representations_v<Header>);

template <typename SetOf, typename Act>
void for_each_array(SetOf& set, Act&& act) {
  act(set.tokens);
  act(set.begin);
  act(set.second);
  act(set.label);
  act(set.line);
  act(set.target);
}

template <typename T>
std::string_view bytes_of(const std::vector<T>& of) {
  return {reinterpret_cast<const char*>(of.data()), of.size() * sizeof(T)};
}

std::array<unsigned char, 16> checksum_of(Header header, const Dataset& set) {
  header.checksum = {};
  Hash hash;
  hash.bytes(&header, sizeof header);
  for_each_array(set, [&](const auto& array) { hash.text(bytes_of(array)); });
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical, hash.value());
  return std::to_array(canonical.digest);
}

void write(const fs::path& path, const Dataset& set) {
  Header header;
  header.tokens = static_cast<std::int64_t>(set.tokens.size());
  header.rows = set.rows();
  header.targets = static_cast<std::int64_t>(set.target.size());
  header.stats = set.stats;
  header.checksum = checksum_of(header, set);
  write_atomically(path, [&](const Append& append) {
    append({reinterpret_cast<const char*>(&header), sizeof header});
    for_each_array(set, [&](const auto& array) { append(bytes_of(array)); });
  });
}

// Whether every index leads where it may.
bool sound(const Dataset& set, std::int32_t vocabulary, std::int64_t labels) {
  if (set.begin.front() != 0 || set.begin.back() != static_cast<std::int64_t>(set.tokens.size()))
    return false;
  for (std::size_t r = 0; r + 1 < set.begin.size(); ++r) {
    if (set.begin[r] > set.begin[r + 1] || set.second[r] < set.begin[r] || set.second[r] > set.begin[r + 1] ||
        set.label[r] < -1 || set.label[r] >= labels) {
      return false;
    }
  }
  return std::ranges::all_of(set.tokens, [&](std::int32_t id) { return id >= 0 && id < vocabulary; });
}

std::optional<Dataset> read(const fs::path& path, const BertTokenizer& tokenizer, const LabelMap* labels) {
  std::error_code missing;
  const auto size = static_cast<std::int64_t>(fs::file_size(path, missing));
  std::ifstream in(path, std::ios::binary);
  Header header;
  const Header ours;
  if (missing || !in.read(reinterpret_cast<char*>(&header), sizeof header)) return {};
  constexpr std::int64_t kMost = std::int64_t{1} << 40;
  const bool plain = header.magic == ours.magic && header.format == ours.format && header.tokens >= 0 &&
                     header.tokens < kMost && header.rows >= 0 && header.rows < kMost &&
                     (header.targets == 0 || header.targets == header.rows);
  if (!plain) return {};
  const std::int64_t wanted = static_cast<std::int64_t>(sizeof header) + 4 * header.tokens +
                              28 * header.rows + 8 + 4 * header.targets;
  if (size != wanted) return {};  // before memory is taken by the header's word
  Dataset set;
  set.stats = header.stats;
  const auto rows = static_cast<std::size_t>(header.rows);
  set.tokens.resize(static_cast<std::size_t>(header.tokens));
  set.begin.resize(rows + 1);
  set.second.resize(rows);
  set.label.resize(rows);
  set.line.resize(rows);
  set.target.resize(static_cast<std::size_t>(header.targets));
  for_each_array(set, [&](auto& array) {
    in.read(reinterpret_cast<char*>(array.data()), static_cast<std::streamsize>(bytes_of(array).size()));
  });
  if (!in || checksum_of(header, set) != header.checksum) return {};
  if (!sound(set, tokenizer.vocabulary().size(), labels != nullptr ? labels->size() : 1)) return {};
  return set;
}

}  // namespace

fs::path cache_file(const fs::path& folder, const fs::path& file, const BertTokenizer& tokenizer,
                    const LabelMap* labels, const DatasetOptions& options) {
  Hash hash;
  hash.number(kFormat);
  add_file(hash, file);
  add_tokenizer(hash, tokenizer);
  add_options(hash, file, options);
  hash.number(labels != nullptr ? labels->size() : -1);
  if (labels != nullptr) {
    hash.number(labels->folds_case());
    for (const std::string& name : labels->names()) hash.text(name);
  }
  const XXH128_hash_t value = hash.value();
  return folder / fmt::format("{:016x}{:016x}.tokens", value.high64, value.low64);
}

CachedDataset build_dataset_cached(const fs::path& folder, const fs::path& file,
                                   const BertTokenizer& tokenizer, const LabelMap* labels,
                                   const DatasetOptions& options) {
  CachedDataset out;
  if (folder.empty() || !fs::is_regular_file(file)) {
    out.dataset = build_dataset(file, tokenizer, labels, options);
    return out;
  }
  const fs::path path = cache_file(folder, file, tokenizer, labels, options);
  if (std::optional<Dataset> found = read(path, tokenizer, labels)) {
    out.dataset = std::move(*found);
    out.dataset.file = file;
    out.found = true;
    return out;
  }
  out.dataset = build_dataset(file, tokenizer, labels, options);
  try {
    std::error_code ignored;  // the file then says why
    fs::create_directories(folder, ignored);
    write(path, out.dataset);
  } catch (const Error& error) {
    out.note = fmt::format("the tokenised text is not kept in cache_dir: {}", error.what());
  }
  return out;
}

}  // namespace shoal::data
