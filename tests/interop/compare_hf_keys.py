#!/usr/bin/env python3
"""Do the keys of a fleet file mean in the installed transformers what our table says they do?

  compare_hf_keys.py --shoal build/cpu/bin/shoal    reads what `shoal help --markdown` prints
  compare_hf_keys.py --page docs/fleet-file.md      reads the committed page, which is the same

The column "transformers" of a key is a claim, and each form of it is held against the library:
  same ...                       TrainingArguments has a field of that name and of our default
  same (default X ...)           the field is there and its default is X, not ours
  same (in config.json)          BertConfig has it
  same (in SCRIPT.py ...)        an argument of transformers' example scripts, which are no part of the package
  EarlyStoppingCallback's        an argument of it
Also: every name that lr_scheduler_type, optim and eval_strategy take is one of the library's; the settings listed for
lr_scheduler_kwargs are those of its schedules; and every field of TrainingArguments is a key, or answered in words.

Needs transformers and torch; prints all faults, exits 1 if there is one.
"""
import argparse
import dataclasses
import enum
import inspect
import pathlib
import re
import subprocess
import sys

import transformers
from transformers import optimization
from transformers.trainer_utils import IntervalStrategy, SchedulerType
from transformers.training_args import OptimizerNames

# Of warmup_stable_decay: texts, of which the table speaks as of what is not there yet.
KWARGS_NOT_LISTED = {"warmup_type", "decay_type"}
# Given by the trainer, not by lr_scheduler_kwargs.
KWARGS_OF_TRAINER = {"optimizer", "num_warmup_steps", "num_training_steps", "last_epoch"}


def tables(page):
    """Rows of each table of the page, by the heading above it."""
    found, heading = {}, ""
    for line in page.splitlines():
        if line.startswith("## "):
            heading = line[3:]
        elif line.startswith("| `"):
            cells = [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
            found.setdefault(heading, []).append([cells[0].strip("`"), *cells[1:]])
    return found


def parsed(text):
    """A default as the table shows it; None for words such as "that of seed"."""
    if text in ("true", "false"):
        return text == "true"
    if text.startswith('"'):
        return text.strip('"')
    try:
        return float(text)
    except ValueError:
        return None


def plain(value):
    return value.value if isinstance(value, enum.Enum) else value


def default_of(field):
    if field.default is not dataclasses.MISSING:
        return plain(field.default)
    return field.default_factory() if field.default_factory is not dataclasses.MISSING else None


class Comparison:
    def __init__(self):
        self.faults = []
        self.fields = {field.name: field for field in dataclasses.fields(transformers.TrainingArguments)}
        self.compared = 0

    def fault(self, what):
        self.faults.append(what)

    def check_key(self, name, default, claim):
        self.compared += 1
        if claim == "same (in config.json)":
            if name not in transformers.BertConfig().to_dict() and not hasattr(transformers.BertConfig(), name):
                self.fault(f"{name}: BertConfig has no such attribute")
        elif claim == "EarlyStoppingCallback's":
            if name not in inspect.signature(transformers.EarlyStoppingCallback).parameters:
                self.fault(f"{name}: EarlyStoppingCallback has no such argument")
        elif re.match(r"same \(in \w+\.py", claim) or not claim.startswith("same"):
            self.compared -= 1
            if claim == "-" and name in self.fields:
                self.fault(f"{name}: the table says that transformers has no such key, but TrainingArguments has it")
        elif name not in self.fields:
            self.fault(f"{name}: TrainingArguments has no such field")
        else:
            self.check_default(name, default, claim)

    def check_default(self, name, default, claim):
        theirs, ours = default_of(self.fields[name]), parsed(default)
        stated = re.search(r"\(default ([^\s,):]+)", claim)
        if not stated:
            if theirs != ours:
                self.fault(f"{name}: default {default} here, {theirs!r} in transformers; the table says \"{claim}\"")
            return
        said = None if stated[1] == "none" else parsed(stated[1]) if parsed(stated[1]) is not None else stated[1]
        if theirs != said:
            self.fault(f"{name}: the table says that transformers' default is {stated[1]}, it is {theirs!r}")
        if theirs == ours:
            self.fault(f"{name}: the table says that the defaults differ, both are {theirs!r}")

    def check_choices(self, name, takes, theirs):
        known = {member.value for member in theirs}
        for choice in takes.removeprefix("one of ").split(", "):
            if choice not in known:
                self.fault(f"{name} takes {choice}, which transformers does not know")

    def check_kwargs(self, meaning):
        listed = re.search(r": (.*)\.$", meaning)[1]
        for schedule in listed.split("; "):
            name, _, settings = schedule.partition(": ")
            parameters = set(inspect.signature(optimization.TYPE_TO_SCHEDULER_FUNCTION[SchedulerType(name)]).parameters)
            wanted = parameters - KWARGS_OF_TRAINER - KWARGS_NOT_LISTED
            if set(settings.split(", ")) != wanted:
                self.fault(f"lr_scheduler_kwargs of {name}: {settings}; in transformers: {', '.join(sorted(wanted))}")

    def check_answers(self, answered):
        for name in self.fields:
            if name not in answered and not name.startswith("_"):
                self.fault(f"{name}: a field of TrainingArguments that is no key and is not answered in words")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("--shoal", type=pathlib.Path, help="the program")
    source.add_argument("--page", type=pathlib.Path, help="docs/fleet-file.md")
    arguments = parser.parse_args()
    if arguments.page:
        page = arguments.page.read_text(encoding="utf-8")
    else:
        command = [arguments.shoal, "help", "--markdown"]
        page = subprocess.run(command, check=True, capture_output=True, text=True).stdout

    found = tables(page)
    keys = found["[fleet]"] + found["[defaults] and [[job]]"]
    comparison = Comparison()
    for name, _, default, claim, _ in keys:
        comparison.check_key(name, default, claim)
    rows = {row[0]: row for row in keys}
    for name, theirs in (("lr_scheduler_type", SchedulerType), ("optim", OptimizerNames),
                         ("eval_strategy", IntervalStrategy)):
        comparison.check_choices(name, rows[name][1], theirs)
    comparison.check_kwargs(rows["lr_scheduler_kwargs"][4])
    comparison.check_answers({row[0] for table in found.values() for row in table})
    for fault in comparison.faults:
        print(fault)
    print(f"{comparison.compared} of {len(keys)} keys compared with transformers {transformers.__version__}, "
          f"{len(comparison.fields)} fields of TrainingArguments: {len(comparison.faults)} faults")
    sys.exit(1 if comparison.faults else 0)


if __name__ == "__main__":
    main()
