# build.sh, sourced by demo.sh, test.sh and .ci/run: configure and build one preset, quietly unless it fails.
# shellcheck shell=bash

# quietly LOG COMMAND...: the last lines of the log are shown where the command fails.
quietly() {
  local log=$1
  shift
  mkdir -p "$(dirname "$log")"
  if ! "$@" >"$log" 2>&1 </dev/null; then
    tail -n 40 "$log" >&2
    echo "failed: $* (all of its output: $log)" >&2
    exit 1
  fi
}

describe_machine() {
  local onednn isa="" flag
  onednn=$(dpkg-query -W -f '${Version}' libdnnl-dev 2>/dev/null | sed 's/[-+~].*//') || onednn="of this system"
  for flag in avx2:AVX2 avx512f:AVX512 avx512_bf16:AVX512-BF16 amx_bf16:AMX-BF16; do
    if grep -qw "${flag%%:*}" /proc/cpuinfo 2>/dev/null; then isa=" with ${flag#*:}"; fi
  done
  echo "oneDNN $onednn, $(nproc) cores$isa"
}

# configure STEP PRESET: prints one line.
configure() {
  quietly "build/$2-configure.log" cmake --preset "$2"
  local compiler cuda="no CUDA compiler: without the cuda device, that is fine"
  compiler=$(sed -n 's/^CMAKE_CXX_COMPILER:[A-Z]*=//p' "build/$2/CMakeCache.txt")
  if command -v nvcc >/dev/null; then cuda="a CUDA compiler is there: the cuda device too"; fi
  echo "$1 configure  $(basename "$compiler") $("$compiler" -dumpfullversion), $(describe_machine); $cuda"
}

# build STEP PRESET TARGET: prints one line.
build() {
  local begin=$SECONDS
  printf '%s build      %s (preset %s) ... ' "$1" "$3" "$2"
  quietly "build/$2-build.log" cmake --build --preset "$2" --target "$3"
  echo "$((SECONDS - begin)) s"
}
