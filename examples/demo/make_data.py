#!/usr/bin/env python3
"""make_data.py FOLDER: writes the four demo tasks and their vocab.txt into FOLDER.

Python's standard library only. Only random.Random(int).random() is used, whose sequence Python promises
to keep, so every Python 3 writes the same bytes. No row occurs twice, hence no dev row occurs in train.
"""

import csv
import json
import pathlib
import random
import re
import sys
from collections import Counter

import sentences

DEV_ROWS, VOCABULARY = 400, 2048
TASKS = {"mood": (4400, "tsv"), "topic": (2000, "csv"), "order": (2000, "tsv"), "pair": (2000, "jsonl")}


def draw(task, count, seed):
    """`count` different rows of a task, in mixed order, each a dict by column."""
    source = random.Random(seed)
    seen = {}
    while len(seen) < count:
        label, *texts = task(lambda choices: choices[int(source.random() * len(choices))])
        seen.setdefault(tuple(texts), dict(zip(("text", "text_pair"), texts), label=label))
    return sorted(seen.values(), key=lambda row: source.random())


def write(path, rows):
    with open(path, "w", encoding="utf-8", newline="") as out:
        if path.suffix == ".jsonl":
            out.writelines(json.dumps(row) + "\n" for row in rows)
        elif path.suffix == ".csv":
            table = csv.DictWriter(out, fieldnames=list(rows[0]), lineterminator="\n")
            table.writeheader()
            table.writerows(rows)
        else:
            out.writelines("\t".join(line) + "\n" for line in [list(rows[0])] + [list(row.values()) for row in rows])


def vocabulary(texts):
    """Special tokens, characters, the words used, then word ends and beginnings up to VOCABULARY entries.

    Every character stands alone and as a continuation, so that text in these characters never gives [UNK].
    """
    words = Counter(word for text in texts for word in re.findall(r"[a-z]+|[^a-z\s]", text.lower()))
    characters = sorted(set("abcdefghijklmnopqrstuvwxyz0123456789.,;:!?'\"()-&%$#/@*+=") | set("".join(words)))
    entries = dict.fromkeys(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"])
    entries.update(dict.fromkeys(characters + ["##" + c for c in characters]))
    entries.update(dict.fromkeys(sorted(words, key=lambda word: (-words[word], word))))
    letters = "etaoinsrhldcumfpgwybvkxjqz"
    pairs = sorted((a + b for a in letters for b in letters), key=lambda p: letters.index(p[0]) + letters.index(p[1]))
    ends = Counter("##" + word[-n:] for word in words for n in range(2, 7) if len(word) > n)
    starts = Counter(word[:n] for word in words for n in range(2, 7) if len(word) > n)
    for parts in (ends, starts):
        entries.update(dict.fromkeys(sorted(parts, key=lambda part: (-parts[part], part))))
    entries.update(dict.fromkeys(["##" + pair for pair in pairs] + pairs))
    if len(entries) < VOCABULARY:
        sys.exit(f"only {len(entries)} vocabulary entries, {VOCABULARY} wanted")
    return list(entries)[:VOCABULARY]


def main():
    if len(sys.argv) != 2:
        sys.exit(f"usage: {sys.argv[0]} FOLDER")
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    texts = []
    for seed, (name, (train_rows, suffix)) in enumerate(TASKS.items(), start=7):
        rows = draw(getattr(sentences, name), train_rows + DEV_ROWS, seed)
        write(folder / f"{name}_train.{suffix}", rows[:train_rows])
        write(folder / f"{name}_dev.{suffix}", rows[train_rows:])
        texts += [row[column] for row in rows for column in ("text", "text_pair") if column in row]
    (folder / "vocab.txt").write_text("\n".join(vocabulary(texts)) + "\n", encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
