// Each detector of the simt device finds the bug that is planted for it, under every order of threads.
#include <gtest/gtest.h>

#include <cstring>
#include <set>
#include <string>
#include <vector>

#include "kernels/base/error.h"
#include "kernels/device.h"
#include "tests/simt/planted.h"

namespace shoal::test {
namespace {

#if defined(__SANITIZE_ADDRESS__)
constexpr bool kWatchedByAsan = true;
#else
constexpr bool kWatchedByAsan = false;
#endif

constexpr int kSeeds = 5;

class Plants {
 public:
  explicit Plants(std::uint64_t seed) : device_(make_device("simt", {.seed = seed})), host_(512, 1.0f) {
    for (std::size_t i = 0; i < host_.size(); ++i) host_[i] = 1.0f / static_cast<float>(i + 1);
    stream_ = device_->make_stream();
    args_.in = static_cast<float*>(device_->allocate(Memory::kDevice, 512 * sizeof(float)));
    args_.out = static_cast<float*>(device_->allocate(Memory::kDevice, 512 * sizeof(float)));
    args_.host = host_.data();
    device_->copy(const_cast<float*>(args_.in), host_.data(), 512 * sizeof(float), stream_);
    device_->synchronize(stream_);
  }
  ~Plants() {
    device_->release(stream_);
    device_->release(Memory::kDevice, const_cast<float*>(args_.in));
    device_->release(Memory::kDevice, args_.out);
  }

  // What the device says of it, or "".
  std::string run(Plant plant) {
    args_.plant = plant;
    try {
      run_planted(args_, stream_);
      device_->synchronize(stream_);
    } catch (const Error& e) {
      return e.what();
    }
    return "";
  }

  std::vector<float> results() {
    std::vector<float> out(kPlantedBlocks * kPlantedThreads);
    device_->copy(out.data(), args_.out, out.size() * sizeof(float), stream_);
    device_->synchronize(stream_);
    return out;
  }

 private:
  std::unique_ptr<Device> device_;
  Stream stream_;
  std::vector<float> host_;
  PlantedArgs args_;
};

struct Expectation {
  Plant plant;
  const char* says;
  bool by_instrumented_accesses = false;  // AddressSanitizer's build does not see it
};

void PrintTo(const Expectation& e, std::ostream* out) {
  *out << e.says;
}

class Detectors : public testing::TestWithParam<Expectation> {};

TEST_P(Detectors, FindThePlantedBug) {
  const Expectation& e = GetParam();
  if (e.by_instrumented_accesses && kWatchedByAsan) {
    GTEST_SKIP() << "loads and stores are not instrumented beside AddressSanitizer";
  }
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    Plants plants(seed);
    const std::string said = plants.run(e.plant);
    EXPECT_NE(said.find("simt: planted: block ("), std::string::npos) << said;
    EXPECT_NE(said.find(e.says), std::string::npos) << said;
    EXPECT_EQ(plants.run(Plant::kNothing), "") << "the device is of no use after an error";
  }
}

INSTANTIATE_TEST_SUITE_P(
    simt, Detectors,
    testing::Values(
        Expectation{Plant::kBarrierAtTwoPlaces, "divergent barrier: thread 0 waits at planted.cu:"},
        Expectation{Plant::kBarrierAfterAnEnd, "thread 5 has ended"},
        Expectation{Plant::kBarrierHalfReached, "divergent barrier: thread 0 waits at planted.cu:"},
        Expectation{Plant::kShuffleHalfReached, "divergent collective: "},
        Expectation{Plant::kShuffleAtTwoPlaces, "divergent collective: "},
        Expectation{Plant::kShuffleOutsideOfItsMask, "is not in the mask 0xffff of its __shfl_sync at "},
        Expectation{Plant::kShuffleFromOutsideOfItsMask,
                    "shuffles from lane 20, which is not in the mask 0xffff"},
        Expectation{Plant::kMmaHalfReached, "mma at "},
        Expectation{Plant::kReductionWithoutSyncwarp, "race in shared memory: ", true},
        Expectation{Plant::kReadWithoutBarrier, "shared memory", true},
        Expectation{Plant::kOverwriteWithoutBarrier, "race in shared memory: ", true},
        Expectation{Plant::kReadUnwritten, "reads shared memory that nobody wrote", true},
        Expectation{Plant::kBeyondShared, "beyond the block's shared memory", true},
        Expectation{Plant::kTwoStaticObjects, "two static objects in shared memory"},
        Expectation{Plant::kWaitTooWeak, "reads what cp.async has not brought: waited for too weakly", true},
        Expectation{Plant::kNoBarrierAfterWait, "shared memory", true},
        Expectation{Plant::kCopyOverARead, "race in shared memory: ", true},
        Expectation{Plant::kWriteOverACopy, "writes where a cp.async is in flight", true},
        Expectation{Plant::kCopyLeftInFlight, "ends with 2 cp.async in flight"},
        Expectation{Plant::kCopyMisaligned, "cp.async of an address that is not a multiple of 16 at "},
        Expectation{Plant::kCopyNotFromDevice, "cp.async from outside of device memory at "},
        Expectation{Plant::kMatrixMisaligned, "ldmatrix from an address not a multiple of 16 at "},
        Expectation{Plant::kMatrixNotShared, "ldmatrix from outside of shared memory at "},
        Expectation{Plant::kReadBeyond, "reads 4 bytes out of bounds of device memory", true},
        Expectation{Plant::kReadBefore, "thread 100 reads 4 bytes ", true},
        Expectation{Plant::kWriteBeyond, "writes 4 bytes out of bounds of device memory", true},
        Expectation{Plant::kReadHost, "reads 4 bytes of host memory", true},
        Expectation{Plant::kWriteArgument, "writes 4 bytes of host memory", true},
        Expectation{Plant::kBlocksWriteTheSame, "written by block (", true},
        Expectation{Plant::kBlockReadsAnothersWrite, " block (", true},
        Expectation{Plant::kDeviceCheck,
                    "thread 77: a.plant != Plant::kDeviceCheck || i != 77 is false at "}),
    [](const auto& plant) { return "plant" + std::to_string(static_cast<int>(plant.param.plant)); });

TEST(simt, FindsNothingWhereNothingIsWrong) {
  std::vector<float> first;
  for (std::uint64_t seed = 0; seed < 2 * kSeeds; ++seed) {
    Plants plants(seed);
    ASSERT_EQ(plants.run(Plant::kNothing), "") << "seed " << seed;
    const std::vector<float> got = plants.results();
    if (seed == 0) first = got;
    EXPECT_EQ(std::memcmp(got.data(), first.data(), got.size() * sizeof(float)), 0) << "seed " << seed;
  }
}

// No detector sees this one: the seeds do.
TEST(simt, AnotherOrderGivesAnotherResultWhereTheOrderDecides) {
  std::set<float> results;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    Plants plants(seed);
    ASSERT_EQ(plants.run(Plant::kLastThreadWins), "");
    results.insert(plants.results()[0]);
  }
  EXPECT_GT(results.size(), 1u);
}

#if defined(__SANITIZE_ADDRESS__)
TEST(simt, AddressSanitizerFindsWhatIsOutOfBounds) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  for (const Plant plant : {Plant::kReadBeyond, Plant::kWriteBeyond, Plant::kBeyondShared}) {
    EXPECT_DEATH(
        {
          Plants plants(0);
          plants.run(plant);
        },
        "AddressSanitizer");
  }
}
#endif

}  // namespace
}  // namespace shoal::test
