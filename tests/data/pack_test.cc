#include "data/pack.h"

#include <algorithm>
#include <numeric>

#include "tests/data/support.h"

namespace shoal::data {
namespace {

// Rows of the given lengths; ids 100 * row + place, the second text starts at half.
Dataset rows_of(const std::vector<int>& lengths) {
  Dataset set;
  set.begin.push_back(0);
  for (std::size_t r = 0; r < lengths.size(); ++r) {
    for (int i = 0; i < lengths[r]; ++i) set.tokens.push_back(static_cast<std::int32_t>(100 * r) + i);
    set.second.push_back(set.begin.back() + (lengths[r] + 1) / 2);
    set.begin.push_back(static_cast<std::int64_t>(set.tokens.size()));
    set.label.push_back(static_cast<std::int32_t>(r) + 50);
    set.line.push_back(static_cast<std::int64_t>(r) + 1);
  }
  return set;
}

std::vector<std::int32_t> first_rows(std::size_t count) {
  std::vector<std::int32_t> rows(count);
  std::iota(rows.begin(), rows.end(), 0);
  return rows;
}

using Ends = std::vector<std::size_t>;

TEST(CutWindow, GreedyByRowsAndTokens) {
  const Dataset set = rows_of({4, 4, 4, 8, 1, 7, 1});
  const std::vector<std::int32_t> rows = first_rows(7);
  EXPECT_EQ(cut_window(set, rows, 100, 8), (Ends{2, 3, 4, 6, 7}));
  EXPECT_EQ(cut_window(set, rows, 2, 100), (Ends{2, 4, 6, 7}));
  EXPECT_EQ(cut_window(set, rows, 100, 100), Ends{7});
  EXPECT_EQ(cut_window(set, {}, 1, 8), Ends{});
  EXPECT_EQ(error_of(TempFolder(), [&] { cut_window(set, rows, 2, 7); }),
            "cut_window: row 3 has 8 tokens, micro_tokens is 7");
}

struct Room {
  explicit Room(std::size_t tokens, std::size_t sequences)
      : ids(tokens, -9),
        types(tokens, -9),
        positions(tokens, -9),
        cu(sequences + 1, -9),
        labels(sequences, -9),
        targets(sequences, -9),
        first(sequences, -9) {}
  PackedSlot slot() { return {ids, types, positions, cu, labels, targets, first}; }
  std::vector<std::int32_t> ids, types, positions, cu, labels;
  std::vector<float> targets;
  std::vector<std::int32_t> first;
};

TEST(Pack, LaysRowsEndToEndAndPads) {
  const Dataset set = rows_of({3, 5, 0, 2});
  Room room(256, 256);
  const std::vector<std::int32_t> rows = {3, 2, 0};
  const PackedCounts counts = pack(set, rows, room.slot());
  EXPECT_EQ(counts.tokens, 5);
  EXPECT_EQ(counts.sequences, 3);
  const auto head = [](const std::vector<std::int32_t>& v, std::size_t n) {
    return std::vector<std::int32_t>(v.begin(), v.begin() + static_cast<std::ptrdiff_t>(n));
  };
  using V = std::vector<std::int32_t>;
  EXPECT_EQ(head(room.ids, 7), (V{300, 301, 0, 1, 2, 0, 0}));
  EXPECT_EQ(head(room.types, 7), (V{0, 1, 0, 0, 1, 0, 0}));
  EXPECT_EQ(head(room.positions, 7), (V{0, 1, 0, 1, 2, 0, 0}));
  EXPECT_EQ(head(room.cu, 6), (V{0, 2, 2, 5, 5, 5}));
  EXPECT_EQ(room.cu.back(), 5) << "cu is filled to its end";
  EXPECT_EQ(head(room.labels, 5), (V{53, 52, 50, -1, -1}));
  EXPECT_EQ(head(room.first, 5), (V{0, 2, 2, 0, 0}));
  EXPECT_EQ(room.targets[0], 0) << "of no regression";
  for (const auto* v : {&room.ids, &room.types, &room.positions, &room.labels, &room.first}) {
    EXPECT_NE((*v)[127], -9) << "padded to 128";
    EXPECT_EQ((*v)[128], -9) << "and not beyond";
  }
}

TEST(Pack, CarriesTheTargetsOfARegression) {
  Dataset set = rows_of({3, 5, 2});
  set.target = {0.5f, -1.5f, 4};
  Room room(256, 256);
  const std::vector<std::int32_t> rows = {2, 0};
  pack(set, rows, room.slot());
  EXPECT_EQ(std::vector<float>(room.targets.begin(), room.targets.begin() + 3),
            (std::vector<float>{4, 0.5f, 0}));
  EXPECT_EQ(room.targets[127], 0);
  EXPECT_EQ(room.targets[128], -9);
}

TEST(Pack, NothingToPack) {
  Room room(0, 0);
  const PackedCounts counts = pack(rows_of({3}), {}, room.slot());
  EXPECT_EQ(counts.tokens, 0);
  EXPECT_EQ(counts.sequences, 0);
  EXPECT_EQ(room.cu, std::vector<std::int32_t>{0});
}

TEST(Pack, RefusesWhatDoesNotFit) {
  const Dataset set = rows_of(std::vector<int>(130, 1));
  const std::vector<std::int32_t> rows = first_rows(130);
  Room tokens(128, 256), sequences(256, 128);
  EXPECT_EQ(error_of(TempFolder(), [&] { pack(set, rows, tokens.slot()); }),
            "pack: ids has room for 128, wanted 256");
  EXPECT_EQ(error_of(TempFolder(), [&] { pack(set, rows, sequences.slot()); }),
            "pack: cu has room for 129, wanted 131");
}

TEST(SeqItems, EachNonEmptySequenceInTheListOfItsLength) {
  const std::vector<std::int32_t> lengths = {32, 33, 64, 65, 128, 129, 0, 1};
  std::vector<std::int32_t> cu = {0};
  for (const std::int32_t n : lengths) cu.push_back(cu.back() + n);
  std::vector<SeqItem> room[Seqs::kLists];
  std::span<SeqItem> lists[Seqs::kLists];
  std::int32_t count[Seqs::kLists] = {1, 0, 0, 0};
  for (int i = 0; i < Seqs::kLists; ++i) {
    room[i].resize(4);
    lists[i] = room[i];
  }
  append_seq_items(5, cu, static_cast<std::int32_t>(lengths.size()), lists, count);
  const std::vector<std::vector<int>> wanted = {{0, 7}, {1, 2}, {3, 4}, {5}};
  for (int i = 0; i < Seqs::kLists; ++i) {
    const std::size_t start = i == 0 ? 1 : 0;
    ASSERT_EQ(static_cast<std::size_t>(count[i]), start + wanted[static_cast<std::size_t>(i)].size()) << i;
    for (std::size_t k = 0; k < wanted[static_cast<std::size_t>(i)].size(); ++k) {
      EXPECT_EQ(room[i][start + k].w, 5);
      EXPECT_EQ(room[i][start + k].seq, wanted[static_cast<std::size_t>(i)][k]);
    }
  }
}

TEST(SortById, AscendingByIdThenRowInChunks) {
  std::vector<std::int32_t> ids;
  for (int i = 0; i < 3000; ++i) ids.push_back(i % 7 == 0 ? 101 : (i * 7919) % 30522);
  ids[17] = 2047;
  ids[18] = 2048;
  ids[19] = 5000000;  // more than two digits of the sort
  std::vector<std::int32_t> order(ids.size(), -1), wanted(ids.size());
  std::vector<IdChunk> chunks(ids.size());
  const auto tokens = static_cast<std::int32_t>(ids.size());
  const std::int32_t count = sort_by_id(ids, tokens, order, chunks);
  std::iota(wanted.begin(), wanted.end(), 0);
  std::ranges::stable_sort(wanted, {}, [&](std::int32_t row) { return ids[static_cast<std::size_t>(row)]; });
  EXPECT_EQ(order, wanted);
  std::int32_t at = 0;
  for (std::int32_t c = 0; c < count; ++c) {
    const IdChunk& chunk = chunks[static_cast<std::size_t>(c)];
    EXPECT_EQ(chunk.begin, at);
    EXPECT_LE(chunk.end - chunk.begin, kIdChunk);
    for (; at < chunk.end; ++at)
      EXPECT_EQ(ids[static_cast<std::size_t>(order[static_cast<std::size_t>(at)])], chunk.id);
    if (c > 0 && chunks[static_cast<std::size_t>(c) - 1].id == chunk.id) {
      EXPECT_EQ(chunk.begin - chunks[static_cast<std::size_t>(c) - 1].begin, kIdChunk)
          << "all but the last are full";
    }
  }
  EXPECT_EQ(at, tokens);
  EXPECT_EQ(sort_by_id(ids, 0, order, chunks), 0);
}

}  // namespace
}  // namespace shoal::data
