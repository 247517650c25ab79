#include "data/pack.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "kernels/base/error.h"

namespace shoal::data {
namespace {

constexpr int kDigitBits = 11;
constexpr std::size_t kDigits = std::size_t{1} << kDigitBits;

void want_room(const char* what, std::size_t room, std::int64_t wanted) {
  require(static_cast<std::int64_t>(room) >= wanted, "pack: {} has room for {}, wanted {}", what, room,
          wanted);
}

}  // namespace

std::vector<std::size_t> cut_window(const Dataset& dataset, std::span<const std::int32_t> rows,
                                    std::int64_t max_rows, std::int64_t micro_tokens) {
  require(max_rows > 0, "cut_window: max_rows is {}, wanted > 0", max_rows);
  std::vector<std::size_t> ends;
  std::int64_t count = 0, tokens = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::int64_t length = dataset.length(rows[i]);
    require(length <= micro_tokens, "cut_window: row {} has {} tokens, micro_tokens is {}", rows[i], length,
            micro_tokens);
    if (count > 0 && (count == max_rows || tokens + length > micro_tokens)) {
      ends.push_back(i);
      count = tokens = 0;
    }
    ++count;
    tokens += length;
  }
  if (count > 0) ends.push_back(rows.size());
  return ends;
}

PackedCounts pack(const Dataset& dataset, std::span<const std::int32_t> rows, const PackedSlot& to) {
  const std::int64_t tokens = dataset.length(rows);
  const auto sequences = static_cast<std::int64_t>(rows.size());
  want_room("ids", to.ids.size(), ceil128(tokens));
  want_room("types", to.types.size(), ceil128(tokens));
  want_room("positions", to.positions.size(), ceil128(tokens));
  want_room("cu", to.cu.size(), sequences + 1);
  want_room("labels", to.labels.size(), ceil128(sequences));
  want_room("targets", to.targets.size(), ceil128(sequences));
  want_room("first", to.first.size(), ceil128(sequences));

  std::size_t at = 0;
  for (std::size_t b = 0; b < rows.size(); ++b) {
    const auto row = static_cast<std::size_t>(rows[b]);
    const auto length = static_cast<std::size_t>(dataset.length(rows[b]));
    const auto first_text = static_cast<std::size_t>(dataset.second[row] - dataset.begin[row]);
    std::copy_n(dataset.tokens.begin() + dataset.begin[row], length, to.ids.begin() + at);
    std::fill_n(to.types.begin() + at, first_text, 0);
    std::fill_n(to.types.begin() + at + first_text, length - first_text, 1);
    std::iota(to.positions.begin() + at, to.positions.begin() + at + length, 0);
    to.cu[b] = to.first[b] = static_cast<std::int32_t>(at);
    to.labels[b] = dataset.label[row];
    to.targets[b] = dataset.target.empty() ? 0.0f : dataset.target[row];
    at += length;
  }
  const auto padded_tokens = static_cast<std::size_t>(ceil128(tokens));
  const auto padded_sequences = static_cast<std::size_t>(ceil128(sequences));
  for (const auto& span : {to.ids, to.types, to.positions}) {
    std::fill(span.begin() + at, span.begin() + padded_tokens, 0);
  }
  std::fill(to.cu.begin() + sequences, to.cu.end(), static_cast<std::int32_t>(tokens));
  std::fill(to.labels.begin() + sequences, to.labels.begin() + padded_sequences, -1);
  std::fill(to.targets.begin() + sequences, to.targets.begin() + padded_sequences, 0.0f);
  std::fill(to.first.begin() + sequences, to.first.begin() + padded_sequences, 0);
  return {static_cast<std::int32_t>(tokens), static_cast<std::int32_t>(sequences)};
}

void append_seq_items(int w, std::span<const std::int32_t> cu, std::int32_t sequences,
                      std::span<SeqItem> lists[Seqs::kLists], std::int32_t count[Seqs::kLists]) {
  for (std::int32_t b = 0; b < sequences; ++b) {
    const auto at = static_cast<std::size_t>(b);
    const std::int32_t length = cu[at + 1] - cu[at];
    if (length == 0) continue;
    const int list = seq_list_of(length);
    const auto place = static_cast<std::size_t>(count[list]++);
    SHOAL_CHECK(place < lists[list].size());
    lists[list][place] = {w, b};
  }
}

// A stable counting sort, digit by digit from the lowest: equal ids stay in ascending rows. Two passes
// for any real vocabulary.
std::int32_t sort_by_id(std::span<const std::int32_t> ids, std::int32_t tokens, std::span<std::int32_t> order,
                        std::span<IdChunk> chunks) {
  const auto n = static_cast<std::size_t>(tokens);
  require(ids.size() >= n && order.size() >= n && chunks.size() >= n, "sort_by_id: no room for {} tokens",
          tokens);
  if (n == 0) return 0;
  thread_local std::vector<std::int32_t> before;
  std::iota(order.begin(), order.begin() + tokens, 0);
  const std::int32_t largest = *std::max_element(ids.begin(), ids.begin() + tokens);
  for (int shift = 0; shift == 0 || (shift < 31 && largest >> shift != 0); shift += kDigitBits) {
    const auto digit = [&](std::int32_t row) {
      return static_cast<std::size_t>(ids[static_cast<std::size_t>(row)] >> shift) & (kDigits - 1);
    };
    before.assign(order.begin(), order.begin() + tokens);
    std::array<std::int32_t, kDigits> place{};
    for (const std::int32_t row : before) ++place[digit(row)];
    std::exclusive_scan(place.begin(), place.end(), place.begin(), 0);
    for (const std::int32_t row : before) order[static_cast<std::size_t>(place[digit(row)]++)] = row;
  }

  std::int32_t count = 0;
  for (std::int32_t begin = 0, end = 0; begin < tokens; begin = end) {
    const auto id_at = [&](std::int32_t i) {
      return ids[static_cast<std::size_t>(order[static_cast<std::size_t>(i)])];
    };
    const std::int32_t id = id_at(begin);
    for (end = begin + 1; end < tokens && end - begin < kIdChunk && id_at(end) == id;) ++end;
    chunks[static_cast<std::size_t>(count++)] = {id, begin, end};
  }
  return count;
}

}  // namespace shoal::data
