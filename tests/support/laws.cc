// The laws themselves. op.h says how an op comes under them.
#include <algorithm>
#include <cfloat>
#include <cmath>
#include <functional>

#include "tests/support/op.h"

namespace shoal::test {
namespace {

std::vector<Job> make_jobs(const LawParam& p) {
  std::vector<Job> jobs;
  for (const JobShape& shape : p.scene.jobs) jobs.push_back(p.op->job(shape, p.dtype));
  return jobs;
}

struct Deviation {
  double max = 0;
  double l2 = 0;
};

// Difference of two results; where NaN is wanted, NaN is no difference.
Deviation difference(const std::vector<double>& got, const std::vector<double>& want) {
  Deviation e;
  for (std::size_t i = 0; i < want.size(); ++i) {
    if (std::isnan(want[i]) && std::isnan(got[i])) continue;
    double d = std::abs(got[i] - want[i]);
    if (std::isinf(want[i]) && got[i] == want[i]) d = 0;
    if (std::isnan(d)) d = INFINITY;
    e.max = std::max(e.max, d);
    e.l2 += d * d;
  }
  e.l2 = std::sqrt(e.l2);
  return e;
}

Deviation size_of_values(const std::vector<double>& v) {
  Deviation e;
  for (const double x : v) {
    if (!std::isfinite(x)) continue;
    e.max = std::max(e.max, std::abs(x));
    e.l2 += x * x;
  }
  e.l2 = std::sqrt(e.l2);
  return e;
}

std::string first_difference(const Bits& got, const Bits& want) {
  if (got.size() != want.size()) return "other outputs";
  for (const auto& [name, bytes] : want) {
    const std::vector<std::byte>& other = got.at(name);
    if (other.size() != bytes.size()) return name + ": another size";
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      if (other[i] != bytes[i]) return fmt::format("{}: byte {} of {}", name, i, bytes.size());
    }
  }
  return "";
}

}  // namespace

void run(Lane& lane, Device& device, const Op& op) {
  const Stream stream = device.make_stream();
  lane.upload();
  op.launch(lane, device.ops(), stream);
  device.synchronize(stream);
  device.release(stream);
  lane.download();
}

// Beside AddressSanitizer the simt device is ten times slower: there it is asked for its bounds, in small
// cases and one order of threads. The other build has all of it.
#if defined(__SANITIZE_ADDRESS__)
constexpr bool kBoundsAlone = true;
#else
constexpr bool kBoundsAlone = false;
#endif

// A device that does not offer a dtype has nothing to be tested: said aloud, never passed over.
#define SHOAL_NEEDS_DTYPE(p)                                                           \
  if (!make_device((p).device)->supports((p).dtype)) {                                 \
    GTEST_SKIP() << (p).device << " does not offer " << name_of((p).dtype) << " here"; \
  }

TEST_P(OpLaws, AgreesWithDouble) {
  const LawParam& p = GetParam();
  SHOAL_NEEDS_DTYPE(p);
  const auto device = make_device(p.device);
  Lane lane(*device, make_jobs(p));
  run(lane, *device, *p.op);
  for (int w = 0; w < lane.W(); ++w) {
    if (lane.job(w).shape.nan) continue;
    const Expected exact = p.op->exact(lane.job(w)), plain = p.op->plain(lane.job(w));
    for (const auto& [name, own] : lane.bits(w)) {
      SCOPED_TRACE(fmt::format("entry {}, {}", w, name));
      const auto want = exact.values.find(name);
      if (want == exact.values.end()) {
        EXPECT_TRUE(lane.unchanged(w, name));
        continue;
      }
      const std::vector<double> got = lane.values(w, name);
      ASSERT_EQ(got.size(), want->second.size());
      const Deviation error = difference(got, want->second);
      const Deviation allowed = difference(plain.values.at(name), want->second);
      const Deviation size = size_of_values(want->second);
      const double cuts = p.device == "cpu" ? 0 : p.op->tensor_core_slack(name);
      const double slack = (p.op->slack(name) + cuts) * FLT_EPSILON;
      const double terms = exact.terms.at(name), root = std::sqrt(static_cast<double>(got.size()));
      EXPECT_LE(error.max, 2 * allowed.max + slack * std::max(size.max, terms));
      EXPECT_LE(error.l2, 2 * allowed.l2 + slack * std::max(size.l2, terms * root));
    }
  }
}

TEST_P(OpLaws, StaysInsideItsFences) {
  const LawParam& p = GetParam();
  SHOAL_NEEDS_DTYPE(p);
  const auto device = make_device(p.device);
  for (const int gap_blocks : {0, 2}) {
    Lane lane(*device, make_jobs(p), {.gap_blocks = gap_blocks});
    run(lane, *device, *p.op);
    EXPECT_EQ(lane.damage(), "");
  }
}

TEST_P(OpLaws, RepeatsItsBits) {
  const LawParam& p = GetParam();
  SHOAL_NEEDS_DTYPE(p);
  const auto device = make_device(p.device);
  Lane lane(*device, make_jobs(p));
  run(lane, *device, *p.op);
  const std::vector<std::byte> once = lane.memory();
  run(lane, *device, *p.op);
  EXPECT_TRUE(once == lane.memory());
}

// Threads, blocks and streams of the simt device in other orders: nothing else may change.
TEST_P(OpOrders, KeepItsBits) {
  if (kBoundsAlone) GTEST_SKIP() << "the build without AddressSanitizer runs simt in other orders";
  const LawParam& p = GetParam();
  std::vector<Bits> in_order;
  for (const std::uint64_t seed : {0, 1, 2, 3, 4}) {
    const auto device = make_device(p.device, {.seed = seed});
    Lane lane(*device, make_jobs(p));
    run(lane, *device, *p.op);
    EXPECT_EQ(lane.damage(), "") << "seed " << seed;
    for (int w = 0; w < lane.W(); ++w) {
      if (seed == 0) in_order.push_back(lane.bits(w));
      EXPECT_EQ(first_difference(lane.bits(w), in_order[static_cast<std::size_t>(w)]), "")
          << "seed " << seed << ", entry " << w;
    }
  }
}

// The bits of a job alone (W = 1, R = 1) are its bits in every company.
class Isolation {
 public:
  explicit Isolation(const LawParam& p) : p_(p), device_(make_device(p.device)), jobs_(make_jobs(p)) {
    for (const Job& job : jobs_) {
      Lane lane(*device_, {job}, {.spare_slots = 0, .spare_sequences = 0});
      run(lane, *device_, *p_.op);
      alone_.push_back(lane.bits(0));
    }
  }

  // Runs the jobs of `order` together; entry w is compared if same[w].
  void compare(Device& device, const std::vector<Job>& company, const std::vector<int>& who,
               const LaneOptions& options, const std::string& what) {
    Lane lane(device, company, options);
    run(lane, device, *p_.op);
    for (int w = 0; w < lane.W(); ++w) {
      if (who[static_cast<std::size_t>(w)] < 0) continue;
      EXPECT_EQ(
          first_difference(lane.bits(w), alone_[static_cast<std::size_t>(who[static_cast<std::size_t>(w)])]),
          "")
          << what << ", entry " << w << " of " << lane.W();
    }
  }

  // Every job in every place of the lane.
  void rotations() {
    const std::size_t n = jobs_.size();
    for (std::size_t r = 0; r < n; ++r) {
      std::vector<Job> company;
      std::vector<int> who;
      for (std::size_t w = 0; w < n; ++w) {
        who.push_back(static_cast<int>((w + r) % n));
        company.push_back(jobs_[(w + r) % n]);
      }
      const int turn = static_cast<int>(r);
      compare(*device_, company, who,
              {.spare_slots = turn, .rotation = turn, .gap_blocks = turn % 2, .reverse_lists = turn % 2 == 1},
              fmt::format("rotated by {}", r));
    }
  }

  // One job amid others made by `change` of its own shape.
  void neighbours(const std::string& what, const std::function<void(JobShape&)>& change) {
    for (std::size_t j = 0; j < jobs_.size(); ++j) {
      JobShape other = p_.scene.jobs[j];
      other.seed += 77;
      change(other);
      const Job neighbour = p_.op->job(other, p_.dtype);
      compare(*device_, {neighbour, jobs_[j], neighbour}, {-1, static_cast<int>(j), -1}, {.gap_blocks = 1},
              fmt::format("job {} between {} neighbours", j, what));
    }
  }

  void threads() {
    std::vector<int> who;
    for (std::size_t j = 0; j < jobs_.size(); ++j) who.push_back(static_cast<int>(j));
    for (const int n : {1, 2, 16}) {
      const auto device = make_device(p_.device, {.threads = n});
      compare(*device, jobs_, who, {}, fmt::format("{} threads", n));
    }
  }

  // One copy of the parameters for all slots has the bits of a copy each.
  void shared_parameters() {
    std::vector<Job> company;
    for (std::size_t j = 0; j < jobs_.size(); ++j) {
      JobShape shape = p_.scene.jobs[j];
      shape.param_seed = 4711;
      shape.labels = p_.scene.jobs[0].labels;
      company.push_back(p_.op->job(shape, p_.dtype));
    }
    Lane own(*device_, company), shared(*device_, company, {.share_params = true});
    run(own, *device_, *p_.op);
    run(shared, *device_, *p_.op);
    for (int w = 0; w < own.W(); ++w) {
      EXPECT_EQ(first_difference(shared.bits(w), own.bits(w)), "") << "shared parameters, entry " << w;
    }
  }

 private:
  const LawParam& p_;
  std::unique_ptr<Device> device_;
  std::vector<Job> jobs_;
  std::vector<Bits> alone_;
};

TEST_P(OpLaws, IsolatesItsSlots) {
  const LawParam& p = GetParam();
  if (kBoundsAlone && p.device == "simt") GTEST_SKIP() << "the build without AddressSanitizer isolates simt";
  SHOAL_NEEDS_DTYPE(p);
  Isolation law(p);
  law.rotations();
  law.neighbours("idle", [](JobShape& s) {
    s.lengths = {};
    s.updates = false;
  });
  law.neighbours("NaN", [](JobShape& s) { s.nan = true; });
  law.neighbours("longer", [](JobShape& s) {
    s.lengths.push_back(140);
    s.lengths.push_back(3);
    s.labels = 150;
    s.drop = 0.5;
    s.mode = GradMode::kAdd;
  });
  if (p.op->shares_parameters()) law.shared_parameters();
  if (p.device == "cpu") law.threads();
}

std::vector<std::string> test_devices() {
  std::vector<std::string> devices{"cpu", "simt"};
  if (why_no_device("cuda").empty()) devices.push_back("cuda");
  return devices;
}

std::vector<Case> standard_cases() {
  const auto job = [](std::vector<int> lengths, std::uint64_t seed, GradMode mode = GradMode::kSet) {
    JobShape s;
    s.lengths = std::move(lengths);
    s.seed = seed;
    s.mode = mode;
    s.labels = 2 + static_cast<int>(seed % 5);
    return s;
  };
  std::vector<Case> cases{
      {"one_row", {job({1}, 1)}},
      {"around_128", {job({127}, 2), job({100, 28}, 3, GradMode::kAdd), job({65, 64}, 4, GradMode::kSkip)}},
      {"ragged", {job({5, 3}, 5, GradMode::kAdd), job({}, 6), job({1}, 7), job({0, 17, 0, 2}, 8)}},
      // Case 58: sequences of lengths 0, 1, 512 beside an idle slot.
      {"long", {job({0, 1, 512}, 9), job({}, 10, GradMode::kAdd), job({33, 64, 65}, 11, GradMode::kAdd)}},
      {"large", {job({40, 9}, 12), job({77}, 13)}},
  };
  for (JobShape& s : cases.back().jobs) {
    s.scale = 64;
    s.offset = 100;
  }
  return cases;
}

std::vector<LawParam> law_params(const std::vector<OpCases>& ops, const std::vector<std::string>& devices) {
  std::vector<LawParam> params;
  for (const std::string& device : devices) {
    for (const DType dtype : {DType::kF32, DType::kBF16}) {
      if (device != "cpu" && dtype == DType::kF32) continue;  // the CUDA kernels are bf16
      for (const OpCases& o : ops) {
        for (const Case& scene : o.cases) {
          if (kBoundsAlone && device == "simt" && scene.name == "bert_base") continue;
          params.push_back({device, dtype, o.op, scene});
        }
      }
    }
  }
  return params;
}

std::string law_name(const testing::TestParamInfo<LawParam>& info) {
  const LawParam& p = info.param;
  return fmt::format("{}_{}_{}_{}", p.device, name_of(p.dtype), p.op->label(), p.scene.name);
}

}  // namespace shoal::test
