#include "data/order.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "kernels/base/error.h"
#include "kernels/base/philox.h"

namespace shoal::data {
namespace {

constexpr std::uint32_t kOrderCounter = 0x4f524452;  // "ORDR"

}  // namespace

std::vector<std::int32_t> epoch_order(std::int64_t rows, std::uint64_t data_seed, std::int64_t epoch) {
  require(rows >= 0 && rows <= std::numeric_limits<std::int32_t>::max(), "epoch_order: {} rows, at most {}",
          rows, std::numeric_limits<std::int32_t>::max());
  require(epoch >= 0 && epoch <= std::numeric_limits<std::uint32_t>::max(), "epoch_order: epoch is {}",
          epoch);
  std::vector<std::pair<std::uint64_t, std::int32_t>> keyed(static_cast<std::size_t>(rows));
  for (std::size_t r = 0; r < keyed.size(); ++r) {
    const Philox4 random =
        philox4x32_10(data_seed, static_cast<std::uint32_t>(r), static_cast<std::uint32_t>(r >> 32),
                      static_cast<std::uint32_t>(epoch), kOrderCounter);
    keyed[r] = {std::uint64_t{random.v[1]} << 32 | random.v[0], static_cast<std::int32_t>(r)};
  }
  std::ranges::sort(keyed);
  std::vector<std::int32_t> order(keyed.size());
  std::ranges::transform(keyed, order.begin(), [](const auto& key_and_row) { return key_and_row.second; });
  return order;
}

}  // namespace shoal::data
