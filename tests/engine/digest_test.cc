// SHA-256 of files: the answers of FIPS 180-4's own examples.
#include "engine/digest.h"

#include <gtest/gtest.h>

#include <fstream>

#include "kernels/base/error.h"
#include "tests/engine/toy_fleet.h"

namespace shoal::engine {
namespace {

TEST(Digest, IsSha256) {
  const TemporaryFolder folder;
  std::ofstream(folder / "abc") << "abc";
  std::ofstream(folder / "empty");
  std::ofstream(folder / "million") << std::string(1000000, 'a');  // just short of one read
  EXPECT_EQ(sha256_of(folder / "abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256_of(folder / "empty"), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256_of(folder / "million"),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
  EXPECT_THROW(sha256_of(folder / "none"), Error);
}

}  // namespace
}  // namespace shoal::engine
