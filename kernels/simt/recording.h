// What a capture has recorded: pieces of work, and which of them each must follow.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace shoal::simt {

struct StreamState;

// Pinned memory.
struct HostRange {
  std::byte* begin = nullptr;
  std::size_t bytes = 0;

  bool overlaps(const HostRange& other) const {
    return begin < other.begin + other.bytes && other.begin < begin + bytes;
  }
};

struct Work {
  std::function<void()> run;
  std::vector<HostRange> reads;  // of copies, and of graphs that hold some
  std::vector<HostRange> writes;
};

struct Recording {
  struct Piece {
    Work work;
    std::vector<int> follows;
    int stream = 0;
  };

  std::thread::id thread;  // that captures
  std::string fault;       // why it has failed, if it has
  bool ended = false;
  std::vector<Piece> pieces;
  std::vector<std::shared_ptr<StreamState>> streams;  // that take part; pieces may point to them

  // Fails the capture: `why` is told when it ends.
  void spoil(std::string why) {
    if (fault.empty()) fault = std::move(why);
  }

  // A piece that none of `last` follows, not even by way of others; -1: there is none.
  int unjoined(const std::vector<int>& last) const {
    std::vector<char> joined(pieces.size());
    for (const int i : last) joined[static_cast<std::size_t>(i)] = 1;
    for (std::size_t i = pieces.size(); i-- > 0;) {
      if (joined[i] == 0) return static_cast<int>(i);
      for (const int before : pieces[i].follows) joined[static_cast<std::size_t>(before)] = 1;
    }
    return -1;
  }
};

}  // namespace shoal::simt
