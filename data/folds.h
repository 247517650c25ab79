// Which rows a job trains on and which it is measured by, where one file holds both.
//
// Rule. Row r has the 64-bit key v[1] << 32 | v[0] of philox4x32_10(key = seed, c0, c1 = low and high 32 bits
// of r, c2 = repeat, c3 = 0x464f4c44 "FOLD"); "shuffled" means by ascending key. Rows come in strata: of a
// classification one a class, by id; of a regression the rows by rank of their target, in runs of n.
//   folds   Strata after strata, each shuffled, the rows are dealt to the parts in turn, as cards are. So the
//           parts differ by one row at the most, and so do their shares of each class.
//   groups  Rows of one group stay together. Groups, shuffled by their first row and then from the largest to
//           the smallest, go each to the part that keeps the parts' shares of each class nearest to one
//           another (least sum of squares), of equals to the one with the fewest rows, then the first. A
//           regression has one class here: groups balance rows alone.
//   split   A share of each class, shuffled, rounded so that the shares add up (half up, class after class);
//           a class always keeps a row for training. A regression is split without regard to the target.
// Nothing else goes in: not the job's seed, not its order, not the machine.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "data/dataset.h"

namespace shoal::data {

// Part (0 .. n) of each row. groups: of each row, or empty. Error with fewer rows or groups than parts.
std::vector<std::int32_t> assign_folds(const Dataset& dataset, std::span<const std::string> groups,
                                       std::int64_t n, std::int64_t repeat, std::uint64_t seed);

// 1 for each row that is kept for validation, else 0; `percent` of the rows. Error where it would be none.
std::vector<std::int32_t> assign_split(const Dataset& dataset, std::int64_t percent, std::uint64_t seed);

}  // namespace shoal::data
