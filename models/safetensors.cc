#include "models/safetensors.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <utility>

#include "kernels/base/error.h"
#include "models/parts.h"
#include "models/safetensors_header.h"

namespace shoal::models {
namespace {

static_assert(std::endian::native == std::endian::little,
              "the format is little-endian, and so is all we read");

constexpr std::size_t kLengthBytes = 8;
constexpr std::uint64_t kMaxHeader = 100'000'000;  // the format's own limit

void check_bytes(const std::filesystem::path& file, const StoredTensor& tensor) {
  std::uint64_t bits = bits_of(tensor.dtype);
  for (const std::int64_t size : tensor.shape)
    require(!__builtin_mul_overflow(bits, static_cast<std::uint64_t>(size), &bits),
            "{}: error: tensor '{}': the size of shape {} overflows", file.string(), tensor.name,
            shape_text(tensor.shape));
  const std::uint64_t have = tensor.end - tensor.begin;
  require(bits % 8 == 0 && bits / 8 == have,
          "{}: error: tensor '{}': {} {} takes {} bytes, data_offsets [{},{}] give {}", file.string(),
          tensor.name, tensor.dtype, shape_text(tensor.shape), bits / 8, tensor.begin, tensor.end, have);
}

// Tensors must tile the data: sorted by place, each begins where the one before ended.
void check_ranges(const std::filesystem::path& file, std::vector<StoredTensor>& tensors,
                  std::uint64_t data_bytes) {
  for (const StoredTensor& tensor : tensors)
    require(tensor.begin <= tensor.end && tensor.end <= data_bytes,
            "{}: error: tensor '{}': data_offsets [{},{}] are outside the {} bytes of data", file.string(),
            tensor.name, tensor.begin, tensor.end, data_bytes);
  std::sort(tensors.begin(), tensors.end(), [](const StoredTensor& a, const StoredTensor& b) {
    return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
  });
  std::uint64_t covered = 0;
  for (const StoredTensor& tensor : tensors) {
    require(tensor.begin >= covered, "{}: error: tensor '{}' at [{},{}] overlaps the one before it",
            file.string(), tensor.name, tensor.begin, tensor.end);
    require(tensor.begin == covered, "{}: error: bytes {} to {} belong to no tensor", file.string(), covered,
            tensor.begin);
    check_bytes(file, tensor);
    covered = tensor.end;
  }
  require(covered == data_bytes, "{}: error: the last {} bytes belong to no tensor", file.string(),
          data_bytes - covered);
}

}  // namespace

SafetensorsFile::SafetensorsFile(const std::filesystem::path& file) : path_(file) {
  map_file();
  try {
    read_header();
  } catch (...) {
    ::munmap(const_cast<std::byte*>(map_), size_);
    throw;
  }
}

SafetensorsFile::SafetensorsFile(SafetensorsFile&& other) noexcept
    : path_(std::move(other.path_)),
      map_(std::exchange(other.map_, nullptr)),
      size_(other.size_),
      data_begin_(other.data_begin_),
      tensors_(std::move(other.tensors_)),
      metadata_(std::move(other.metadata_)) {}

SafetensorsFile::~SafetensorsFile() {
  if (map_ != nullptr) ::munmap(const_cast<std::byte*>(map_), size_);
}

void SafetensorsFile::map_file() {
  const int fd = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC);
  require(fd >= 0, "{}: error: cannot open the file: {}", path_.string(), std::strerror(errno));
  struct stat info {};
  void* map = MAP_FAILED;
  if (::fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && info.st_size >= static_cast<off_t>(kLengthBytes)) {
    size_ = static_cast<std::size_t>(info.st_size);
    map = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, fd, 0);
  }
  const int code = errno;
  ::close(fd);
  require(size_ > 0, "{}: error: not a safetensors file: not a regular file of at least 8 bytes",
          path_.string());
  require(map != MAP_FAILED, "{}: error: cannot map the file: {}", path_.string(), std::strerror(code));
  map_ = static_cast<const std::byte*>(map);
}

void SafetensorsFile::read_header() {
  std::uint64_t length = 0;
  std::memcpy(&length, map_, kLengthBytes);
  require(length <= kMaxHeader,
          "{}: error: not a safetensors file: its header would be {} bytes, the limit is {}", path_.string(),
          length, kMaxHeader);
  require(length <= size_ - kLengthBytes, "{}: error: the file ends inside its header of {} bytes",
          path_.string(), length);
  data_begin_ = kLengthBytes + static_cast<std::size_t>(length);
  const std::string_view text(reinterpret_cast<const char*>(map_) + kLengthBytes,
                              static_cast<std::size_t>(length));
  require(text.starts_with('{'), "{}: error: not a safetensors file: its header does not start with '{{'",
          path_.string());
  SafetensorsHeader header = parse_safetensors_header(path_, text);
  check_ranges(path_, header.tensors, size_ - data_begin_);
  tensors_ = std::move(header.tensors);
  metadata_ = std::move(header.metadata);
}

std::span<const std::byte> SafetensorsFile::bytes(const StoredTensor& tensor) const {
  SHOAL_CHECK(tensor.begin <= tensor.end && tensor.end <= size_ - data_begin_);
  return {map_ + data_begin_ + tensor.begin, static_cast<std::size_t>(tensor.end - tensor.begin)};
}

}  // namespace shoal::models
