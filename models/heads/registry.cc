// The list of heads: a new one is its own file and one line here.
#include <array>

#include "kernels/base/error.h"
#include "models/head.h"

namespace shoal::models {

const Head& sequence_classification_head();

namespace {

const std::array kHeads = {&sequence_classification_head};

}  // namespace

const Head& find_head(std::string_view task) {
  std::string known;
  for (const auto head : kHeads) {
    if (head().task() == task) return head();
    known += (known.empty() ? "" : ", ") + std::string(head().task());
  }
  fail("no head for task '{}'; allowed: {}", task, known);
}

Layout layout_of(const BertConfig& config, const Head& head, Extents largest) {
  const BertShape shape = shape_of(config);
  return Layout(shape, head.tensors(shape.hidden), largest);
}

}  // namespace shoal::models
