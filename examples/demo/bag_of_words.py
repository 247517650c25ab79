#!/usr/bin/env python3
"""bag_of_words.py FOLDER: what a logistic regression on word counts reaches on the demo tasks, as JSON by task.

The yardstick beside the fine-tuned models: it sees which words a row has, not how they stand together.
Words of a second text are features of their own. Multinomial regression, trained by plain gradient steps
over the rows with a decaying rate until it no longer gains. Python's standard library only.
"""

import csv
import json
import math
import pathlib
import random
import re
import sys

EPOCHS, RATE, DECAY = 15, 0.03, 1e-4


def read(path):
    with open(path, encoding="utf-8", newline="") as file:
        if path.suffix == ".jsonl":
            return [json.loads(line) for line in file]
        return list(csv.DictReader(file, delimiter="\t" if path.suffix == ".tsv" else ",",
                                   quoting=csv.QUOTE_NONE if path.suffix == ".tsv" else csv.QUOTE_MINIMAL))


def words(row):
    """The row's word counts as (feature, count); a word of text_pair is not the same feature as one of text."""
    counts = {"bias": 1.0}
    for column in ("text", "text_pair"):
        for word in re.findall(r"\w+|[^\w\s]", row.get(column, "").lower()):
            counts[column, word] = counts.get((column, word), 0.0) + 1.0
    return list(counts.items())


def probabilities(weights, features):
    scores = [sum(count * table.get(feature, 0.0) for feature, count in features) for table in weights]
    top = max(scores)
    powers = [math.exp(score - top) for score in scores]
    return [power / sum(powers) for power in powers]


def accuracy(weights, rows):
    hits = 0
    for features, label in rows:
        shares = probabilities(weights, features)
        hits += shares.index(max(shares)) == label
    return hits / len(rows)


def fit(rows, labels):
    weights = [{} for _ in range(labels)]
    rows, source = list(rows), random.Random(1)
    for epoch in range(EPOCHS):
        rows.sort(key=lambda row: source.random())
        rate = RATE / (1 + epoch / 3)
        for features, label in rows:
            for index, (table, share) in enumerate(zip(weights, probabilities(weights, features))):
                slope = rate * ((index == label) - share)
                for feature, count in features:
                    old = table.get(feature, 0.0)
                    table[feature] = old + slope * count - rate * DECAY * old
    return weights


def main():
    if len(sys.argv) != 2:
        sys.exit(f"usage: {sys.argv[0]} FOLDER")
    folder, result = pathlib.Path(sys.argv[1]), {}
    for train in sorted(folder.glob("*_train.*")):
        task = train.name.partition("_train")[0]
        sets = [read(path) for path in (train, folder / train.name.replace("_train", "_dev"))]
        labels = sorted({row["label"] for row in sets[0]})
        rows = [[(words(row), labels.index(row["label"])) for row in part] for part in sets]
        weights = fit(rows[0], len(labels))
        result[task] = round(accuracy(weights, rows[1]), 4)
    print(json.dumps(result))


if __name__ == "__main__":
    main()
