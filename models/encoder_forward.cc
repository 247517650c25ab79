#include <fmt/format.h>

#include "models/encoder.h"

namespace shoal::models {
namespace {

RowStats take_stats(const Pass& pass, std::int64_t rows) {
  return {pass.arena.take<float>("mean", rows), pass.arena.take<float>("rstd", rows)};
}

std::string name_of(std::int64_t layer, const char* tensor) {
  return fmt::format("layer.{}.{}", layer, tensor);
}

}  // namespace

EmbeddingSaved embed_forward(const Pass& pass) {
  const LaneStep& lane = pass.lane;
  const std::int64_t rows = lane.tokens.rows;
  EmbeddingSaved saved;
  saved.x = pass.arena.take("embeddings.x", pass.dtype, rows * pass.C());
  if (pass.training) {
    saved.z = pass.arena.take("embeddings.z", pass.dtype, rows * pass.C());
    saved.stats = take_stats(pass, rows);
  }
  pass.ops.embedding_layernorm_forward({.dtype = pass.dtype,
                                        .y = saved.x,
                                        .z = saved.z,
                                        .stats = saved.stats,
                                        .ids = lane.ids,
                                        .positions = lane.positions,
                                        .types = lane.types,
                                        .word = pass.parameters.full("embeddings.word"),
                                        .position = pass.parameters.full("embeddings.position"),
                                        .type = pass.parameters.full("embeddings.type"),
                                        .gamma = pass.parameters.full("embeddings.gamma"),
                                        .beta = pass.parameters.full("embeddings.beta"),
                                        .eps = pass.eps(),
                                        .C = pass.C(),
                                        .drop = dropout_of(lane, lane.hidden_threshold, embedding_site()),
                                        .rows = lane.tokens},
                                       pass.stream);
  return saved;
}

namespace {

void attention_part(const Pass& pass, std::int64_t layer, LayerSaved& saved) {
  const LaneStep& lane = pass.lane;
  const std::int64_t rows = lane.tokens.rows;
  saved.o = pass.arena.take("o", pass.dtype, rows * pass.C());
  saved.lse = pass.arena.take<float>("lse", rows * pass.H());
  saved.qkv = pass.arena.take("qkv", pass.dtype, rows * 3 * pass.C());
  pass.ops.linear_forward({.dtype = pass.dtype,
                           .y = saved.qkv,
                           .x = saved.x_in,
                           .w = pass.parameters.operand(name_of(layer, "qkv.weight")),
                           .b = pass.parameters.operand(name_of(layer, "qkv.bias")),
                           .N = 3 * pass.C(),
                           .K = pass.C(),
                           .rows = lane.tokens},
                          pass.stream);
  pass.ops.attention_forward({.dtype = pass.dtype,
                              .o = saved.o,
                              .lse = saved.lse,
                              .qkv = saved.qkv,
                              .H = pass.H(),
                              .D = pass.D(),
                              .seqs = lane.seqs,
                              .drop = dropout_of(lane, lane.attention_threshold, attention_site(layer)),
                              .rows = lane.tokens},
                             pass.stream);
}

const void* firsts_of(const Pass& pass, const char* name, const void* x) {
  void* y = pass.arena.take(name, pass.dtype, pass.lane.firsts.rows * pass.C());
  pass.ops.gather_rows({.dtype = pass.dtype,
                        .y = y,
                        .x = x,
                        .index = pass.lane.first,
                        .C = pass.C(),
                        .to = pass.lane.firsts,
                        .from = pass.lane.tokens},
                       pass.stream);
  return y;
}

void project_and_normalise(const Pass& pass, std::int64_t layer, const char* linear, const char* norm,
                           std::uint32_t site, const void* x, int K, const void* residual, void* y, void* z,
                           RowStats stats, const Rows& rows) {
  const std::string weight = fmt::format("layer.{}.{}.weight", layer, linear);
  const std::string bias = fmt::format("layer.{}.{}.bias", layer, linear);
  pass.ops.linear_forward({.dtype = pass.dtype,
                           .y = y,
                           .x = x,
                           .w = pass.parameters.operand(weight),
                           .N = pass.C(),
                           .K = K,
                           .rows = rows},
                          pass.stream);
  pass.ops.bias_dropout_residual_layernorm_forward(
      {.dtype = pass.dtype,
       .y = y,
       .z = z,
       .stats = stats,
       .x = y,
       .residual = residual,
       .b = pass.parameters.operand(bias),
       .gamma = pass.parameters.full(fmt::format("layer.{}.{}.gamma", layer, norm)),
       .beta = pass.parameters.full(fmt::format("layer.{}.{}.beta", layer, norm)),
       .eps = pass.eps(),
       .C = pass.C(),
       .drop = dropout_of(pass.lane, pass.lane.hidden_threshold, site),
       .rows = rows},
      pass.stream);
}

void output_part(const Pass& pass, std::int64_t layer, LayerSaved& saved, const Rows& rows) {
  const auto activation = [&](const char* name, int width) {
    return pass.arena.take(name, pass.dtype, rows.rows * width);
  };
  if (pass.training) {
    saved.z1 = activation("z1", pass.C());
    saved.z2 = activation("z2", pass.C());
    saved.u = activation("u", pass.F());
    saved.stats1 = take_stats(pass, rows.rows);
    saved.stats2 = take_stats(pass, rows.rows);
  }
  saved.x1 = activation("x1", pass.C());
  saved.g = activation("g", pass.F());
  project_and_normalise(pass, layer, "attention_output", "attention_norm", attention_output_site(layer),
                        saved.o_out, pass.C(), saved.residual, saved.x1, saved.z1, saved.stats1, rows);
  pass.ops.linear_gelu_forward({.dtype = pass.dtype,
                                .u = saved.u,
                                .g = saved.g,
                                .x = saved.x1,
                                .w = pass.parameters.operand(name_of(layer, "intermediate.weight")),
                                .b = pass.parameters.operand(name_of(layer, "intermediate.bias")),
                                .N = pass.F(),
                                .K = pass.C(),
                                .rows = rows,
                                .form = pass.gelu()},
                               pass.stream);
  project_and_normalise(pass, layer, "output", "output_norm", output_site(layer), saved.g, pass.F(), saved.x1,
                        saved.x_out, saved.z2, saved.stats2, rows);
}

}  // namespace

LayerSaved layer_forward(const Pass& pass, std::int64_t layer, const void* x_in) {
  const bool last = layer + 1 == pass.L();
  const Rows& rows = last ? pass.lane.firsts : pass.lane.tokens;
  LayerSaved saved;
  saved.x_in = x_in;
  saved.x_out = pass.arena.take("x", pass.dtype, rows.rows * pass.C());
  // Without a backward everything but the output is given back at once.
  const std::size_t mark = pass.arena.mark();
  attention_part(pass, layer, saved);
  saved.o_out = last ? firsts_of(pass, "o of [CLS]", saved.o) : saved.o;
  saved.residual = last ? firsts_of(pass, "x of [CLS]", x_in) : x_in;
  output_part(pass, layer, saved, rows);
  if (!pass.training) pass.arena.release(mark);
  return saved;
}

}  // namespace shoal::models
