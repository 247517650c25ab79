#!/usr/bin/env bash
# test.sh: installs what is missing, builds everything (preset cpu), runs the tests.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. scripts/packages.sh
. scripts/build.sh

install_packages "[1/4]"
configure "[2/4]" cpu
build "[3/4]" cpu all
echo "[4/4] ctest --preset cpu"
ctest --preset cpu --parallel "$(nproc)"
