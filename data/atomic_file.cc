#include "data/atomic_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>

#include "kernels/base/error.h"

namespace shoal::data {
namespace {

[[noreturn]] void fail_io(const std::filesystem::path& file, const char* what) {
  const int code = errno;
  fail("{}: error: cannot {}: {}", file.string(), what, std::strerror(code));
}

// The open temporary file; removed by the destructor unless it was renamed.
class Temporary {
 public:
  explicit Temporary(const std::filesystem::path& destination)
      : destination_(destination), path_(temporary_sibling(destination)) {
    fd_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd_ < 0) fail_io(destination_, "create the file");
  }
  Temporary(const Temporary&) = delete;
  Temporary& operator=(const Temporary&) = delete;
  ~Temporary() {
    if (fd_ >= 0) ::close(fd_);
    if (!renamed_) ::unlink(path_.c_str());
  }

  void append(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t n = ::write(fd_, bytes.data(), bytes.size());
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) fail_io(destination_, "write the file");
      bytes.remove_prefix(static_cast<std::size_t>(n));
    }
  }

  void commit() {
    if (::fsync(fd_) != 0) fail_io(destination_, "sync the file");
    const int closed = ::close(fd_);
    fd_ = -1;
    if (closed != 0) fail_io(destination_, "close the file");
    if (::rename(path_.c_str(), destination_.c_str()) != 0)
      fail_io(destination_, "rename the file into place");
    renamed_ = true;
    sync_folder(destination_.parent_path());
  }

 private:
  std::filesystem::path destination_;
  std::filesystem::path path_;
  int fd_ = -1;
  bool renamed_ = false;
};

}  // namespace

void write_atomically(const std::filesystem::path& file, const std::function<void(const Append&)>& writer) {
  Temporary temporary(file);
  writer([&](std::string_view bytes) { temporary.append(bytes); });
  temporary.commit();
}

void write_atomically(const std::filesystem::path& file, std::string_view text) {
  write_atomically(file, [&](const Append& append) { append(text); });
}

std::filesystem::path temporary_sibling(const std::filesystem::path& path) {
  static std::atomic<unsigned> counter{0};
  return path.parent_path() /
         fmt::format(".{}.tmp-{}-{}", path.filename().string(), ::getpid(), counter.fetch_add(1));
}

void sync_folder(const std::filesystem::path& folder) {
  const int fd = ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return;
  ::fsync(fd);
  ::close(fd);
}

}  // namespace shoal::data
