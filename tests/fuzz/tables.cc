// CSV, TSV and JSONL. The first byte of the input chooses encoding, its errors and the header.
#include "data/build_dataset.h"
#include "data/table.h"
#include "data/utf8.h"
#include "tests/fuzz/target.h"

namespace shoal::fuzz {
namespace {

void read_table(const std::string& name, std::string_view input) {
  if (input.empty()) return;
  const auto choice = static_cast<unsigned char>(input[0]);
  static const char* const encodings[] = {"utf-8", "latin-1", "utf-16", "gb18030", "iso-2022-jp", "utf-8"};
  static const char* const errors[] = {"strict", "replace", "ignore"};
  data::TableOptions options;
  options.encoding = encodings[choice % 6];
  options.encoding_errors = errors[choice / 6 % 3];
  options.header = choice < 128;
  const std::filesystem::path file = input_file(name, input.substr(1));
  const std::vector<std::string> columns = data::table_columns(file, options);
  if (columns.empty()) return;
  const bool by_name = options.header || name.ends_with(".jsonl");
  const auto wanted = [&](std::size_t i) {
    return by_name ? data::Column::named(columns[i]) : data::Column::numbered(static_cast<int>(i) + 1);
  };
  const auto reader = data::open_table(file, {wanted(0), wanted(columns.size() - 1)}, options);
  std::int64_t line = 0;
  for (data::TableRow row; reader->next(row);) {
    promise(row.cells.size() == 2, "a cell for each wanted column");
    promise(row.line > line, "lines ascend");
    line = row.line;
    for (const std::string_view cell : row.cells)
      promise(data::first_invalid_utf8(cell) == cell.size(), "cells are UTF-8");
  }
  data::read_labels(file, {.table = options, .columns = {.label = wanted(0)}});
}

std::vector<std::string> with_choices(const std::vector<std::string>& texts) {
  std::vector<std::string> seeds;
  for (const std::string& text : texts) {
    for (const char choice : {'\0', '\1', '\6', '\x0c', '\x80', '\2', '\3', '\4'})
      seeds.push_back(choice + text);
  }
  return seeds;
}

}  // namespace

std::vector<Target> table_targets() {
  const std::string utf16(
      "\xff\xfe"
      "a\0\t\0b\0\n\0\x3d\xd8\x00\xde\t\0"
      "1\0\n\0",
      20);
  return {
      {"csv", [](std::string_view input) { read_table("f.csv", input); },
       with_choices({"text,label\n\"a, b\nc \"\"d\"\"\",1\r\n\"\",0\r\n", "a\n\n\"\"\nb",
                     "\xef\xbb\xbfx,y\nnull,\" \"\n", "a,b\n\"open,1\n", "a,b\nx\"y,1\n\"z\"w,2\n",
                     "caf\xe9,x\n1,2\n"})},
      {"tsv", [](std::string_view input) { read_table("f.tsv", input); },
       with_choices({"text\tlabel\n\"two\t1\nthree\t0\nfour \"x\"\t1\n", "a\n\nb\r\n", "a\tb\nx\n",
                     "a\xc2\x85z\xe2\x80\xa8\tb\n1\t2\n", "\xd6\xd0\t\x94\x39\xfc\x36\n\x1b$B$+\x1b(B\t1\n",
                     utf16})},
      {"jsonl", [](std::string_view input) { read_table("f.jsonl", input); },
       with_choices({"{\"text\":\"a\",\"label\":1}\n\n{\"text\":\"b\",\"label\":\"1\"}\n{\"label\":0}\n[1]\n",
                     "{\"text\":\"\\ud83d\\ude00\",\"label\":true}\r\n{\"text\":-1.5e3,\"label\":null}\n",
                     "{\"a\":{\"b\":[1,2,{}]},\"c\":\"\\u0000\\ud800\"}\n", "[[[[[[[[{\"a\":1}]]]]]]]]\n"})},
  };
}

}  // namespace shoal::fuzz
