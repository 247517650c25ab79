// The device table: one function per op (ops.def). An op returns nothing, allocates nothing,
// synchronises nothing; it begins with check(args), which refuses what its contract does not allow.
#pragma once

#include "kernels/attention.h"
#include "kernels/bias_dropout_residual_layernorm.h"
#include "kernels/classifier.h"
#include "kernels/cross_entropy.h"
#include "kernels/embedding_layernorm.h"
#include "kernels/linear.h"
#include "kernels/linear_gelu.h"
#include "kernels/linear_tanh.h"
#include "kernels/optimizer.h"
#include "kernels/row_ops.h"
#include "kernels/squared_error.h"
#include "kernels/weight_gradients.h"

namespace shoal {

// An ordered queue of work on a device; belongs to its Device. The null handle is no stream.
struct Stream {
  void* handle = nullptr;
};

struct OpTable {
#define SHOAL_OP(function, Args) void (*function)(const Args&, Stream) = nullptr;
#include "kernels/ops.def"
#undef SHOAL_OP
};

}  // namespace shoal
