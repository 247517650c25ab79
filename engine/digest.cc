#include "engine/digest.h"

#include <openssl/evp.h>

#include <array>
#include <fstream>
#include <memory>
#include <vector>

#include "kernels/base/error.h"

namespace shoal::engine {

std::string sha256_of(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  require(in.is_open(), "{}: error: cannot be read", file.string());
  const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context(EVP_MD_CTX_new(), EVP_MD_CTX_free);
  SHOAL_CHECK(context != nullptr && EVP_DigestInit_ex(context.get(), EVP_sha256(), nullptr) == 1);
  std::vector<char> buffer(std::size_t{1} << 20);
  while (in.read(buffer.data(), static_cast<std::streamsize>(buffer.size())), in.gcount() > 0)
    EVP_DigestUpdate(context.get(), buffer.data(), static_cast<std::size_t>(in.gcount()));
  require(!in.bad(), "{}: error: reading failed", file.string());
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest;
  unsigned int size = 0;
  SHOAL_CHECK(EVP_DigestFinal_ex(context.get(), digest.data(), &size) == 1);
  std::string text;
  for (unsigned int i = 0; i < size; ++i) text += fmt::format("{:02x}", digest[i]);
  return text;
}

const std::string& Digests::sha256(const std::filesystem::path& file) {
  std::string& digest = known_[file];
  if (digest.empty()) digest = sha256_of(file);
  return digest;
}

}  // namespace shoal::engine
