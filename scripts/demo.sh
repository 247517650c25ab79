#!/usr/bin/env bash
# demo.sh: installs what is missing, builds shoal, fine-tunes the four small models of examples/demo.toml at once.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. scripts/packages.sh
. scripts/build.sh

data=examples/demo/data
shoal=build/cpu/bin/shoal

install_packages "[1/4]"
configure "[2/4]" cpu
build "[3/4]" cpu shoal

# An interrupted or older run of the generator leaves no stamp of this version.
stamp=$(cat examples/demo/*.py | cksum)
if [ "$(cat $data/stamp 2>/dev/null || true)" != "$stamp" ]; then
  rm -rf $data
  python3 examples/demo/make_data.py $data
  python3 examples/demo/bag_of_words.py $data >$data/bag_of_words.json
  echo "$stamp" >$data/stamp
fi
echo "[4/4] train      $shoal train examples/demo.toml"
echo
$shoal train examples/demo.toml --overwrite

echo
python3 examples/demo/table.py runs/demo/results.csv $data/bag_of_words.json
echo
echo '$ shoal predict runs/demo/mood --text "nothing about this trip was bad"'
$shoal predict runs/demo/mood --text "nothing about this trip was bad"
