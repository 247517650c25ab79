#!/usr/bin/env python3
"""parity: the same jobs by shoal and by Hugging Face's Trainer, from the same weights, rows in the same order.

  python bench/peers/parity.py --shoal build/cpu/bin/shoal --job-start build/bench/bin/job_start \\
      --minilm DIR --data DIR --work DIR [--seeds 5] [--tasks sst2 trec cola rte]

Without dropout: one epoch in fp32, then the largest difference of any dev logit, and the metrics of both.
With dropout (the model's own 0.1): --seeds seeds a side, then the difference of the mean metrics in standard
errors. The interpreter needs torch, transformers, accelerate and scikit-learn; --work keeps what is finished,
so an interrupted run goes on where it was. DIR of --data is what scripts/prepare_glue.py writes.
"""
import argparse
import csv
import json
import math
import pathlib
import shutil
import statistics
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
TASKS = {"sst2": ("accuracy", "max_train_samples = 10000"), "trec": ("accuracy", ""),
         "cola": ("matthews_correlation", ""),
         "rte": ("accuracy", 'text = "sentence1"\ntext_pair = "sentence2"')}
EXACT_LOGITS, EXACT_POINTS = 1e-3, 0.3


def run(*command):
    done = subprocess.run([str(part) for part in command], text=True, capture_output=True)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}")
    return done.stdout


def write_fleet(arguments, kind, extra):
    """One job a task; extra: more lines of each."""
    folder = arguments.work / kind
    folder.mkdir(parents=True, exist_ok=True)
    text = (HERE / "parity.toml").read_text().format(out=folder / "shoal", data=arguments.data.resolve(),
                                                     minilm=arguments.minilm.resolve())
    for task in arguments.tasks:
        text += f'\n[[job]]\nname = "{task}"\n{TASKS[task][1]}\n{extra}\n'
    fleet = folder / "fleet.toml"
    if fleet.exists() and fleet.read_text() != text:  # other tasks or seeds: what hangs on the old ones goes
        shutil.rmtree(folder / "start", ignore_errors=True)
        (folder / "shoal" / "results.csv").unlink(missing_ok=True)
    fleet.write_text(text)
    return fleet


def train_both(arguments, kind, fleet, names):
    folder = arguments.work / kind
    if not (folder / "start").exists():
        run(arguments.job_start, fleet, folder / "start")
    if not (folder / "shoal" / "results.csv").exists():
        run(arguments.shoal, "train", fleet, "--progress", "none", "--overwrite")
    for name in names:
        if not (folder / "hf" / (name + ".json")).exists():
            print(f"{kind}: {name} by Trainer", file=sys.stderr, flush=True)
            run(*arguments.wrap, sys.executable, HERE / "hf_trainer.py", folder / "start", name, folder / "hf",
                arguments.threads)


def our_logits(arguments, kind, name, task):
    columns = ["--text-column", "sentence1", "--text-pair-column", "sentence2"] if task == "rte" else \
        ["--text-column", "sentence"]
    lines = run(arguments.shoal, "predict", arguments.work / kind / "shoal" / name,
                arguments.data / task / "dev.tsv", "--json", "--precision", "fp32", *columns)
    return [list(json.loads(line)["logits"].values()) for line in lines.splitlines()]


def our_metrics(folder):
    with open(folder / "shoal" / "results.csv", newline="") as rows:
        return {row["name"]: row for row in csv.DictReader(rows)}


def exact(arguments):
    fleet = write_fleet(arguments, "exact", "hidden_dropout_prob = 0.0\nattention_probs_dropout_prob = 0.0\n"
                                            "classifier_dropout = 0.0")
    train_both(arguments, "exact", fleet, arguments.tasks)
    ours, fine = our_metrics(arguments.work / "exact"), True
    print("| task | metric | shoal | Trainer | largest difference of a dev logit |\n|---|---|---|---|---|")
    for task in arguments.tasks:
        metric = TASKS[task][0]
        theirs = json.loads((arguments.work / "exact" / "hf" / (task + ".json")).read_text())
        worst = max(abs(a - b) for x, y in zip(our_logits(arguments, "exact", task, task), theirs["logits"], strict=True)
                    for a, b in zip(x, y, strict=True))
        value = float(ours[task]["eval_" + metric])
        fine &= worst <= EXACT_LOGITS and 100 * abs(value - theirs[metric]) <= EXACT_POINTS
        print(f"| {task} | {metric} | {value:.4f} | {theirs[metric]:.4f} | {worst:.1e} |")
    return fine


def seeds(arguments):
    fleet = write_fleet(arguments, "seeds", "")
    text = fleet.read_text()
    for task in arguments.tasks:
        text = text.replace(f'name = "{task}"\n', f'name = "{task}-{{seed}}"\n'
                            f'sweep.seed = {list(range(1, arguments.seeds + 1))}\n'
                            f'train_file = "{arguments.data.resolve()}/{task}/train.tsv"\n'
                            f'validation_file = "{arguments.data.resolve()}/{task}/dev.tsv"\n')
    fleet.write_text(text)
    names = [f"{task}-{seed}" for task in arguments.tasks for seed in range(1, arguments.seeds + 1)]
    train_both(arguments, "seeds", fleet, names)
    ours, fine = our_metrics(arguments.work / "seeds"), True
    print("\n| task | metric | shoal, mean (sd) | Trainer, mean (sd) | difference in standard errors |\n|---|---|---|---|---|")
    for task in arguments.tasks:
        metric, mine, theirs = TASKS[task][0], [], []
        for seed in range(1, arguments.seeds + 1):
            name = f"{task}-{seed}"
            mine.append(float(ours[name]["eval_" + metric]))
            theirs.append(json.loads((arguments.work / "seeds" / "hf" / (name + ".json")).read_text())[metric])
        error = math.sqrt((statistics.variance(mine) + statistics.variance(theirs)) / arguments.seeds)
        apart = abs(statistics.mean(mine) - statistics.mean(theirs)) / error if error else 0.0
        fine &= apart <= 2
        print(f"| {task} | {metric} | {statistics.mean(mine):.4f} ({statistics.stdev(mine):.4f}) "
              f"| {statistics.mean(theirs):.4f} ({statistics.stdev(theirs):.4f}) | {apart:.2f} |")
    return fine


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shoal", required=True)
    parser.add_argument("--job-start", required=True)
    for name in ("--minilm", "--data", "--work"):
        parser.add_argument(name, type=pathlib.Path, required=True)
    parser.add_argument("--seeds", type=int, default=5, help="0: leave that part out")
    parser.add_argument("--tasks", nargs="+", default=list(TASKS), choices=list(TASKS))
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--wrap", nargs="*", default=[], help="a command to run Trainer under, such as nice")
    arguments = parser.parse_args()
    arguments.work = arguments.work.resolve()
    fine = exact(arguments)
    if arguments.seeds:
        fine &= seeds(arguments)
    sys.exit(0 if fine else 1)


if __name__ == "__main__":
    main()
