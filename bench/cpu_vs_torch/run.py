#!/usr/bin/env python3
"""cpu_vs_torch: shoal against PyTorch / transformers on this CPU, the same rows, in one run.

  python bench/cpu_vs_torch/run.py --shoal build/bench/bin/shoal --step-gemm build/bench/bin/step_gemm \\
      --minilm DIR --sst2 train.tsv [--out table.md]

The interpreter needs torch, transformers and tokenizers. A cell is (model, batch, jobs). torch trains one
job and is counted as if n jobs took n times as long, which flatters it: nothing is lost between jobs. It may
choose its best of fp32 and bf16 autocast, with and without length grouping, and of torch.compile (dynamic
shapes) on top of the fastest of those. shoal trains n jobs at once with precision "auto". Both tokenise before their clock starts,
and the clock runs over whole updates in steady state: batch, forward, backward, clipping, AdamW. The two sides
take turns, cell by cell, so that a change of the machine meets both. With --step-gemm a last column holds shoal's model
GFLOP/s (6 x parameters of the encoder's matrices x tokens) against what oneDNN reaches over the same products.
"""
import argparse
import itertools
import json
import math
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent


def read_rows(file, count):
    rows = []
    with open(file, encoding="utf-8") as lines:
        next(lines)
        for line in lines:
            text, label = line.rstrip("\n").split("\t")
            rows.append((text, int(label)))
            if len(rows) == count:
                break
    return rows


def make_mini(folder, vocab):
    """BERT-mini (4 layers of 256) with random weights: speed does not depend on what they are."""
    import torch
    from transformers import BertConfig, BertModel, BertTokenizerFast
    torch.manual_seed(0)
    config = BertConfig(vocab_size=30522, hidden_size=256, num_hidden_layers=4, num_attention_heads=4,
                        intermediate_size=1024)
    BertModel(config).save_pretrained(folder)
    shutil.copy(vocab, folder / "vocab.txt")
    BertTokenizerFast(str(folder / "vocab.txt")).save_pretrained(folder)


def tokenise(folder, rows, longest):
    from tokenizers import BertWordPieceTokenizer
    tokenizer = BertWordPieceTokenizer(str(folder / "vocab.txt"), lowercase=True)
    tokenizer.enable_truncation(longest)
    return [(e.ids, label) for e, (_, label) in zip(tokenizer.encode_batch([t for t, _ in rows]), rows)]


def torch_speed(arguments, folder, ids, batch, dtype, grouped, compiled):
    request = dict(folder=str(folder), rows=ids, batch=batch, dtype=dtype, grouped=grouped, compiled=compiled,
                   threads=arguments.threads, warmup=12 if compiled else 4, seconds=arguments.seconds)
    run = subprocess.run([sys.executable, str(HERE / "torch_side.py")], input=json.dumps(request), text=True,
                         capture_output=True, env=dict(os.environ, OMP_NUM_THREADS=str(arguments.threads)))
    if run.returncode:
        sys.exit(f"torch_side.py failed:\n{run.stderr}")
    return json.loads(run.stdout.splitlines()[-1])["rows_per_second"]


def shoal_speed(arguments, folder, train, batch, jobs, expected):
    """Rows a second of all jobs together. expected: a guess, to choose how many updates to make."""
    updates = max(24, math.ceil(expected * arguments.seconds / (batch * jobs)))
    begin = max(4, updates // 8)
    with tempfile.TemporaryDirectory() as scratch:
        fleet = pathlib.Path(scratch) / "fleet.toml"
        fleet.write_text(f"""
[fleet]
output_dir = "run"
threads = {arguments.threads}
slots = {jobs}
[defaults]
model = "{folder}"
train_file = "{train}"
text = "sentence"
max_seq_length = 128
per_device_train_batch_size = {batch}
max_steps = {updates}
logging_steps = 1
[[job]]
name = "s{{seed}}"
sweep.seed = {list(range(1, jobs + 1))}
""")
        run = subprocess.run([arguments.shoal, "train", str(fleet), "--progress", "none"], text=True,
                             capture_output=True)
        if run.returncode:
            sys.exit(f"shoal failed:\n{run.stderr}")
        seconds = {}
        for log in pathlib.Path(scratch).glob("run/*/metrics.jsonl"):
            for line in log.read_text().splitlines():
                entry = json.loads(line)
                if "learning_rate" in entry:
                    seconds.setdefault(entry["update"], []).append(entry["seconds"])
        # Three stretches, the best of them, as on the other side.
        marks = [begin + (updates - begin) * third // 3 for third in range(4)]
        ends = [max(seconds[mark]) for mark in marks]
        return max(jobs * batch * (marks[i + 1] - marks[i]) / (ends[i + 1] - ends[i]) for i in range(3))


SHAPES = {"minilm": (6, 384, 1536), "mini": (4, 256, 1024)}  # layers, hidden, intermediate


def share_of_onednn(arguments, name, ids, batch, rows_per_second):
    layers, hidden, intermediate = SHAPES[name]
    tokens = sum(len(row) for row, _ in ids) / len(ids)
    step = subprocess.run([arguments.step_gemm, str(arguments.threads), str(hidden), str(intermediate),
                           str(round(batch * tokens))], text=True, capture_output=True, check=True)
    reached = 6e-9 * layers * (4 * hidden**2 + 2 * hidden * intermediate) * tokens * rows_per_second
    ceiling = json.loads(step.stdout)["bf16"]
    return f"{reached:.0f} of {ceiling:.0f}: {100 * reached / ceiling:.0f} %"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shoal", required=True)
    parser.add_argument("--minilm", type=pathlib.Path, required=True)
    parser.add_argument("--sst2", required=True, help="train.tsv with the columns sentence, label")
    parser.add_argument("--step-gemm", help="the program bench/step_gemm.cc makes (SHOAL_BENCH)")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=9)
    parser.add_argument("--batches", type=int, nargs="+", default=[8, 32, 128])
    parser.add_argument("--jobs", type=int, nargs="+", default=[1, 4])
    parser.add_argument("--models", nargs="+", default=["minilm", "mini"])
    parser.add_argument("--no-compile", action="store_true", help="leave out torch.compile, which takes minutes")
    parser.add_argument("--out", type=pathlib.Path)
    arguments = parser.parse_args()

    rows = read_rows(arguments.sst2, 16384)
    lines, ratios = [], []
    with tempfile.TemporaryDirectory() as scratch:
        mini = pathlib.Path(scratch) / "mini"
        make_mini(mini, arguments.minilm / "vocab.txt")
        folders = {"minilm": arguments.minilm.resolve(), "mini": mini}
        train = pathlib.Path(scratch) / "train.tsv"
        train.write_text("sentence\tlabel\n" + "".join(f"{t}\t{l}\n" for t, l in rows), encoding="utf-8")
        for name, batch in itertools.product(arguments.models, arguments.batches):
            ids = tokenise(folders[name], rows, 128)
            speeds = {}
            forms = {dtype + " grouped" * grouped: (dtype, grouped)
                     for dtype, grouped in itertools.product(["fp32", "bf16"], [False, True])}
            for form, (dtype, grouped) in forms.items():
                speeds[form] = torch_speed(arguments, folders[name], ids, batch, dtype, grouped, False)
            best = max(speeds, key=speeds.get)
            if not arguments.no_compile:
                speeds[best + " compiled"] = torch_speed(arguments, folders[name], ids, batch, *forms[best], True)
            best = max(speeds, key=speeds.get)
            print(name, batch, {k: round(v) for k, v in speeds.items()}, file=sys.stderr, flush=True)
            for jobs in arguments.jobs:
                ours = shoal_speed(arguments, folders[name], train, batch, jobs, 2 * speeds[best])
                ratios.append(ours / speeds[best])
                lines.append(f"| {name} | {batch} | {jobs} | {ours:.0f} | {speeds[best]:.0f} ({best}) "
                             f"| {ratios[-1]:.2f} |"
                             + (f" {share_of_onednn(arguments, name, ids, batch, ours)} |" if arguments.step_gemm else ""))
                print(lines[-1], file=sys.stderr, flush=True)
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
    cpu = next((l.split(":")[1].strip() for l in open("/proc/cpuinfo") if l.startswith("model name")), "unknown CPU")
    table = "\n".join([
        f"{cpu}, {arguments.threads} threads, {time.strftime('%Y-%m-%d')}", "",
        "| model | batch | jobs | shoal, rows/s | torch, rows/s (best form) | ratio |"
        + (" model GFLOP/s of oneDNN's |" if arguments.step_gemm else ""),
        "|---" * (6 + bool(arguments.step_gemm)) + "|", *lines, "",
        f"Geometric mean of the ratio {mean:.2f}, smallest {min(ratios):.2f}."])
    print(table)
    if arguments.out:
        arguments.out.write_text(table + "\n")


if __name__ == "__main__":
    main()
