#include <fmt/format.h>

#include "models/encoder.h"

namespace shoal::models {
namespace {

std::string name_of(std::int64_t layer, const char* tensor) {
  return fmt::format("layer.{}.{}", layer, tensor);
}

// One LayerNorm backward and the partial sums that its second stage needs.
struct NormBackward {
  void* dx = nullptr;        // [rows,C] gradient of the linear output before it
  float* partial = nullptr;  // [rows/128,3,C]
};

NormBackward take_norm(const Pass& pass, const Rows& rows) {
  return {pass.arena.take("dx of norm", pass.dtype, rows.rows * pass.C()),
          pass.arena.take<float>("norm partials", rows.rows / kRowChunk * 3 * pass.C())};
}

void normalise_backward(const Pass& pass, std::int64_t layer, const char* norm, std::uint32_t site,
                        const void* z, RowStats stats, void* dy_dz, const NormBackward& to,
                        const Rows& rows) {
  pass.ops.bias_dropout_residual_layernorm_backward(
      {.dtype = pass.dtype,
       .dz = dy_dz,
       .dx = to.dx,
       .partial = to.partial,
       .dy = dy_dz,
       .z = z,
       .stats = stats,
       .gamma = pass.parameters.full(fmt::format("layer.{}.{}.gamma", layer, norm)),
       .C = pass.C(),
       .drop = dropout_of(pass.lane, pass.lane.hidden_threshold, site),
       .rows = rows},
      pass.stream);
}

NormGradientItem norm_item(const Pass& pass, std::int64_t layer, const char* norm, const char* linear,
                           const float* partial, const Rows& rows) {
  const auto grad = [&](const std::string& name) { return pass.parameters.grad(name, pass.lane.mode); };
  return {.partial = partial,
          .dgamma = grad(fmt::format("layer.{}.{}.gamma", layer, norm)),
          .dbeta = grad(fmt::format("layer.{}.{}.beta", layer, norm)),
          .dbias = grad(fmt::format("layer.{}.{}.bias", layer, linear)),
          .C = pass.C(),
          .rows = rows};
}

}  // namespace

void layer_backward(const Pass& pass, std::int64_t layer, const LayerSaved& saved, void* dx,
                    void* dx_tokens) {
  const LaneStep& lane = pass.lane;
  const bool last = layer + 1 == pass.L();
  const Rows& out = last ? lane.firsts : lane.tokens;
  const int C = pass.C(), F = pass.F();
  const ArenaScope scope(pass.arena);
  const auto operand = [&](const char* tensor) { return pass.parameters.operand(name_of(layer, tensor)); };
  const auto grad = [&](const char* tensor) {
    return pass.parameters.grad(name_of(layer, tensor), lane.mode);
  };

  // Feed-forward: dx becomes the gradient of x1.
  const NormBackward norm2 = take_norm(pass, out);
  normalise_backward(pass, layer, "output_norm", output_site(layer), saved.z2, saved.stats2, dx, norm2, out);
  void* du = saved.u;  // in place: u is not needed again
  pass.ops.linear_dgelu_backward({.dtype = pass.dtype,
                                  .du = du,
                                  .dy = norm2.dx,
                                  .u = saved.u,
                                  .w = operand("output.weight"),
                                  .N = C,
                                  .K = F,
                                  .rows = out,
                                  .form = pass.gelu()},
                                 pass.stream);
  pass.ops.linear_backward_input({.dtype = pass.dtype,
                                  .dx = dx,
                                  .dy = du,
                                  .w = operand("intermediate.weight"),
                                  .add = true,
                                  .N = F,
                                  .K = C,
                                  .rows = out},
                                 pass.stream);

  // Attention output: dx becomes the gradient of the residual, dout that of o.
  const NormBackward norm1 = take_norm(pass, out);
  normalise_backward(pass, layer, "attention_norm", attention_output_site(layer), saved.z1, saved.stats1, dx,
                     norm1, out);
  void* dout = pass.arena.take("do", pass.dtype, lane.tokens.rows * C);
  void* dout_out = last ? pass.arena.take("do of [CLS]", pass.dtype, out.rows * C) : dout;
  pass.ops.linear_backward_input({.dtype = pass.dtype,
                                  .dx = dout_out,
                                  .dy = norm1.dx,
                                  .w = operand("attention_output.weight"),
                                  .N = C,
                                  .K = C,
                                  .rows = out},
                                 pass.stream);
  void* dx_in = dx;
  if (last) {
    dx_in = dx_tokens;
    const auto scatter = [&](void* to, const void* from) {
      pass.ops.scatter_rows({.dtype = pass.dtype,
                             .dx = to,
                             .dy = from,
                             .index = lane.first,
                             .C = C,
                             .to = out,
                             .from = lane.tokens},
                            pass.stream);
    };
    scatter(dout, dout_out);
    scatter(dx_in, dx);
  }

  // Attention: dx_in becomes the gradient of the layer's input.
  void* dqkv = pass.arena.take("dqkv", pass.dtype, lane.tokens.rows * 3 * C);
  pass.ops.attention_backward({.dtype = pass.dtype,
                               .dqkv = dqkv,
                               .dout = dout,
                               .qkv = saved.qkv,
                               .o = saved.o,
                               .lse = saved.lse,
                               .H = pass.H(),
                               .D = pass.D(),
                               .seqs = lane.seqs,
                               .drop = dropout_of(lane, lane.attention_threshold, attention_site(layer)),
                               .rows = lane.tokens},
                              pass.stream);
  pass.ops.linear_backward_input({.dtype = pass.dtype,
                                  .dx = dx_in,
                                  .dy = dqkv,
                                  .w = operand("qkv.weight"),
                                  .add = true,
                                  .N = 3 * C,
                                  .K = C,
                                  .rows = lane.tokens},
                                 pass.stream);

  // All weight gradients of the layer in one launch.
  LinearBackwardWeightGroup group{.dtype = pass.dtype, .items = 4, .norms = 2};
  group.item[0] = {.dw = grad("qkv.weight"),
                   .db = grad("qkv.bias"),
                   .dy = dqkv,
                   .x = saved.x_in,
                   .N = 3 * C,
                   .K = C,
                   .rows = lane.tokens};
  group.item[1] = {
      .dw = grad("attention_output.weight"), .dy = norm1.dx, .x = saved.o_out, .N = C, .K = C, .rows = out};
  group.item[2] = {.dw = grad("intermediate.weight"),
                   .db = grad("intermediate.bias"),
                   .dy = du,
                   .x = saved.x1,
                   .N = F,
                   .K = C,
                   .rows = out};
  group.item[3] = {.dw = grad("output.weight"), .dy = norm2.dx, .x = saved.g, .N = C, .K = F, .rows = out};
  group.norm[0] = norm_item(pass, layer, "attention_norm", "attention_output", norm1.partial, out);
  group.norm[1] = norm_item(pass, layer, "output_norm", "output", norm2.partial, out);
  pass.ops.linear_backward_weight_group(group, pass.stream);
}

void embed_backward(const Pass& pass, const EmbeddingSaved& saved, void* dx) {
  const LaneStep& lane = pass.lane;
  const ArenaScope scope(pass.arena);
  const auto grad = [&](const char* name) { return pass.parameters.grad(name, lane.mode); };
  float* partial = pass.arena.take<float>("norm partials", lane.tokens.rows / kRowChunk * 3 * pass.C());
  pass.ops.embedding_layernorm_backward({.dtype = pass.dtype,
                                         .dz = dx,
                                         .partial = partial,
                                         .dy = dx,
                                         .z = saved.z,
                                         .stats = saved.stats,
                                         .gamma = pass.parameters.full("embeddings.gamma"),
                                         .C = pass.C(),
                                         .drop = dropout_of(lane, lane.hidden_threshold, embedding_site()),
                                         .rows = lane.tokens},
                                        pass.stream);
  pass.ops.embedding_backward({.dtype = pass.dtype,
                               .dword = grad("embeddings.word"),
                               .touched = pass.parameters.touched("embeddings.word"),
                               .dposition = grad("embeddings.position"),
                               .dtype_table = grad("embeddings.type"),
                               .dz = dx,
                               .order = lane.order,
                               .chunks = lane.chunks,
                               .chunk_count = lane.chunk_count,
                               .types = lane.types,
                               .P = static_cast<int>(pass.layout.shape().positions),
                               .T = static_cast<int>(pass.layout.shape().types),
                               .C = pass.C(),
                               .seqs = lane.seqs,
                               .rows = lane.tokens},
                              pass.stream);
  LinearBackwardWeightGroup group{.dtype = pass.dtype, .norms = 1};
  group.norm[0] = {.partial = partial,
                   .dgamma = grad("embeddings.gamma"),
                   .dbeta = grad("embeddings.beta"),
                   .C = pass.C(),
                   .rows = lane.tokens};
  pass.ops.linear_backward_weight_group(group, pass.stream);
}

}  // namespace shoal::models
