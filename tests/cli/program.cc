#include "tests/cli/program.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace shoal::cli {
namespace {

std::string read(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

}  // namespace

Program::Program(std::filesystem::path folder, std::vector<std::string> arguments)
    : folder_(std::move(folder)) {
  arguments.insert(arguments.begin(), SHOAL_PROGRAM);
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  const std::string out = folder_ / "stdout", err = folder_ / "stderr";
  process_ = ::fork();
  if (process_ < 0) throw std::runtime_error("fork");
  if (process_ == 0) {
    // Only calls that are safe between fork and exec.
    const int out_file = ::open(out.c_str(), O_CREAT | O_TRUNC | O_WRONLY, 0600);
    const int err_file = ::open(err.c_str(), O_CREAT | O_TRUNC | O_WRONLY, 0600);
    if (::chdir(folder_.c_str()) != 0 || ::dup2(out_file, 1) < 0 || ::dup2(err_file, 2) < 0) ::_exit(99);
    ::execv(argv[0], argv.data());
    ::_exit(99);
  }
}

Outcome Program::wait() {
  int status = 0;
  ::waitpid(process_, &status, 0);
  return {.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status),
          .out = read(folder_ / "stdout"),
          .err = read(folder_ / "stderr")};
}

void Program::signal(int number) const {
  ::kill(process_, number);
}

std::string Program::out_so_far() const {
  return read(folder_ / "stdout");
}

Outcome run_program(const std::filesystem::path& folder, std::vector<std::string> arguments) {
  return Program(folder, std::move(arguments)).wait();
}

}  // namespace shoal::cli
