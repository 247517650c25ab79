#!/usr/bin/env bash
# mutate.sh [NAME ..]: plants small bugs in the CUDA kernels, one by one, and runs the laws that must turn red on the
# simt device. A bug that stays green is a hole in the laws: exit 1. Works in a copy of the tree; the first build
# takes minutes, each bug then a recompiled kernel and a few tests.
#
#   WORK=DIR   where the copy and its build stay (default: a temporary folder that goes away)
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
if [ -z "${WORK:-}" ]; then
  WORK=$(mktemp -d)
  trap 'rm -rf "$WORK"' EXIT
fi
mkdir -p "$WORK/tree"
(cd "$root" && git ls-files -co --exclude-standard -z | tar --null -cf - --ignore-failed-read -T - 2>/dev/null) |
  tar -xf - -C "$WORK/tree"
cd "$WORK/tree"
launcher=$(command -v ccache || true)
cmake -S . -B "$WORK/build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DSHOAL_CUDA=OFF -DSHOAL_PROBE=OFF \
  ${launcher:+-DCMAKE_CXX_COMPILER_LAUNCHER=$launcher} >"$WORK/configure.log"
build() { cmake --build "$WORK/build" --target kernels_test >"$WORK/build.log" 2>&1; }
laws() { timeout 300 "$WORK/build/bin/kernels_test" --gtest_filter="$1" --gtest_brief=1 >"$WORK/laws.log" 2>&1; }
build || { tail -20 "$WORK/build.log"; exit 1; }

survivors=0 planted=0
wanted=" $* "
# mutate NAME FILE FROM TO LAWS: FROM is a Perl pattern that stands in FILE of kernels/cuda.
mutate() {
  local name=$1 file=kernels/cuda/$2 from=$3 to=$4 filter=$5
  [ "$wanted" = "  " ] || [[ $wanted == *" $name "* ]] || return 0
  planted=$((planted + 1))
  cp "$file" "$WORK/original"
  FROM=$from TO=$to perl -0pi -e 's/$ENV{FROM}/$ENV{TO}/s or exit 3' "$file" ||
    { echo "$name: the pattern is not in $file any more"; exit 2; }
  if ! build; then
    echo "$name: does not compile"
    tail -20 "$WORK/build.log"
    exit 2
  fi
  if laws "$filter"; then
    echo "SURVIVES $name ($filter)"
    survivors=$((survivors + 1))
  else
    echo "red      $name: $(grep -m1 -oE 'simt: .*|(damage|first_difference|error)[^,]*,|Failure' "$WORK/laws.log" | cut -c1-120)"
  fi
  cp "$WORK/original" "$file"
}

forward='linear_forward/*simt_bf16_N48K32_*'
mutate weak_wait        parts/tiles.h 'copy_async_wait<kGemmStages - 2>' 'copy_async_wait<kGemmStages - 1>' "$forward"
mutate no_tile_barrier  parts/tiles.h '__syncthreads\(\);  \/\/ the tile is there' '// the tile is there' "$forward"
mutate wrong_stage      parts/tiles.h 'next = kGemmStages - 1;' 'next = kGemmStages - 2;' 'linear_forward/*simt_bf16_N768K3072*Agrees*:linear_backward_input/*Agrees*simt_bf16_N16K272*:linear_forward/*Agrees*simt_bf16_N768*'
mutate shifted_a_chunk  parts/tiles.h 'k \/ 8 \+ \(lane >> 4\), key' 'k / 8 + (lane >> 3 & 1), key' "$forward"
mutate shifted_b_row    parts/tiles.h 'first \+ \(lane & 7\) \+ \(lane >> 4\) \* 8' 'first + (lane & 7) + (lane >> 3 & 1) * 8' "$forward"
mutate wrong_swizzle    parts/tiles.h 'const int key = lane & 7;  \/\/ of all' 'const int key = lane & 3;  // of all' "$forward"
mutate depth_too_short  parts/tiles.h 'k >= depth' 'k + 16 >= depth' "$forward"
mutate live_plus_one    parts/rows.h 'live - run\.own\)\)' 'live + 1 - run.own))' "$forward"
mutate no_tail          parts/rows.h 'min\(count, end - run\.own\)' 'run.live' "$forward"
mutate no_sums_barrier  parts/gemm.h 'sums\.store\(shared\.sums\);\s*__syncthreads\(\);' 'sums.store(shared.sums);' "$forward"
mutate bias_of_slot_0   parts/gemm.h 'of_slot<bf16>\(b, slot\)' 'of_slot<bf16>(b, 0)' "$forward"
mutate add_for_set      weight_gradients.cu 'done > 0 \|\| a\.dw\.mode\[w\] == GradMode::kAdd' 'a.dw.mode[w] != GradMode::kSkip' 'linear_backward_weight*/*simt_bf16_N48K32_ragged*'
mutate set_every_chunk  weight_gradients.cu 'done > 0 \|\| a\.dw' 'a.dw' 'linear_backward_weight*/*Agrees*simt_bf16_N48K32_long_rows*'
mutate skip_ignored     parts/rows.h 'g\.base == nullptr \|\| g\.mode\[w\] == GradMode::kSkip' 'g.base == nullptr' 'linear_backward_weight*/*simt_bf16_N48K32_around_128*'
mutate idle_not_set     parts/rows.h 'rows\.live\[w\] > 0 \|\| g\.mode\[w\] == GradMode::kSet' 'rows.live[w] > 0' 'linear_backward_weight*/*simt_bf16_N48K32_ragged*'
mutate half_a_warp      parts/warp.h 'int apart = kWarp \/ 2; apart > 0; apart \/= 2\) value \+=' 'int apart = kWarp / 4; apart > 0; apart /= 2) value +=' 'bias_dropout_residual_layernorm_forward/*Agrees*simt*'
mutate dead_row         bias_dropout_residual_layernorm.cu 'const bool live = row < run\.live' 'const bool live = row <= run.live' 'bias_dropout_residual_layernorm_forward/*simt*ragged*'
mutate dbias_unrounded  bias_dropout_residual_layernorm.cu 'unpack8\(dz\[i\], dx\);' '' '*SumsTheRounded*'
mutate form_of_1024     parts/layernorm.h 'RowForm<4, 1>>\(\)' 'RowForm<3, 1>>()' 'bias_dropout_residual_layernorm_forward/*simt*width*'
mutate other_micro      parts/dropout.h 'drop\.micro\[w\]\) << 16' 'drop.micro[w]) << 8' 'dropout/*simt*around_128*'
mutate neighbours_drop  parts/dropout.h 'drop\.seed\[w\];' 'drop.seed[0];' 'dropout/*simt*around_128*'
mutate no_partial_guard parts/layernorm.h 'ColumnSumsShared<Form>& shared\) \{\s*__syncthreads\(\);' 'ColumnSumsShared<Form>& shared) {' 'bias_dropout_residual_layernorm_backward/*simt*around_128*'
mutate one_key_more     attention_forward.cu 'i % 2 < keys;' 'i % 2 <= keys;' 'attention_forward/*simt_bf16_H2D16*'
mutate no_syncwarp      parts/attention.h '__syncwarp\(\);\s*#pragma unroll\s*for \(int i = lane; i < 16 \* kChunks' '
#pragma unroll
  for (int i = lane; i < 16 * kChunks' 'attention_forward/*simt_bf16_H2D16*'
mutate no_key_barrier   attention_forward.cu 'queries\.add_keys\(shared, key, scale\);\s*__syncthreads\(\);' 'queries.add_keys(shared, key, scale);' 'attention_forward/*simt_bf16_H2D16*long*'
mutate wrong_dropout    parts/attention.h 'static_cast<std::uint32_t>\(i >> 4\) << 16 \|' 'static_cast<std::uint32_t>(i >> 4) << 8 |' 'attention_backward/*simt_bf16_H2D16*long*'
mutate no_delta         attention_backward.cu '- q\.delta\[half\]' '- 0.0f' 'attention_backward/*Agrees*simt_bf16_H2D16*'
mutate own_of_slot_0    parts/params.h 'static_cast<std::int64_t>\(slot\) \* table\.tensors \+ chunk\.tensor' 'chunk.tensor' 'gradient_norm/*simt*'
mutate decay_of_all     adamw.cu 'span\.decay != 0 \? s\.decay : 1\.0f' 's.decay' 'adamw/*simt*'
mutate held_back_goes   adamw.cu 'if \(!held_back\) update' 'update' 'adamw/*simt*:*adamw*:*touched*'
mutate every_id_chunk   embedding_backward.cu 'c > 0 && chunks\[c - 1\]\.id == id' 'false' 'embedding_backward/*simt*long*'
mutate no_list_barrier  row_ops.cu 'source\.row\[thread\] = -1;\s*__syncthreads\(\);' 'source.row[thread] = -1;' 'scatter_rows/*simt*'
mutate wrong_label      cross_entropy.cu 'label % kWarp\)' '(label + 1) % kWarp)' 'cross_entropy/*Agrees*simt*'
mutate columns_left     classifier.cu 'k < a\.ld; k \+= kWarp\) a\.logits' 'k < n; k += kWarp) a.logits' 'classifier_forward/*simt*'

echo "$planted bugs planted, $survivors survived"
[ "$survivors" -eq 0 ]
