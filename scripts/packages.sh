# packages.sh, sourced by demo.sh, test.sh and .ci/run: the system packages that a build and the tests need.
#
# install_packages STEP installs what is missing on Debian and its children (names of Debian 12; Ubuntu 24.04
# has the same) and prints one line. On other systems it names what to install and exits with 1, unless
# SHOAL_SKIP_PACKAGES=1 says that all of it is there under other names.
# shellcheck shell=bash

packages=(
  g++ cmake ninja-build git python3
  libdnnl-dev       # oneDNN: the matrix products of the CPU device
  ocl-icd-opencl-dev # its CMake package asks for it
  libeigen3-dev     # the reference device
  libfmt-dev libcli11-dev
  libtomlplusplus-dev nlohmann-json3-dev libcsv-dev
  libutf8proc-dev   # the tokenizer's Unicode tables
  libssl-dev        # sha256
  libxxhash-dev     # names of tokenised files that are kept
  libboost-context-dev # the fibers of the simt device
  libgtest-dev
)

install_packages() {
  local step=$1
  if [ "${SHOAL_SKIP_PACKAGES:-0}" = 1 ]; then
    echo "$step packages   not looked at (SHOAL_SKIP_PACKAGES=1)"
    return
  fi
  if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    echo "$step packages   this system has no apt-get. Install what these Debian packages hold, then run again with" >&2
    echo "                 SHOAL_SKIP_PACKAGES=1: ${packages[*]}" >&2
    exit 1
  fi
  local missing=() package begin=$SECONDS
  for package in "${packages[@]}"; do
    [ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)" = installed ] || missing+=("$package")
  done
  local present=$((${#packages[@]} - ${#missing[@]}))
  if [ ${#missing[@]} -eq 0 ]; then
    echo "$step packages   $present present"
    return
  fi
  echo "$step packages   $present present, ${#missing[@]} missing: ${missing[*]}"
  local root=()
  if [ "$(id -u)" -ne 0 ]; then
    if ! command -v sudo >/dev/null; then
      echo "                 neither root nor sudo here; as root: apt-get install ${missing[*]}" >&2
      exit 1
    fi
    root=(sudo)
  fi
  local log
  log=$(mktemp)
  printf '                 apt-get install ... '
  if ! { "${root[@]}" apt-get update &&
         "${root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "${missing[@]}"
       } >"$log" 2>&1 </dev/null; then
    echo "failed; its last lines:"
    tail -n 20 "$log" >&2
    rm -f "$log"
    exit 1
  fi
  rm -f "$log"
  echo "$((SECONDS - begin)) s"
}
