// predictions.tsv: what a job says of the rows of its test file, for people and for `shoal compare`.
//
// A header line, then a line a row, in the file's order; fields end at a tab, lines at \n. Columns:
//   row          physical line of the test file where the row starts, from 1
//   label        as the model names it; of a regression the number. Not there where the file has no labels
//   prediction   the class with the largest logit; of a regression the number
//   p_CLASS      probability of each class, in label order; none of a regression
// In names, a tab, line feed, carriage return and backslash are written \t, \n, \r and \\. Numbers read back
// to the same float.
#pragma once

#include <filesystem>
#include <span>

#include "data/dataset.h"
#include "data/labels.h"

namespace shoal::engine {

// logits: [rows, labels]. Whole or not at all.
void write_predictions(const std::filesystem::path& file, const data::Subset& rows,
                       const data::LabelMap& labels, bool is_regression, std::span<const float> logits);

}  // namespace shoal::engine
