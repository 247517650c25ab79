// cost() is what the kernels do: on the simt device every byte and every tensor-core product is counted.
#include <gtest/gtest.h>

#include "kernels/simt/device.h"
#include "tests/support/op.h"

namespace shoal::test {
namespace {

constexpr std::int64_t kFlopsOfMma = 2 * 16 * 8 * 16;

// What the contracts leave out: the lane's own tables (slot, row0, live, modes, seeds, sequences), a few
// numbers an entry.
constexpr std::int64_t kTables = 4096;

// A table whose ops sum up their costs before they run.
struct Metered {
  const OpTable* inner = nullptr;
  Cost total;
  std::int64_t squared_lengths = 0;
};
Metered metered;

template <typename Args>
Cost cost_of(const Args& a) {
  if constexpr (requires { cost(a); }) {
    return cost(a);
  } else {
    return cost(a, metered.squared_lengths);
  }
}

OpTable metered_table() {
  OpTable table;
#define SHOAL_OP(function, Args)                      \
  table.function = [](const Args& a, Stream stream) { \
    const Cost c = cost_of(a);                        \
    metered.total.bytes_read += c.bytes_read;         \
    metered.total.bytes_written += c.bytes_written;   \
    metered.total.flops += c.flops;                   \
    metered.total.product_flops += c.product_flops;   \
    metered.inner->function(a, stream);               \
  };
#include "kernels/ops.def"
#undef SHOAL_OP
  return table;
}

// All rows live, in tokens and in heads: what cost() is of.
std::vector<Job> full_jobs(const Op& op) {
  std::vector<Job> jobs;
  for (const int length : {2, 1}) {
    JobShape shape;
    shape.lengths = std::vector<int>(kRowAlign, length);
    shape.labels = 3;
    shape.mode = GradMode::kAdd;
    shape.seed = static_cast<std::uint64_t>(30 + length);
    jobs.push_back(op.job(shape, DType::kBF16));
  }
  return jobs;
}

}  // namespace

TEST_P(OpCosts, AreWhatTheKernelsMoveAndMultiply) {
#if defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "loads and stores are not counted beside AddressSanitizer";
#endif
  const Op& op = *GetParam().op;
  const auto device = make_device("simt");
  Lane lane(*device, full_jobs(op), {.spare_slots = 0, .spare_sequences = 0});
  const Stream stream = device->make_stream();
  lane.upload();
  device->synchronize(stream);
  simt::settings_of(*device).counters = {};
  metered = {&device->ops(), {}, kRowAlign * (4 + 1)};
  op.launch(lane, metered_table(), stream);
  device->synchronize(stream);
  device->release(stream);
  const simt::Counters& counted = simt::settings_of(*device).counters;
  const Cost& said = metered.total;
  EXPECT_LE(counted.first_read_bytes, said.bytes_read + kTables);
  EXPECT_LE(counted.first_written_bytes, said.bytes_written + kTables);
  if (said.product_flops > 0) {
    EXPECT_EQ(counted.mma * kFlopsOfMma, said.product_flops);
  }
  RecordProperty("read_bytes", fmt::format("{} of {}, {} with repeats", counted.first_read_bytes,
                                           said.bytes_read, counted.read_bytes));
}

std::vector<CostParam> cost_params(const std::vector<OpCases>& ops) {
  std::vector<CostParam> params;
  for (const OpCases& o : ops) {
    const auto same = [&](const CostParam& p) { return p.op->label() == o.op->label(); };
    if (std::none_of(params.begin(), params.end(), same)) params.push_back({o.op});
  }
  return params;
}

std::string cost_name(const testing::TestParamInfo<CostParam>& info) {
  return info.param.op->label();
}

}  // namespace shoal::test
