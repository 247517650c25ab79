// The order in which a job sees its training rows.
//
// Rule: in epoch e (from 0), row r has the 64-bit key v[1] << 32 | v[0] of
// philox4x32_10(key = data_seed, c0 = low 32 bits of r, c1 = high 32 bits of r, c2 = e, c3 = 0x4f524452
// "ORDR"); rows are taken by ascending key, ties by ascending row. It depends on the seed, the epoch and the
// number of rows, on nothing else, and is easily repeated elsewhere (bench/peers).
#pragma once

#include <cstdint>
#include <vector>

namespace shoal::data {

std::vector<std::int32_t> epoch_order(std::int64_t rows, std::uint64_t data_seed, std::int64_t epoch);

}  // namespace shoal::data
