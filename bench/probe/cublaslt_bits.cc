#include "bench/probe/cublaslt_bits.h"

#include <algorithm>

#include "bench/probe/plan.h"
#include "bench/probe/random_fill.h"

namespace shoal::probe {
namespace {

// Operands start 16384 tokens x 3072 wide x 16 replicas x 2 bytes; the results are no larger.
constexpr std::size_t kLargestOperand = 16384ull * 3072 * 16 * 2;
constexpr std::uint64_t kSeedA = 101, kSeedB = 102;

enum class Neighbours { kRandom, kNaN, kIdle };
constexpr std::pair<Neighbours, const char*> kNeighbours[] = {
    {Neighbours::kRandom, "random"}, {Neighbours::kNaN, "nan"}, {Neighbours::kIdle, "idle"}};

// A diverged job is NaN in weights and activations; an idle one has rows of zeros and its weights as they
// are.
void set_neighbours(const LtArena& arena, const GemmRole& role, const LtGemm& gemm, Neighbours kind) {
  if (kind == Neighbours::kRandom) return;
  const auto one_a = static_cast<std::size_t>(gemm.shape().a.elements()) * 2;
  const auto one_b = static_cast<std::size_t>(gemm.shape().b.elements()) * 2;
  const auto others = static_cast<std::size_t>(gemm.batch() - 1);
  const int byte = kind == Neighbours::kNaN ? 0xFF : 0;
  if (kind == Neighbours::kNaN || !role.weights_first()) {
    PROBE_CUDA(cudaMemsetAsync(arena.a.as<char>(one_a), byte, one_a * others, nullptr));
  }
  PROBE_CUDA(cudaMemsetAsync(arena.b.as<char>(one_b), byte, one_b * others, nullptr));
}

void run(const LtArena& arena, const LtGemm& gemm, const LtAlgo& algo, void* d) {
  const auto bytes = static_cast<std::size_t>(gemm.shape().d.elements()) * gemm.result_bytes();
  PROBE_CUDA(cudaMemsetAsync(d, 0xFF, bytes * static_cast<std::size_t>(gemm.batch()),
                             nullptr));  // what stays NaN was not written
  gemm.run(algo, d, arena.a.as<void>(), arena.b.as<void>(), arena.workspace.as<void>(), nullptr);
}

std::int64_t words(std::int64_t elements, const LtGemm& gemm) {
  return elements * static_cast<std::int64_t>(gemm.result_bytes()) / 4;
}

std::int64_t differing_from_reference(const LtArena& arena, std::int64_t count) {
  return count_differing_words(arena.reference.as<void>(), arena.d.as<void>(), count, nullptr);
}

Spread exactly(std::int64_t count) {
  return {double(count), double(count), double(count), 1};
}

// Rows beyond the live ones become zeros, as the engine's tail rule has it.
void zero_tail(const DeviceMemory& memory, const Operand& activations) {
  const auto live = static_cast<std::size_t>(activations.ld) * size::kLiveTokens * 2;
  const auto all = static_cast<std::size_t>(activations.elements()) * 2;
  PROBE_CUDA(cudaMemsetAsync(memory.as<char>(live), 0, all - live, nullptr));
}

}  // namespace

LtArena::LtArena()
    : a(kLargestOperand),
      b(kLargestOperand),
      d(kLargestOperand),
      reference(kLargestOperand / 16),
      workspace(kLtWorkspace) {
  refill(kLargestOperand / 2, kLargestOperand / 2);
}

void LtArena::refill(std::int64_t a_elements, std::int64_t b_elements) const {
  fill_bf16(a.as<__nv_bfloat16>(), a_elements, kSeedA, nullptr);
  fill_bf16(b.as<__nv_bfloat16>(), b_elements, kSeedB, nullptr);
  PROBE_CUDA(cudaDeviceSynchronize());  // other streams read it next
}

Measure bits_over_batches(const LtLibrary& lt, const LtArena& arena, const GemmRole& role, int tokens) {
  Measure result(lt_batch_bits_name(role.name(), tokens), "differ");
  const LtGemm alone(lt, role, tokens, 1);
  const std::int64_t count = words(alone.shape().d.elements(), alone);
  std::int64_t total = 0;
  bool asked = false;
  if (const auto pinned = alone.unsplit_choice()) {
    run(arena, alone, *pinned, arena.reference.as<void>());
    for (const int batch : kBatches) {
      if (batch == 1) continue;
      const LtGemm gemm(lt, role, tokens, batch);
      const std::string w = "w" + std::to_string(batch);
      if (!gemm.accepts(*pinned)) {
        result.with("pinned_" + w, "refused");
        continue;
      }
      for (const auto& [kind, name] : kNeighbours) {
        set_neighbours(arena, role, gemm, kind);
        run(arena, gemm, *pinned, arena.d.as<void>());
        const std::int64_t differing = differing_from_reference(arena, count);
        if (kind != Neighbours::kRandom)
          arena.refill(gemm.shape().a.elements() * batch, gemm.shape().b.elements() * batch);
        result.with("pinned_" + w + "_" + name, differing);
        total += differing;
        asked = true;
      }
    }
  } else {
    result.with("pinned", "none without split K and workspace");
  }
  // Beside it: what becomes of replica 0 where the library chooses afresh for every batch.
  if (const auto chosen = alone.free_choice()) {
    run(arena, alone, *chosen, arena.reference.as<void>());
    for (const int batch : kBatches) {
      const LtGemm gemm(lt, role, tokens, batch);
      const auto again = gemm.free_choice();
      if (batch == 1 || !again) continue;
      run(arena, gemm, *again, arena.d.as<void>());
      result.with("free_w" + std::to_string(batch), differing_from_reference(arena, count));
    }
  }
  if (asked) result.value = exactly(total);
  return result.with("words", count);
}

Measure bits_over_buckets(const LtLibrary& lt, const LtArena& arena, const GemmRole& role) {
  constexpr int kCanonical = 4096;
  Measure result(lt_bucket_bits_name(role.name()), "differ");
  const auto one = LtGemm(lt, role, kCanonical, 1).unsplit_choice();
  if (!one) return result.with("pinned", "none without split K and workspace");
  // Live rows of a forward or dgrad result come first; wgrad sums over the rows, so all of it is compared.
  const Gemm smallest = column_major(role, kTokenBuckets[0]);
  const std::int64_t live =
      role.pass == Pass::kWgrad ? smallest.d.elements() : smallest.d.ld * size::kLiveTokens;
  std::int64_t total = 0;
  for (const bool own : {false, true}) {
    bool first = true;  // the first bucket that the algorithm accepts is what the others are held against
    for (const int tokens : kTokenBuckets) {
      const LtGemm gemm(lt, role, tokens, 1);
      const std::string key = (own ? "own_t" : "one_t") + std::to_string(tokens);
      const auto algo = own ? gemm.unsplit_choice() : one;
      if (!algo || !gemm.accepts(*algo)) {
        result.with(key, "refused");
        continue;
      }
      if (!role.weights_first()) zero_tail(arena.a, gemm.shape().a);
      zero_tail(arena.b, gemm.shape().b);
      run(arena, gemm, *algo, first ? arena.reference.as<void>() : arena.d.as<void>());
      if (!first) {
        const std::int64_t differing = differing_from_reference(arena, words(live, gemm));
        result.with(key, differing);
        if (!own) total += differing;
        if (!own) result.value = exactly(total);
      }
      first = false;
      arena.refill(gemm.shape().a.elements(), gemm.shape().b.elements());
    }
  }
  return result.with("words", words(live, LtGemm(lt, role, kCanonical, 1))).with("algo", describe(lt, *one));
}

}  // namespace shoal::probe
