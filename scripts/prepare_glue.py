#!/usr/bin/env python3
"""prepare_glue.py SOURCE TARGET: plain train and dev files of SST-2, TREC, CoLA and RTE for examples/real.toml.

SOURCE holds the folders sst2, trec, cola, rte with the files as their authors publish them (GLUE's layout;
TREC as label, blank, question, in latin-1). TARGET gets NAME/train.tsv and NAME/dev.tsv in UTF-8: a header
line, tabs between columns, no quoting. Texts are not changed. Python's standard library only.
"""

import pathlib
import sys


def lines(path, encoding="utf-8"):
    """The file's lines by LF alone: a text may hold other control characters that splitlines would cut at."""
    found = path.read_bytes().decode(encoding).split("\n")
    return found[:-1] if found[-1] == "" else found


def with_header(path, columns):
    """Rows of a TSV with a header, as the columns asked for."""
    header, *rows = [line.split("\t") for line in lines(path)]
    places = [header.index(column) for column in columns]
    return [[row[place] for place in places] for row in rows]


def sst2(source, split):
    return [["sentence", "label"]] + with_header(source / f"{split}.tsv", ["sentence", "label"])


def trec(source, split):
    """The coarse label is what stands before the colon; the published test set serves as dev."""
    rows = [line.split(" ", 1) for line in lines(source / ("train.txt" if split == "train" else "test.txt"), "latin-1")]
    return [["sentence", "label"]] + [[text, label.partition(":")[0]] for label, text in rows]


def cola(source, split):
    rows = [line.split("\t") for line in lines(source / f"{split}.tsv")]
    return [["sentence", "label"]] + [[text, label] for _, label, _, text in rows]


def rte(source, split):
    columns = ["sentence1", "sentence2", "label"]
    return [columns] + with_header(source / f"{split}.tsv", columns)


def main():
    if len(sys.argv) != 3:
        sys.exit(f"usage: {sys.argv[0]} SOURCE TARGET")
    source, target = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    for read in (sst2, trec, cola, rte):
        folder = target / read.__name__
        folder.mkdir(parents=True, exist_ok=True)
        for split in ("train", "dev"):
            table = read(source / read.__name__, split)
            text = "".join("\t".join(row) + "\n" for row in table)
            (folder / f"{split}.tsv").write_bytes(text.encode("utf-8"))
            print(f"{folder / split}.tsv: {len(table) - 1} rows")


if __name__ == "__main__":
    main()
