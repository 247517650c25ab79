#!/usr/bin/env python3
"""Writes tests/golden/tokenizer_parity.json: hashes over ids and offsets as the `tokenizers` library gives them.

    python3 tests/golden/make_tokenizer_parity.py [DATA] > tests/golden/tokenizer_parity.json

For the vocabularies of DATA/bert_vocab (default ../shared/data) and for the small V0:
points   a hash for each 16,384 code points: every code point alone, then between a and b
random   a hash for each 1,000 of 30,000 made-up lines (random_lines below; the test makes the same)
real     for each file a hash over its lines; at least 100,000 lines together with the random ones
A hash is FNV-1a over 32-bit numbers: of each token its id, begin and end (code points of the original text),
and after each text 0xffffffff. Takes two minutes.
"""
import json
import os
import sys

import tokenizers
from make_tokenizer_golden import OPTIONS, V0, build

VOCABULARIES = (("V0", "uncased"), ("uncased", "uncased"), ("cased", "cased"), ("chinese", "uncased"))
FILES = (("sst2/train.tsv", 20000), ("goemotions/train.tsv", 20000), ("waimai_10k/waimai_10k.csv", 11988),
         ("banking77/train.csv", 10017), ("cola/train.tsv", 8551), ("trec/train.txt", 5452),
         ("wnut17/train.conll", 10000), ("rte/train.tsv", 2491), ("xquad/xquad.zh.json", 1),
         ("uner_zh_gsdsimp/zh_gsdsimp-ud-dev.iob2", 5000), ("stsb/train.tsv", 5750))
POOLS = ["abx ACX", "the of ing", "éÀÏçñĀßΣςŁİ", "\u0301\u0308\u0327\u0323\u0345\u05b0",
         "\u302e\u302f\u309a\u3099\U0001d165\U0001d16e\U0001d15e\u0344", "中国的是\u9fff\U00020000\uf900", ".,!'[]#-_",
         " \t\n\u00a0\u2003", "\u200b\u200d\ufe0f\u00ad\u0000\ufffd", "か\u304d\uff76\uff9eがギ", "한국어\u1112\u1161\u11ab",
         "\u0915\u093c\u094d\u0947\u0958", "\U0001f600\U0001f3fd", "\u0e01\u0e33\u0e49\u0f71\u0f73\u0f74"]
SPECIAL = ["[SEP]", "[MASK]", "[CLS]", "[PAD]", "[UNK]", "[sep]"]
MASK = 0xffffffffffffffff


class Numbers:
    """splitmix64."""

    def __init__(self, seed):
        self.state = seed

    def below(self, n):
        self.state = (self.state + 0x9e3779b97f4a7c15) & MASK
        z = self.state
        z = ((z ^ (z >> 30)) * 0xbf58476d1ce4e5b9) & MASK
        z = ((z ^ (z >> 27)) * 0x94d049bb133111eb) & MASK
        return (z ^ (z >> 31)) % n


def random_line(i):
    numbers = Numbers(i)
    out = ""
    for _ in range(1 + numbers.below(40)):
        kind = numbers.below(16)
        if kind == 0:
            point = numbers.below(0x110000 - 0x800)
            out += chr(point if point < 0xd800 else point + 0x800)
        elif kind == 1:
            out += chr(numbers.below(0x3400))
        elif kind == 2 and numbers.below(4) == 0:
            out += SPECIAL[numbers.below(len(SPECIAL))]
        else:
            pool = POOLS[numbers.below(len(POOLS))]
            out += pool[numbers.below(len(pool))]
    return out


def fnv_of(tokenizer, texts):
    value = 0xcbf29ce484222325
    for encoding in tokenizer.encode_batch(texts, add_special_tokens=False):
        for token, (begin, end) in zip(encoding.ids, encoding.offsets):
            value = ((value ^ token) * 0x100000001b3) & MASK
            value = ((value ^ begin) * 0x100000001b3) & MASK
            value = ((value ^ end) * 0x100000001b3) & MASK
        value = ((value ^ 0xffffffff) * 0x100000001b3) & MASK
    return f"{value:016x}"


def points(tokenizer):
    out = []
    for block in range(0, 0x110000, 0x4000):
        all_points = [chr(p) for p in range(block, block + 0x4000) if not 0xd800 <= p < 0xe000]
        out.append(fnv_of(tokenizer, [t for c in all_points for t in (c, "a" + c + "b")]))
    return out


def real(tokenizer, data):
    out = []
    for name, most in FILES:
        text = open(os.path.join(data, name), "rb").read()
        lines = text.decode("latin-1" if name.startswith("trec") else "utf-8").split("\n")[:most]
        out.append({"file": name, "lines": len(lines), "hash": fnv_of(tokenizer, lines)})
    return out


def main():
    data = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(__file__), "../../../shared/data")
    lines = [random_line(i) for i in range(30000)]
    out = {"made_with": f"tokenizers {tokenizers.__version__}", "pools": POOLS, "special": SPECIAL, "vocabularies": []}
    for name, options in VOCABULARIES:
        vocab, file = V0, ""
        if name != "V0":
            file = f"bert-base-{name}-vocab.txt"
            vocab = open(os.path.join(data, "bert_vocab", file), encoding="utf-8", newline="\n").read()
            vocab = vocab.rstrip("\n").split("\n")
        tokenizer = build(vocab, OPTIONS[options])
        out["vocabularies"].append({
            "name": name, "file": file, "options": options, "points": points(tokenizer),
            "random": [fnv_of(tokenizer, lines[i:i + 1000]) for i in range(0, len(lines), 1000)],
            "real": real(tokenizer, data)})
        print(name, "done", file=sys.stderr)
    json.dump(out, sys.stdout, indent=0)
    print()


if __name__ == "__main__":
    main()
