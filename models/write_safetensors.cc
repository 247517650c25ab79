// The writer of safetensors.h.
#include <nlohmann/json.hpp>

#include "kernels/base/error.h"
#include "kernels/base/view.h"
#include "models/safetensors.h"
#include "models/safetensors_header.h"

namespace shoal::models {
namespace {

std::uint64_t byte_count(const NewTensor& tensor) {
  std::uint64_t bytes = bits_of(tensor.dtype) / 8;
  SHOAL_CHECK(bytes > 0);
  for (const std::int64_t size : tensor.shape) bytes *= static_cast<std::uint64_t>(size);
  return bytes;
}

std::string header_of(const std::vector<NewTensor>& tensors) {
  nlohmann::ordered_json header;
  // Some releases of transformers refuse to load a file that does not name its framework.
  header["__metadata__"] = {{"format", "pt"}};
  std::uint64_t offset = 0;
  for (const NewTensor& tensor : tensors) {
    SHOAL_CHECK(!header.contains(tensor.name));
    const std::uint64_t end = offset + byte_count(tensor);
    header[tensor.name] = {{"dtype", tensor.dtype}, {"shape", tensor.shape}, {"data_offsets", {offset, end}}};
    offset = end;
  }
  std::string text = header.dump();
  text.resize(static_cast<std::size_t>(round_up(static_cast<std::int64_t>(text.size()), 8)), ' ');
  return text;
}

}  // namespace

void write_safetensors(const std::filesystem::path& file, const std::vector<NewTensor>& tensors) {
  const std::string header = header_of(tensors);
  data::write_atomically(file, [&](const data::Append& append) {
    const std::uint64_t length = header.size();
    append({reinterpret_cast<const char*>(&length), sizeof length});
    append(header);
    for (const NewTensor& tensor : tensors) {
      std::uint64_t written = 0;
      tensor.produce([&](std::string_view bytes) {
        written += bytes.size();
        append(bytes);
      });
      SHOAL_CHECK(written == byte_count(tensor));
    }
  });
}

}  // namespace shoal::models
