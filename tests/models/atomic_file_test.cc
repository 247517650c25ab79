// Files appear whole or not at all.
#include "data/atomic_file.h"

#include <sys/resource.h>

#include <csignal>
#include <stdexcept>

#include "tests/models/support.h"

namespace shoal::models {
namespace {

using data::Append;
using data::write_atomically;

TEST(AtomicFile, WritesAndReplaces) {
  const TempFolder folder;
  write_atomically(folder / "a.txt", "first");
  write_atomically(folder / "a.txt", [](const Append& append) {
    append("sec");
    append("ond");
  });
  EXPECT_EQ(read_file(folder / "a.txt"), "second");
  EXPECT_EQ(folder.names(), std::vector<std::string>{"a.txt"});
}

TEST(AtomicFile, FailureOfTheWriterLeavesTheOldFile) {
  const TempFolder folder;
  write_atomically(folder / "a.txt", "old");
  EXPECT_THROW(write_atomically(folder / "a.txt",
                                [](const Append& append) {
                                  append("half of the n");
                                  throw std::runtime_error("stop");
                                }),
               std::runtime_error);
  EXPECT_EQ(read_file(folder / "a.txt"), "old");
  EXPECT_EQ(folder.names(), std::vector<std::string>{"a.txt"});
}

TEST(AtomicFile, NoRoomIsAnErrorThatNamesTheFile) {
  const TempFolder folder;
  write_atomically(folder / "a.txt", "old");
  // A limit on the file's size stands for the full disk: write() fails in the same place.
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{4096, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  const std::string error = error_of([&] { write_atomically(folder / "a.txt", std::string(100000, 'x')); });
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  EXPECT_EQ(error, (folder / "a.txt").string() + ": error: cannot write the file: File too large");
  EXPECT_EQ(read_file(folder / "a.txt"), "old");
  EXPECT_EQ(folder.names(), std::vector<std::string>{"a.txt"});
}

TEST(AtomicFile, NoFolderIsAnError) {
  const TempFolder folder;
  const std::filesystem::path file = folder.path() / "missing" / "a.txt";
  EXPECT_EQ(error_of([&] { write_atomically(file, "x"); }),
            file.string() + ": error: cannot create the file: No such file or directory");
}

}  // namespace
}  // namespace shoal::models
