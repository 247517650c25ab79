#include "models/bert.h"

#include "models/encoder.h"
#include "models/head_step.h"

namespace shoal::models {

void Bert::train(const OpTable& ops, const LaneStep& lane, const SlotRows& rows, Arena& arena,
                 Stream stream) const {
  const ArenaScope scope(arena);
  const Parameters parameters(layout_, rows);
  const Pass pass{ops, stream, dtype_, layout_, parameters, lane, arena, true};
  const EmbeddingSaved embedded = embed_forward(pass);
  std::vector<LayerSaved> layers;
  const void* x = embedded.x;
  for (std::int64_t l = 0; l < pass.L(); ++l) {
    layers.push_back(layer_forward(pass, l, x));
    x = layers.back().x_out;
  }
  void* dx = arena.take("dx of [CLS]", dtype_, lane.firsts.rows * pass.C());
  void* dx_tokens = arena.take("dx", dtype_, lane.tokens.rows * pass.C());
  head_.run({ops, stream, dtype_, parameters, lane, arena, pass.C(), pass.L(), x, dx});
  for (std::int64_t l = pass.L() - 1; l >= 0; --l) {
    layer_backward(pass, l, layers[static_cast<std::size_t>(l)], dx, dx_tokens);
    dx = dx_tokens;
  }
  embed_backward(pass, embedded, dx);
}

void Bert::evaluate(const OpTable& ops, const LaneStep& lane, const SlotRows& rows, Arena& arena,
                    Stream stream) const {
  const ArenaScope scope(arena);
  const Parameters parameters(layout_, rows);
  const Pass pass{ops, stream, dtype_, layout_, parameters, lane, arena, false};
  const void* x = embed_forward(pass).x;
  for (std::int64_t l = 0; l < pass.L(); ++l) x = layer_forward(pass, l, x).x_out;
  head_.run({ops, stream, dtype_, parameters, lane, arena, pass.C(), pass.L(), x, nullptr});
}

}  // namespace shoal::models
