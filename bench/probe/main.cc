// shoal_probe: measures on the GPU at hand what Shoal's design rests on, in under four minutes.
//   shoal_probe [RESULTS.json] [--only PART]... [--cublaslt LIBRARY]
//   shoal_probe --plan [--json]      what would run; needs no GPU
// Exit: 0 all parts done, 1 some failed or were stopped (the rest is written), 2 no GPU, 3 wrong arguments.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "bench/probe/session.h"

namespace {

using namespace shoal::probe;

struct Arguments {
  std::string results, cublaslt;
  std::vector<std::string> only;
  bool plan = false, json = false;
};

const std::map<std::string, PartFunction>& functions() {
  static const std::map<std::string, PartFunction> table{
      {"device", run_device},   {"rounding", run_rounding},   {"launch", run_launch},
      {"ceiling", run_ceiling}, {"bandwidth", run_bandwidth}, {"gelu", run_gelu},
      {"update", run_update},   {"cublaslt", run_cublaslt},   {"span", run_span}};
  return table;
}

bool parse(int count, char** words, Arguments& arguments) {
  for (int i = 1; i < count; ++i) {
    const std::string word = words[i];
    if (word == "--plan") {
      arguments.plan = true;
    } else if (word == "--json") {
      arguments.json = true;
    } else if (word == "--only" && i + 1 < count && functions().count(words[i + 1]) != 0) {
      arguments.only.push_back(words[++i]);
    } else if (word == "--cublaslt" && i + 1 < count) {
      arguments.cublaslt = words[++i];
    } else if (word.rfind("--", 0) == 0 || !arguments.results.empty()) {
      return false;
    } else {
      arguments.results = word;
    }
  }
  return true;
}

// The device part always runs: its line says whose numbers these are, or that there are none.
bool wanted(const Arguments& arguments, const std::string& part) {
  return part == "device" || arguments.only.empty() ||
         std::find(arguments.only.begin(), arguments.only.end(), part) != arguments.only.end();
}

bool write_results(const std::string& path, const std::string& text) {
  std::FILE* file = std::fopen(path.c_str(), "w");
  bool written = file != nullptr && std::fwrite(text.data(), 1, text.size(), file) == text.size();
  if (file != nullptr) written = std::fclose(file) == 0 && written;
  if (!written) std::fprintf(stderr, "cannot write %s\n", path.c_str());
  return written;
}

int measure(const Arguments& arguments) {
  const auto begin = std::chrono::steady_clock::now();
  const auto elapsed = [begin] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  };
  Session session;
  bool written = true;
  for (const PlannedPart& part : plan()) {
    if (!wanted(arguments, part.name)) continue;
    std::printf("%s (up to %.0f s)\n", part.name.c_str(), part.seconds);
    std::fflush(stdout);
    const double whole_left = kWholeRunSeconds - elapsed();
    PartReport report;
    if (whole_left < 1) {
      report.outcome = Outcome::kStopped;
      report.reason = "no time was left for it";
    } else {
      report = run_apart(functions().at(part.name), std::min(part.seconds, whole_left - kGraceSeconds),
                         std::min(part.seconds + kGraceSeconds, whole_left), arguments.cublaslt,
                         [](const Measure& m) {
                           std::printf("%s\n", table_line(m).c_str());
                           std::fflush(stdout);
                         });
    }
    if (report.outcome == Outcome::kNoGpu) {
      std::printf("no GPU: nothing measured (%s)\n", report.reason.c_str());
      return 2;
    }
    session.add(part, report);
    const auto missing = Session::missing(part, report, session.hopper());
    std::printf("  %s after %.1f s%s%s", outcome_word(report.outcome), report.seconds,
                report.reason.empty() ? "" : ": ", report.reason.c_str());
    if (!missing.empty())
      std::printf("; %zu lines missing, first %s", missing.size(), missing.front().c_str());
    std::printf("\n");
    // After every part: whatever ends this process later, what was measured is on the disk.
    if (!arguments.results.empty()) written = write_results(arguments.results, session.json(elapsed()));
  }
  std::printf("%.0f s in all\n", elapsed());
  return session.whole() && written ? 0 : 1;
}

}  // namespace

int main(int count, char** words) {
  Arguments arguments;
  if (!parse(count, words, arguments)) {
    std::fprintf(
        stderr,
        "usage: shoal_probe [RESULTS.json] [--only PART]... [--cublaslt LIBRARY] | --plan [--json]\nparts:");
    for (const PlannedPart& part : plan()) std::fprintf(stderr, " %s", part.name.c_str());
    std::fprintf(stderr, "\n");
    return 3;
  }
  if (arguments.plan) {
    std::fputs(arguments.json ? plan_json().c_str() : plan_table().c_str(), stdout);
    return 0;
  }
  try {
    return measure(arguments);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "shoal_probe: %s\n", e.what());
    return 1;
  }
}
