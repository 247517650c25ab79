// fuzz_readers TARGET EXECUTIONS [SEED]: runs mutations of the target's seeds, the same ones for the same
// SEED. Any compiler will do; there is no guidance by coverage, but inputs that are read without an Error are
// mutated further. fuzz_readers --seeds FOLDER writes the seeds, a folder a target, for libFuzzer.
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <random>

#include "kernels/base/error.h"
#include "tests/fuzz/target.h"

namespace shoal::fuzz {
namespace {

constexpr std::size_t kMostBytes = 4096, kMostKept = 500;

class Mutator {
 public:
  explicit Mutator(std::uint64_t seed) : random_(seed) {}

  std::size_t below(std::size_t n) { return n == 0 ? 0 : random_() % n; }

  std::string mutated(std::string text, const std::string& other) {
    for (std::size_t left = 1 + below(4); left > 0; --left) mutate(text, other);
    if (text.size() > kMostBytes) text.resize(kMostBytes);
    return text;
  }

 private:
  void mutate(std::string& text, const std::string& other) {
    static const char* const parts[] = {"\"",         "\n",
                                        "\r\n",       "\t",
                                        ",",          "\\",
                                        "{",          "}",
                                        "[",          "]",
                                        "'",          ":",
                                        "null",       "0",
                                        "-1",         "1e99",
                                        "true",       "\\u0000",
                                        "##",         "é",
                                        "\xff",       "\xef\xbb\xbf",
                                        "=",          ".",
                                        "4294967296", "9223372036854775807",
                                        "[SEP]",      "{fold}",
                                        "[[",         "]]"};
    const std::size_t at = below(text.size() + 1);
    const std::size_t size = below(std::min<std::size_t>(text.size() - at, 32) + 1);
    switch (below(7)) {
      case 0:
        if (at < text.size()) text[at] = static_cast<char>(text[at] ^ (1 << below(8)));
        break;
      case 1:
        text.insert(at, 1, static_cast<char>(random_()));
        break;
      case 2:
        text.erase(at, size);
        break;
      case 3:
        text.insert(at, std::string(text, below(text.size() + 1), size + 1));
        break;
      case 4:
        text.insert(at, parts[below(std::size(parts))]);
        break;
      case 5:
        text = text.substr(0, at) + other.substr(below(other.size() + 1));
        break;
      default:
        text.replace(at, size, parts[below(std::size(parts))]);
        break;
    }
  }

  std::mt19937_64 random_;
};

int run(const Target& target, long executions, std::uint64_t seed) {
  Mutator mutator(seed);
  std::vector<std::string> kept = target.seeds;
  long read = 0;
  for (long i = 0; i < executions; ++i) {
    const std::string input =
        static_cast<std::size_t>(i) < target.seeds.size()
            ? target.seeds[static_cast<std::size_t>(i)]
            : mutator.mutated(kept[mutator.below(kept.size())], kept[mutator.below(kept.size())]);
    try {
      target.run(input);
      ++read;
      if (kept.size() < kMostKept)
        kept.push_back(input);
      else if (mutator.below(10) == 0)
        kept[target.seeds.size() + mutator.below(kMostKept - target.seeds.size())] = input;
    } catch (const Error&) {
      // a right answer
    } catch (const std::exception& error) {
      const std::string name = "fuzz-" + target.name + ".input";
      std::ofstream(name, std::ios::binary) << input;
      fmt::print(stderr, "{}: execution {} of seed {}: {}; the input is in {}\n", target.name, i, seed,
                 error.what(), name);
      return 1;
    }
  }
  fmt::print("{}: {} executions, {} of them read without an error\n", target.name, executions, read);
  return 0;
}

void write_seeds(const std::filesystem::path& folder) {
  for (const Target& target : all_targets()) {
    std::filesystem::create_directories(folder / target.name);
    for (std::size_t i = 0; i < target.seeds.size(); ++i)
      std::ofstream(folder / target.name / fmt::format("seed-{}", i), std::ios::binary) << target.seeds[i];
  }
}

}  // namespace
}  // namespace shoal::fuzz

int main(int count, char** arguments) {
  using namespace shoal::fuzz;
  if (count == 3 && std::string_view(arguments[1]) == "--seeds") {
    write_seeds(arguments[2]);
    return 0;
  }
  for (const Target& target : all_targets()) {
    if (count >= 3 && target.name == arguments[1])
      return run(target, std::atol(arguments[2]), count > 3 ? std::strtoull(arguments[3], nullptr, 10) : 1);
  }
  fmt::print(stderr, "usage: fuzz_readers TARGET EXECUTIONS [SEED], or --seeds FOLDER; targets:");
  for (const Target& target : all_targets()) fmt::print(stderr, " {}", target.name);
  fmt::print(stderr, "\n");
  return 2;
}
