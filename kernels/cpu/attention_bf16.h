// Attention in bf16 on the CPU: the products of one head of one sequence go through bf16_tiles.h, whatever
// the sequence's length; scores, softmax and sums are f32. The op's entry points are in attention_forward.cc
// and attention_backward.cc.
#pragma once

#include "kernels/attention.h"
#include "kernels/cpu/context.h"

namespace shoal::cpu {

void attention_forward_bf16(const AttentionForward& a, Context& context);
void attention_backward_bf16(const AttentionBackward& a, Context& context);

}  // namespace shoal::cpu
