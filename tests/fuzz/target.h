// What is fuzzed: one function for each kind of file that a user may hand in. It is given arbitrary bytes
// and may throw shoal::Error, nothing else; address and undefined behaviour sanitizers look on, and what was
// read is held against what the reader promises (CHECK-like throws of std::logic_error).
//
// Two drivers run them: plain_driver.cc (mutations of the seeds, any compiler; a short run is part of
// ctest) and libfuzzer.cc (guided by coverage, clang; cmake -DSHOAL_FUZZ=ON, see CMakeLists.txt).
#pragma once

#include <filesystem>
#include <functional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace shoal::fuzz {

struct Target {
  std::string name;
  std::function<void(std::string_view)> run;
  std::vector<std::string> seeds;
};

std::vector<Target> table_targets();      // csv, tsv, jsonl
std::vector<Target> tokenizer_targets();  // vocab_txt, tokenizer_json, token_cache
std::vector<Target> model_targets();      // config_json, safetensors
std::vector<Target> fleet_targets();      // fleet_file

std::vector<Target> all_targets();

// Calls target.run; an Error is a right answer.
void run_target(const Target& target, std::string_view input);

// A broken promise.
inline void promise(bool kept, const char* what) {
  if (!kept) throw std::logic_error(what);
}

// A file NAME with these bytes, in a folder of this process that goes when it ends. Written in memory
// where there is /dev/shm.
std::filesystem::path input_file(const std::string& name, std::string_view bytes);

}  // namespace shoal::fuzz
