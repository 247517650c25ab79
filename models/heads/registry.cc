// The list of heads: a new one is its own file and one line here.
#include <fmt/format.h>

#include <array>

#include "kernels/base/error.h"
#include "models/head.h"

namespace shoal::models {

const Head& sequence_classification_head();
const Head& sequence_regression_head();

namespace {

const std::array kHeads = {&sequence_classification_head, &sequence_regression_head};

}  // namespace

const Head& find_head(std::string_view task, std::string_view problem_type) {
  std::string known;
  for (const auto head : kHeads) {
    if (head().task() == task && head().problem_type() == problem_type) return head();
    known += fmt::format("{}{} ({})", known.empty() ? "" : ", ", head().task(), head().problem_type());
  }
  fail("no head for task '{}' with problem_type '{}'; allowed: {}", task, problem_type, known);
}

Layout layout_of(const BertConfig& config, const Head& head, Extents largest) {
  const BertShape shape = shape_of(config);
  return Layout(shape, head.tensors(shape.hidden), largest);
}

}  // namespace shoal::models
