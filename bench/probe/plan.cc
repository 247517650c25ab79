#include "bench/probe/plan.h"

#include <cstdio>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "bench/probe/gemm_roles.h"

namespace shoal::probe {
namespace {

constexpr double kMillion = 1e6;

PlannedPart device_part() {
  PlannedPart p{"device", 15, {}};
  p.lines.push_back({"device", "", "name, SMs, clocks as found, L2, memory, driver, power cap"});
  for (const char* way : {"h2d", "d2h"}) {
    for (const char* memory : {"pinned", "pageable"}) {
      const std::string name = std::string("transfer.") + way + "." + memory;
      p.lines.push_back({name, "GB/s", "one copy of 256 MiB, host buffers rotated", double(size::kTransfer)});
    }
    p.lines.push_back({std::string("transfer.") + way + ".pinned.step_block", "us", "one copy of 1 MiB",
                       double(size::kStepBlock)});
  }
  return p;
}

PlannedPart rounding_part() {
  PlannedPart p{"rounding", 30, {}};
  for (const char* unit : {"mma_sync", "wgmma"}) {
    for (const char* data : {"normal", "wide", "cancelling", "zero_c"}) {
      for (const int k : {16, 768}) {
        const int problems = k == 16 ? size::kSingleStepProblems : size::kEdgeProblems;
        char what[120];
        std::snprintf(what, sizeof what, "%d dot products of K=%d: bits that differ from the model",
                      problems * 64 * 256, k);
        p.lines.push_back({std::string("rounding.") + unit + "." + data + ".k" + std::to_string(k), "differ",
                           what, 0, 2.0 * k * problems * 64 * 256, std::string(unit) == "wgmma"});
      }
    }
  }
  p.lines.push_back({"rounding.mma_sync_against_wgmma", "differ",
                     "the same products by both instructions, all data", 0, 0, true});
  return p;
}

PlannedPart launch_part() {
  PlannedPart p{"launch", 12, {}};
  for (const char* grid : {"one_block", "full_grid"}) {
    p.lines.push_back(
        {std::string("launch.edge.plain.") + grid, "us", "per kernel of a chain of 200 in a graph"});
    p.lines.push_back({std::string("launch.edge.programmatic.") + grid, "us",
                       "the same with programmatic dependent launch", 0, 0, true});
  }
  p.lines.push_back({"launch.stream", "us", "per launch without a graph, device side, 200 in a row"});
  p.lines.push_back({"launch.stream.host", "us", "per launch without a graph, what the host spends"});
  p.lines.push_back({"launch.graph.host", "us", "per launch of a whole graph of 200, what the host spends"});
  p.lines.push_back({"launch.empty_block.exit", "ns", "per block of 256 threads that ends at once"});
  p.lines.push_back({"launch.empty_block.count", "ns", "the same after reading a work list's count"});
  return p;
}

PlannedPart bandwidth_part() {
  const double stream = double(size::kStream);
  PlannedPart p{"bandwidth", 12, {}};
  p.lines.push_back(
      {"bandwidth.copy", "GB/s", "1 GiB to 1 GiB, 16 bytes a thread, bytes read plus written", 2 * stream});
  p.lines.push_back({"bandwidth.memcpy", "GB/s", "the same by cudaMemcpyAsync", 2 * stream});
  p.lines.push_back({"bandwidth.read", "GB/s", "1 GiB read and summed", stream});
  p.lines.push_back({"bandwidth.write", "GB/s", "1 GiB written", stream});
  return p;
}

PlannedPart ceiling_part() {
  PlannedPart p{"ceiling", 12, {}};
  p.lines.push_back({"ceiling.mma_sync", "TFLOP/s", "m16n8k16 bf16, operands in registers"});
  p.lines.push_back({"ceiling.wgmma", "TFLOP/s", "m64n256k16 bf16, operands in shared memory", 0, 0, true});
  return p;
}

PlannedPart gelu_part() {
  const double rows = size::kGeluTokens, C = size::kHidden, F = size::kFeedForward;
  PlannedPart p{"gelu", 25, {}};
  for (const char* unit : {"mma_sync", "wgmma"}) {
    const bool hopper = std::string(unit) == "wgmma";
    p.lines.push_back({std::string("gelu.") + unit + ".exposed", "%",
                       "erf-GELU of a tile with K=768, all warps at once, of the main loop", 0, 0, hopper});
    p.lines.push_back({std::string("gelu.") + unit + ".hidden", "%",
                       "the same while the other half multiplies", 0, 0, hopper});
  }
  for (const char* epilogue : {"store_u", "store_u_u", "store_u_gelu"}) {
    for (const char* blocks : {"one_block", "two_blocks"}) {
      p.lines.push_back({std::string("gelu.gemm.") + epilogue + "." + blocks, "TFLOP/s",
                         "16384 x 3072 x 768, own mma.sync GEMM, blocks an SM", 0, 2 * rows * C * F});
    }
  }
  p.lines.push_back({"gelu.separate", "GB/s", "u read, gelu(u) written, 16384 x 3072 bf16", 4 * rows * F});
  return p;
}

PlannedPart update_part() {
  PlannedPart p{"update", 30, {}};
  const double row = double(size::kBertBaseRow);
  for (const int bytes : {28, 30, 34}) {
    for (const char* share : {"all", "half", "fifth"}) {
      p.lines.push_back({update_name(bytes, share), "GB/s",
                         "AdamW-like pass over one BERT-base row, share of the SMs", bytes * row});
    }
  }
  for (const char* share : {"shared", "all", "half", "fifth"}) {
    p.lines.push_back({update_name(30, share) + ".beside_gemm", "%",
                       "time of both together, of the two alone in turn (100 = nothing gained)", 30 * row});
  }
  return p;
}

PlannedPart cublaslt_part() {
  PlannedPart p{"cublaslt", 75, {}};
  for (const int tokens : kTokenBuckets) {
    for (const GemmRole& role : bert_base_roles()) {
      for (const int batch : kBatches) {
        p.lines.push_back({lt_speed_name(role.name(), tokens, batch), "TFLOP/s",
                           "the algorithm pinned at batch 1; details: the free choice", 0,
                           column_major(role, tokens).flops(batch)});
      }
      p.lines.push_back({lt_batch_bits_name(role.name(), tokens), "differ",
                         "words of replica 0 that change with batch 4, 16 and random, NaN, idle neighbours"});
    }
  }
  for (const GemmRole& role : bert_base_roles()) {
    p.lines.push_back({lt_bucket_bits_name(role.name()), "differ",
                       "words of replica 0's 200 live rows that change over the buckets"});
  }
  return p;
}

PlannedPart span_part() {
  const double elements = double(size::kBertBaseRow) * size::kSpanRows;
  PlannedPart p{"span", 15, {}};
  p.lines.push_back(
      {"span.cast", "GB/s", "f32 to bf16 over 24 BERT-base rows, every element checked", 6 * elements});
  p.lines.push_back({"span.cublaslt", "differ",
                     "words of replica 23 that differ from it alone, weight stride of a whole row"});
  return p;
}

}  // namespace

std::string lt_speed_name(const std::string& role, int tokens, int batch) {
  return "cublaslt." + role + ".t" + std::to_string(tokens) + ".w" + std::to_string(batch);
}
std::string lt_batch_bits_name(const std::string& role, int tokens) {
  return "cublaslt.bits_over_batch." + role + ".t" + std::to_string(tokens);
}
std::string lt_bucket_bits_name(const std::string& role) {
  return "cublaslt.bits_over_buckets." + role;
}
std::string update_name(int bytes_per_parameter, const std::string& share) {
  return "update.b" + std::to_string(bytes_per_parameter) + "." + share;
}

std::vector<PlannedPart> plan() {
  return {device_part(), rounding_part(), launch_part(),   bandwidth_part(), ceiling_part(),
          gelu_part(),   update_part(),   cublaslt_part(), span_part()};
}

const PlannedPart& planned_part(const std::string& name) {
  static const std::vector<PlannedPart> parts = plan();
  for (const PlannedPart& part : parts) {
    if (part.name == name) return part;
  }
  throw std::runtime_error("no part is named " + name);
}

std::string plan_json() {
  using Json = nlohmann::ordered_json;
  Json parts = Json::array();
  for (const PlannedPart& part : plan()) {
    Json lines = Json::array();
    for (const PlannedLine& line : part.lines) {
      lines.push_back({{"name", line.name},
                       {"unit", line.unit},
                       {"what", line.what},
                       {"bytes", line.bytes},
                       {"flops", line.flops},
                       {"needs_compute_90", line.hopper}});
    }
    parts.push_back({{"name", part.name}, {"budget_s", part.seconds}, {"lines", std::move(lines)}});
  }
  return Json{{"format", "shoal-probe-plan-1"}, {"total_s", kWholeRunSeconds}, {"parts", std::move(parts)}}
             .dump(1) +
         "\n";
}

std::string plan_table() {
  std::string table;
  char text[320];
  for (const PlannedPart& part : plan()) {
    std::snprintf(text, sizeof text, "%s: %.0f s, %zu lines\n", part.name.c_str(), part.seconds,
                  part.lines.size());
    table += text;
    for (const PlannedLine& line : part.lines) {
      std::snprintf(text, sizeof text, "  %-46s %-8s %9.0f MB %10.0f MFLOP  %s%s\n", line.name.c_str(),
                    line.unit.c_str(), line.bytes / kMillion, line.flops / kMillion,
                    line.hopper ? "[9.0] " : "", line.what.c_str());
      table += text;
    }
  }
  std::snprintf(text, sizeof text, "the whole run ends by itself after %.0f s\n", kWholeRunSeconds);
  return table + text;
}

}  // namespace shoal::probe
