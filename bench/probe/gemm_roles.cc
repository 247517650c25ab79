#include "bench/probe/gemm_roles.h"

namespace shoal::probe {

std::string GemmRole::name() const {
  const char* passes[] = {"forward", "dgrad", "wgrad"};
  return std::string(layer) + "." + passes[static_cast<int>(pass)];
}

std::vector<GemmRole> bert_base_roles() {
  constexpr std::int64_t C = 768, F = 3072;
  std::vector<GemmRole> roles;
  for (const Pass pass : {Pass::kForward, Pass::kDgrad, Pass::kWgrad}) {
    roles.push_back({"qkv", pass, C, 3 * C});
    roles.push_back({"attention_output", pass, C, C});
    roles.push_back({"ffn1", pass, C, F});
    roles.push_back({"ffn2", pass, F, C});
  }
  return roles;
}

Gemm column_major(const GemmRole& role, std::int64_t tokens) {
  const std::int64_t in = role.in, out = role.out;
  const Operand weights{in, out, in, role.pass == Pass::kForward};
  switch (role.pass) {
    case Pass::kForward:
      return {out, tokens, in, weights, {in, tokens, in, false}, {out, tokens, out, false}};
    case Pass::kDgrad:
      return {in, tokens, out, weights, {out, tokens, out, false}, {in, tokens, in, false}};
    case Pass::kWgrad:
      break;
  }
  return {in, out, tokens, {in, tokens, in, false}, {out, tokens, out, true}, {in, out, in, false}};
}

}  // namespace shoal::probe
