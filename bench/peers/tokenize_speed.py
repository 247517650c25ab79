#!/usr/bin/env python3
"""Tokenising speed of Shoal and of Hugging Face's `tokenizers` library, on the same lines, in one run.

    cmake -B build/bench -DCMAKE_BUILD_TYPE=Release -DSHOAL_BENCH=ON && cmake --build build/bench --target tokenize
    python3 bench/peers/tokenize_speed.py build/bench/bin/tokenize [DATA]

Lines are those of SST-2, GoEmotions and Waimai (DATA, default ../shared/data), truncated to 512 tokens. The
library is run by encode_batch_fast, which gives no offsets, from a list of str; the best of five counts on
both sides. Numbers of threads are set by RAYON_NUM_THREADS there.
"""
import json
import os
import subprocess
import sys
import tempfile
import time

CASES = (("uncased", "uncased", "sst2/train.tsv"), ("cased", "cased", "goemotions/train.tsv"),
         ("chinese", "uncased", "waimai_10k/waimai_10k.csv"))


def library(vocab, case, file):
    from tokenizers import BertWordPieceTokenizer

    tokenizer = BertWordPieceTokenizer(vocab, lowercase=case == "uncased")
    tokenizer.enable_truncation(512)
    lines = open(file, encoding="utf-8", newline="\n").read().rstrip("\n").split("\n")
    best = 1e30
    for _ in range(5):
        start = time.perf_counter()
        out = tokenizer._tokenizer.encode_batch_fast(lines)
        best = min(best, time.perf_counter() - start)
    print(json.dumps({"rows": len(lines), "tokens": sum(len(e.ids) - 2 for e in out), "seconds": best}))


def main():
    if sys.argv[1] == "library":
        return library(*sys.argv[2:])
    data = sys.argv[2] if len(sys.argv) > 2 else os.path.join(os.path.dirname(__file__), "../../../shared/data")
    print(f"{'lines of':<28}{'threads':>8}{'tokens':>10}{'shoal s':>10}{'library s':>11}{'ratio':>7}")
    for vocab, case, name in CASES:
        vocab = os.path.join(data, "bert_vocab", f"bert-base-{vocab}-vocab.txt")
        file = os.path.join(data, name)
        for threads in (1, 2):
            ours = json.loads(subprocess.run([sys.argv[1], vocab, case, file, str(threads)], check=True,
                                             capture_output=True, text=True).stdout)
            env = dict(os.environ, RAYON_NUM_THREADS=str(threads), TOKENIZERS_PARALLELISM="true")
            theirs = json.loads(subprocess.run([sys.executable, __file__, "library", vocab, case, file], check=True,
                                               capture_output=True, text=True, env=env).stdout)
            assert (ours["rows"], ours["tokens"]) == (theirs["rows"], theirs["tokens"]), (ours, theirs)
            print(f"{name:<28}{threads:>8}{ours['tokens']:>10}{ours['seconds']:>10.3f}{theirs['seconds']:>11.3f}"
                  f"{theirs['seconds'] / ours['seconds']:>7.1f}")


if __name__ == "__main__":
    main()
