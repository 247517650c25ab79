// Where each tensor of a job stands in its rows (DESIGN section 3).
//
// A job's parameters are one weight row; what trains has a second offset in the training rows
// (gradients, masters, moments). Order: trunk without word embeddings | head area, sized for the
// group's largest head | word embeddings, sized for the largest vocabulary. Offsets and totals are
// multiples of kTensorAlign elements. Everything between a tensor's own extent and the next tensor
// is zero and stays zero.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "models/config.h"

namespace shoal::models {

enum class Init : std::uint8_t { kNormal, kZeros, kOnes };     // kNormal: N(0, initializer_range)
enum class Extent : std::uint8_t { kFixed, kLabels, kVocab };  // what sets the first dimension

// A tensor as the file format names it.
struct TensorSpec {
  std::string hf_name;
  Extent extent = Extent::kFixed;
  std::int64_t rows = 0;  // first dimension; ignored for kLabels and kVocab
  std::int64_t cols = 0;  // second dimension; 0 = a vector of `rows` elements
  Init init = Init::kNormal;
  bool decay = true;            // HF's decay groups: no bias, no LayerNorm
  bool may_be_missing = false;  // a checkpoint may lack it: then it is initialised, with a note
};

// One engine tensor in the rows: one or several specs end to end (q, k, v are one [3C, C]).
struct Tensor {
  std::string name;  // engine name, e.g. "layer.3.qkv.weight"
  std::vector<TensorSpec> parts;
  Extent extent = Extent::kFixed;
  std::int64_t rows = 0;          // of all parts together; capacity for kLabels and kVocab
  std::int64_t cols = 0;          // 1 for a vector
  std::int64_t offset = 0;        // elements, in the weight row
  std::int64_t train_offset = 0;  // elements, in the training rows; -1 = frozen
  bool decay = true;

  std::int64_t capacity() const { return rows * cols; }
};

// What one job has of the variable dimensions.
struct Extents {
  std::int64_t labels = 0;
  std::int64_t vocab = 0;
};

// What the jobs of a group share.
struct BertShape {
  std::int64_t layers = 0;        // L
  std::int64_t hidden = 0;        // C
  std::int64_t heads = 0;         // H
  std::int64_t intermediate = 0;  // F
  std::int64_t positions = 0;
  std::int64_t types = 0;
  double layer_norm_eps = 1e-12;

  std::int64_t head_size() const { return hidden / heads; }
  GeluForm gelu = GeluForm::kErf;
  bool operator==(const BertShape&) const = default;
};
BertShape shape_of(const BertConfig& config);

class Layout {
 public:
  // head_tensors: the head's own (pooler, classifier ...). largest: the group's largest extents.
  Layout(const BertShape& shape, const std::vector<TensorSpec>& head_tensors, Extents largest);

  const std::vector<Tensor>& tensors() const { return tensors_; }
  const Tensor& operator[](std::string_view name) const;  // CHECKs that it exists
  std::int64_t row_elements() const { return row_elements_; }
  std::int64_t train_elements() const { return train_elements_; }
  Extents largest() const { return largest_; }
  const BertShape& shape() const { return shape_; }

  // Rows (first dimension) and elements of a tensor that belong to a job with these extents.
  static std::int64_t own_rows(const Tensor& tensor, Extents own);
  static std::int64_t own_elements(const Tensor& tensor, Extents own) {
    return own_rows(tensor, own) * tensor.cols;
  }

 private:
  void place(Tensor tensor);

  std::vector<Tensor> tensors_;
  std::map<std::string, std::size_t, std::less<>> index_;  // by engine name
  std::int64_t row_elements_ = 0;
  std::int64_t train_elements_ = 0;
  Extents largest_;
  BertShape shape_;
};

}  // namespace shoal::models
