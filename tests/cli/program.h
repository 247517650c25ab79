// Runs the program as a shell would, in a folder of its own.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <vector>

namespace shoal::cli {

struct Outcome {
  int code = -1;  // exit code; 128 + signal where it was killed
  std::string out, err;
};

class Program {
 public:
  // `folder`: where it runs and where its output is kept.
  Program(std::filesystem::path folder, std::vector<std::string> arguments);

  Outcome wait();
  void signal(int number) const;
  std::string out_so_far() const;

 private:
  std::filesystem::path folder_;
  pid_t process_ = -1;
};

Outcome run_program(const std::filesystem::path& folder, std::vector<std::string> arguments);

}  // namespace shoal::cli
