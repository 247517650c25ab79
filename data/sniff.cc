#include "data/sniff.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <fstream>
#include <map>
#include <set>
#include <string_view>

#include "data/number.h"
#include "data/table_readers.h"
#include "data/utf8.h"

namespace shoal::data {
namespace {

constexpr std::size_t kFirstLines = 20;
constexpr std::int64_t kFewPerValue = 3;  // rows of a label that repeats

std::string lower(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(), [](unsigned char c) { return std::tolower(c); });
  return out;
}

std::vector<std::string> first_lines(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::vector<std::string> lines;
  for (std::string line; lines.size() < kFirstLines && std::getline(in, line);)
    if (!line.empty() && line != "\r") lines.push_back(line);
  return lines;
}

bool is_utf8(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  for (std::string line; std::getline(in, line);)
    if (first_invalid_utf8(line) != line.size()) return false;
  return true;
}

// The character of , ; tab | that stands most often in every line; 0: none stands in all.
char delimiter_of(const std::vector<std::string>& lines) {
  char best = 0;
  std::int64_t most = 0;
  for (const char c : {',', ';', '\t', '|'}) {
    std::int64_t fewest = lines.empty() ? 0 : std::ranges::count(lines.front(), c);
    for (const std::string& line : lines)
      fewest = std::min<std::int64_t>(fewest, std::ranges::count(line, c));
    if (fewest > most) {
      most = fewest;
      best = c;
    }
  }
  return best;
}

// Facts of one column as its cells go by.
class Collector {
 public:
  void add(std::string_view cell) {
    const auto characters = static_cast<std::int64_t>(count_code_points(cell));
    facts.empty += cell.empty();
    facts.longest = std::max(facts.longest, characters);
    characters_ += characters;
    if (const auto number = parse_number(cell)) {
      ++facts.numbers;
      facts.whole_numbers += *number == std::floor(*number);
    }
    if (facts.many_values) return;
    ++counts_[std::string(cell)];
    facts.many_values = counts_.size() > kMostValues;
  }
  ColumnFacts finish(std::int64_t rows) {
    facts.mean_characters = rows > 0 ? static_cast<double>(characters_) / static_cast<double>(rows) : 0;
    facts.values.assign(counts_.begin(), counts_.end());
    std::ranges::stable_sort(facts.values, std::ranges::greater(),
                             &std::pair<std::string, std::int64_t>::second);
    return std::move(facts);
  }
  bool has(const std::string& value) const { return counts_.contains(value); }
  ColumnFacts facts;

 private:
  std::map<std::string, std::int64_t> counts_;
  std::int64_t characters_ = 0;
};

bool may_be_name(const std::string& cell) {
  return !cell.empty() && !parse_number(cell) && count_code_points(cell) <= 40;
}

void read_columns(const std::filesystem::path& file, Sniffed& out) {
  const bool jsonl = out.format == TableFormat::kJsonl;
  if (!jsonl) out.table.header = false;
  const std::vector<std::string> names = table_columns(file, out.table);
  std::vector<Column> wanted;
  for (std::size_t i = 0; i < names.size(); ++i)
    wanted.push_back(jsonl ? Column::named(names[i]) : Column::numbered(static_cast<int>(i) + 1));
  const auto reader = open_table(file, wanted, out.table);
  std::vector<Collector> columns(names.size());
  std::vector<std::string> first;
  for (TableRow row; reader->next(row);) {
    if (!jsonl && first.empty()) {
      first.assign(row.cells.begin(), row.cells.end());
      continue;
    }
    ++out.rows;
    for (std::size_t i = 0; i < columns.size(); ++i) columns[i].add(row.cells[i]);
  }
  if (!jsonl) {
    const std::set<std::string> distinct(first.begin(), first.end());
    out.table.header = out.rows > 0 && distinct.size() == first.size();
    for (std::size_t i = 0; i < first.size(); ++i)
      out.table.header &= may_be_name(first[i]) && !columns[i].has(first[i]);
    if (!out.table.header && !first.empty()) {
      ++out.rows;
      for (std::size_t i = 0; i < columns.size(); ++i) columns[i].add(first[i]);
    }
  }
  for (std::size_t i = 0; i < columns.size(); ++i) {
    out.columns.push_back(columns[i].finish(out.rows));
    out.columns.back().name = !jsonl && out.table.header ? first[i] : names[i];
  }
}

template <std::size_t N>
std::optional<std::size_t> named(const std::vector<ColumnFacts>& columns,
                                 const std::array<const char*, N>& names) {
  for (const char* name : names)
    for (std::size_t i = 0; i < columns.size(); ++i)
      if (lower(columns[i].name) == name) return i;
  return {};
}

std::optional<std::size_t> label_of(const Sniffed& s) {
  constexpr std::array names = {"label",  "labels",    "target", "gold_label", "class", "category",
                                "intent", "sentiment", "score",  "rating",     "y"};
  if (const auto found = named(s.columns, names)) return found;
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < s.columns.size(); ++i) {
    const ColumnFacts& c = s.columns[i];
    const auto distinct = static_cast<std::int64_t>(c.values.size());
    if (c.many_values || distinct < 2 || distinct * kFewPerValue > s.rows) continue;
    if (!best || c.values.size() < s.columns[*best].values.size()) best = i;
  }
  return best;
}

void find_roles(Sniffed& s) {
  s.label = label_of(s);
  constexpr std::array pairs = {std::pair{"sentence1", "sentence2"}, std::pair{"premise", "hypothesis"},
                                std::pair{"question1", "question2"}, std::pair{"text_a", "text_b"},
                                std::pair{"text1", "text2"},         std::pair{"question", "sentence"},
                                std::pair{"question", "answer"},     std::pair{"query", "passage"}};
  for (const auto& [first, second] : pairs) {
    const auto a = named(s.columns, std::array{first}), b = named(s.columns, std::array{second});
    if (!a || !b) continue;
    s.text = a;
    s.text_pair = b;
    break;
  }
  constexpr std::array texts = {"text",    "sentence",  "review", "content",
                                "comment", "utterance", "body",   "title"};
  if (!s.text) s.text = named(s.columns, texts);
  for (std::size_t i = 0; !s.text && i < s.columns.size(); ++i) {
    const auto longer = [&](const ColumnFacts& c) {
      return c.mean_characters > s.columns[i].mean_characters;
    };
    if (i != s.label && std::ranges::none_of(s.columns, longer)) s.text = i;
  }
  if (s.label == s.text) s.label.reset();
  if (!s.label) return;
  const ColumnFacts& label = s.columns[*s.label];
  s.regression = label.numbers == s.rows && label.whole_numbers < s.rows;
}

}  // namespace

Sniffed sniff(const std::filesystem::path& file) {
  Sniffed out;
  const std::vector<std::string> lines = first_lines(file);
  if (!is_utf8(file)) out.table.encoding = "windows-1252";
  const std::string extension = lower_extension(file);
  if (extension != ".jsonl" && extension != ".json") {
    const char delimiter = delimiter_of(lines);
    const bool usual = (extension == ".csv" && delimiter == ',') ||
                       ((extension == ".tsv" || extension == ".txt") && delimiter == '\t') || delimiter == 0;
    const bool known = extension == ".csv" || extension == ".tsv" || extension == ".txt";
    // A .tsv is what it says: commas in its texts are not to be counted.
    if ((!usual && extension != ".tsv") || !known)
      out.table.delimiter = std::string(1, delimiter ? delimiter : '\t');
  }
  out.format = table_format(file, out.table);
  read_columns(file, out);
  find_roles(out);
  return out;
}

}  // namespace shoal::data
