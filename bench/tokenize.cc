// Seconds that tokenising takes: tokenize VOCAB cased|uncased FILE THREADS... prints a JSON line for each
// number of threads, best of five: {"threads": 1, "rows": ..., "tokens": ..., "seconds": ...}. Each line of
// FILE is a row. bench/peers/tokenize_speed.py runs it beside the `tokenizers` library.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "data/line_reader.h"
#include "data/tokenize_rows.h"
#include "kernels/base/error.h"

namespace {

using Clock = std::chrono::steady_clock;

int run(int count, char** arguments) {
  using namespace shoal::data;
  shoal::require(count >= 5, "usage: tokenize VOCAB cased|uncased FILE THREADS...");
  const BertTokenizer tokenizer(Vocabulary::read(arguments[1]),
                                {.do_lower_case = std::string(arguments[2]) == "uncased"});
  std::vector<std::string> lines;
  LineReader reader(arguments[3]);
  for (std::string_view line; reader.next(line);) lines.emplace_back(line);
  DatasetOptions options;
  options.max_seq_length = 512;
  for (int i = 4; i < count; ++i) {
    const int threads = std::atoi(arguments[i]);
    double best = 1e30;
    std::int64_t tokens = 0;
    for (int repeat = 0; repeat < 5; ++repeat) {
      const auto start = Clock::now();
      RowTokenizer rows(tokenizer, options, threads);
      for (const std::string& line : lines) rows.add(line, {}, -1, 0);
      tokens = rows.finish({}).stats.pieces;
      best = std::min(best, std::chrono::duration<double>(Clock::now() - start).count());
    }
    fmt::print("{{\"threads\": {}, \"rows\": {}, \"tokens\": {}, \"seconds\": {:.4f}}}\n", threads,
               lines.size(), tokens, best);
  }
  return 0;
}

}  // namespace

int main(int count, char** arguments) {
  try {
    return run(count, arguments);
  } catch (const std::exception& error) {
    fmt::print(stderr, "tokenize: {}\n", error.what());
    return 1;
  }
}
