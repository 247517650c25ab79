#include "bench/probe/runner.h"

#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>

namespace shoal::probe {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

// A line starts with M for a measure or with the letter of the outcome and its reason.
void write_line(int pipe, char kind, std::string text) {
  for (char& c : text) {
    if (c == '\n') c = ' ';
  }
  text = kind + text + "\n";
  std::size_t done = 0;
  while (done < text.size()) {
    const ssize_t n = write(pipe, text.data() + done, text.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) _exit(1);  // the parent is gone
    done += static_cast<std::size_t>(n);
  }
}

[[noreturn]] void child(const PartFunction& part, double slice, const std::string& cublaslt_path, int pipe) {
  PartContext context(slice, cublaslt_path, [pipe](const Measure& m) { write_line(pipe, 'M', to_json(m)); });
  try {
    part(context);
    write_line(pipe, 'D', "");
  } catch (const OutOfTime& e) {
    write_line(pipe, 'S', e.what());
  } catch (const NoGpu& e) {
    write_line(pipe, 'N', e.what());
  } catch (const std::exception& e) {
    write_line(pipe, 'F', e.what());
  }
  _exit(0);  // no destructors of statics: a broken CUDA context must not be able to hang the end
}

// A process killed inside the driver can take long to end: the other parts do not wait for it.
bool wait_a_while(pid_t pid, int* status) {
  for (int i = 0; i < 300; ++i) {
    const pid_t ended = waitpid(pid, status, WNOHANG);
    if (ended == pid) return true;
    if (ended < 0 && errno != EINTR) return false;
    usleep(10'000);
  }
  return false;
}

void take(const std::string& line, PartReport& report, const std::function<void(const Measure&)>& on_line) {
  const std::string text = line.substr(1);
  switch (line[0]) {
    case 'M':
      report.lines.push_back(measure_from_json(text));
      on_line(report.lines.back());
      return;
    case 'D':
      report.outcome = Outcome::kDone;
      break;
    case 'S':
      report.outcome = Outcome::kStopped;
      break;
    case 'N':
      report.outcome = Outcome::kNoGpu;
      break;
    default:
      report.outcome = Outcome::kFailed;
  }
  report.reason = text;
}

}  // namespace

PartReport run_apart(const PartFunction& part, double slice, double limit, const std::string& cublaslt_path,
                     const std::function<void(const Measure&)>& on_line) {
  const auto begin = Clock::now();
  PartReport report;
  report.reason = "the process of this part ended without a word";
  int ends[2];
  if (pipe(ends) != 0) throw std::runtime_error(std::string("pipe: ") + std::strerror(errno));
  const pid_t pid = fork();
  if (pid < 0) throw std::runtime_error(std::string("fork: ") + std::strerror(errno));
  if (pid == 0) {
    close(ends[0]);
    child(part, slice, cublaslt_path, ends[1]);
  }
  close(ends[1]);

  std::string pending;
  bool forced = false;
  while (true) {
    const double left = limit - seconds_since(begin);
    pollfd waited{ends[0], POLLIN, 0};
    const int ready = left <= 0 ? 0 : poll(&waited, 1, static_cast<int>(left * 1000) + 1);
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) {
      forced = true;
      kill(pid, SIGKILL);
      break;
    }
    char buffer[4096];
    const ssize_t n = read(ends[0], buffer, sizeof buffer);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    pending.append(buffer, static_cast<std::size_t>(n));
    for (std::size_t end; (end = pending.find('\n')) != std::string::npos; pending.erase(0, end + 1)) {
      take(pending.substr(0, end), report, on_line);
    }
  }
  close(ends[0]);
  int status = 0;
  const bool gone = wait_a_while(pid, &status);
  report.seconds = seconds_since(begin);
  if (forced) {
    report.outcome = Outcome::kStopped;
    report.reason = "ended by force: it did not stop by itself";
  } else if (gone && WIFSIGNALED(status)) {
    report.outcome = Outcome::kFailed;
    report.reason = std::string("killed by ") + strsignal(WTERMSIG(status));
  }
  return report;
}

const char* outcome_word(Outcome outcome) {
  switch (outcome) {
    case Outcome::kDone:
      return "done";
    case Outcome::kStopped:
      return "stopped";
    case Outcome::kNoGpu:
      return "no GPU";
    case Outcome::kFailed:
      break;
  }
  return "failed";
}

}  // namespace shoal::probe
