// Rows of text in, a Dataset out, tokenised by several threads.
//
// Rows are gathered into blocks of some megabytes; while the threads tokenise one, the caller reads the
// next. Each block is cut into runs of rows, each run becomes a small Dataset, and these are appended in
// order: the result is the same for any number of threads. Memory: the tokens, and two blocks of text.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "data/build_dataset.h"
#include "data/dataset.h"
#include "data/tokenizer.h"

namespace shoal::data {

class RowTokenizer {
 public:
  // Lays rows out, and cuts them, as `options` say. `threads` 0: one for each core.
  RowTokenizer(const BertTokenizer& tokenizer, const DatasetOptions& options, int threads = 0);
  ~RowTokenizer();
  RowTokenizer(const RowTokenizer&) = delete;
  RowTokenizer& operator=(const RowTokenizer&) = delete;

  // `second` is used where the options have a second text. The texts are copied.
  void add(std::string_view first, std::string_view second, std::int32_t label, std::int64_t line);
  // Of the row added last, in a regression.
  void add_target(float target) { set_.target.push_back(target); }

  Dataset finish(const std::filesystem::path& file);

 private:
  struct Row {
    std::size_t first = 0, second = 0, end = 0;  // where the texts begin and end in Block::text
    std::int32_t label = 0;
    std::int64_t line = 0;
  };
  struct Block {
    std::string text;
    std::vector<Row> rows;
    std::vector<Dataset> runs;
    std::atomic<std::size_t> next = 0;  // the first run that no thread has taken
    std::exception_ptr error;
    std::atomic<bool> failed = false;
  };

  void start_block();
  void finish_block();
  void tokenize_runs();

  const BertTokenizer& tokenizer_;
  bool pair_;
  std::size_t budget_ = 0;  // tokens of a row without the added ones
  std::size_t threads_;
  Block filling_, working_;
  std::vector<std::jthread> workers_;  // on working_
  Dataset set_;
};

}  // namespace shoal::data
