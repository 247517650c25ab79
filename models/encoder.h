// One pass of the encoder over a lane: the pieces that Bert::train and Bert::evaluate are made of.
#pragma once

#include <string>

#include "kernels/device.h"
#include "models/arena.h"
#include "models/lane_step.h"
#include "models/layout.h"
#include "models/parameters.h"

namespace shoal::models {

// What the whole pass shares.
struct Pass {
  const OpTable& ops;
  Stream stream;
  DType dtype;
  const Layout& layout;
  const Parameters& parameters;
  const LaneStep& lane;
  Arena& arena;
  bool training;  // activations are kept for a backward

  int C() const { return static_cast<int>(layout.shape().hidden); }
  int F() const { return static_cast<int>(layout.shape().intermediate); }
  int H() const { return static_cast<int>(layout.shape().heads); }
  int D() const { return static_cast<int>(layout.shape().head_size()); }
  std::int64_t L() const { return layout.shape().layers; }
  GeluForm gelu() const { return layout.shape().gelu; }
  float eps() const { return static_cast<float>(layout.shape().layer_norm_eps); }
};

// Kept by the embeddings. Shapes over token rows.
struct EmbeddingSaved {
  void* x = nullptr;  // [rows,C] output
  void* z = nullptr;  // [rows,C]
  RowStats stats;
};

// Kept by a layer. In the last layer everything from o_out on has one row a sequence.
struct LayerSaved {
  const void* x_in = nullptr;      // [rows,C] input
  void* qkv = nullptr;             // [rows,3C]
  void* o = nullptr;               // [rows,C]
  float* lse = nullptr;            // [rows,H]
  const void* o_out = nullptr;     // [out rows,C] o, or its [CLS] rows
  const void* residual = nullptr;  // [out rows,C] x_in, or its [CLS] rows
  void* z1 = nullptr;              // [out rows,C]
  RowStats stats1;
  void* x1 = nullptr;  // [out rows,C]
  void* u = nullptr;   // [out rows,F]
  void* g = nullptr;   // [out rows,F]
  void* z2 = nullptr;  // [out rows,C]
  RowStats stats2;
  void* x_out = nullptr;  // [out rows,C] output
};

EmbeddingSaved embed_forward(const Pass& pass);
LayerSaved layer_forward(const Pass& pass, std::int64_t layer, const void* x_in);

// dx: on entry the gradient of the layer's output ([CLS] rows in the last layer); on return the gradient
// of its input, in a [rows,C] buffer: `dx` itself, or `dx_tokens` for the last layer.
void layer_backward(const Pass& pass, std::int64_t layer, const LayerSaved& saved, void* dx, void* dx_tokens);
void embed_backward(const Pass& pass, const EmbeddingSaved& saved, void* dx);

}  // namespace shoal::models
