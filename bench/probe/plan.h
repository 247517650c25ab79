// What a run of the probe consists of: its parts in order, each with its slice of time, and the lines that
// each part promises. The same list drives `shoal_probe`, which names the lines that did not come, and
// `shoal_probe --plan`, which needs no GPU. Order: what fails soonest and costs least comes first.
#pragma once

#include <string>
#include <vector>

namespace shoal::probe {

struct PlannedLine {
  std::string name, unit;
  std::string what;     // size and form, in words
  double bytes = 0;     // device memory traffic of one call, 0 where it does not bound the line
  double flops = 0;     // of one call
  bool hopper = false;  // needs compute capability 9.0
};

struct PlannedPart {
  std::string name;
  double seconds;  // its slice; the runner stops it a little later by force
  std::vector<PlannedLine> lines;
};

constexpr double kWholeRunSeconds = 230;
// Grace between a part's slice, which it watches itself, and its end by force.
constexpr double kGraceSeconds = 4;

// Sizes that parts and plan share.
namespace size {
constexpr long long kBertBaseRow = 109'482'240;  // parameters of one BERT-base trunk (CUDA_NOTES 1.1)
constexpr int kSpanRows = 24;                    // 24 rows pass 2^31 elements
constexpr long long kStream = 1LL << 30;         // bytes of one buffer of the bandwidth lines
constexpr long long kTransfer = 256LL << 20;     // bytes of one large copy between host and device
constexpr long long kStepBlock = 1LL << 20;      // bytes of one small copy: about a step's block
constexpr int kGeluTokens = 16384;               // rows of the GEMM whose epilogue is GELU
constexpr int kHidden = 768, kFeedForward = 3072;
constexpr int kGraphNodes = 200;  // kernels of one measured graph
constexpr int kEmptyBlocks = 1 << 20;
constexpr int kEdgeProblems = 2;        // 64 x 256 outputs each, K = 768
constexpr int kSingleStepProblems = 8;  // the same, K = 16
constexpr int kLiveTokens = 200;        // live rows where buckets are compared
}  // namespace size

std::vector<PlannedPart> plan();
const PlannedPart& planned_part(const std::string& name);
std::string plan_json();
std::string plan_table();

// The names that parts build from a shape.
std::string lt_speed_name(const std::string& role, int tokens, int batch);
std::string lt_batch_bits_name(const std::string& role, int tokens);
std::string lt_bucket_bits_name(const std::string& role);
std::string update_name(int bytes_per_parameter, const std::string& share);

}  // namespace shoal::probe
