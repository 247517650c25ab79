#!/usr/bin/env python3
"""Learning rates of transformers' get_scheduler, update by update: tests/golden/schedules.json.

Run with a Python that has transformers and torch:  python make_schedule_golden.py > schedules.json
"""
import json

import torch
import transformers
from transformers.optimization import get_scheduler

CASES = [
    # type, kwargs, warm-ups
    ("linear", {}, [0, 1, 3, 9, 10, 15]),
    ("cosine", {}, [0, 1, 3, 10]),
    ("cosine", {"num_cycles": 1.5}, [0, 2]),
    ("cosine_with_restarts", {}, [0, 3]),
    ("cosine_with_restarts", {"num_cycles": 3}, [0, 2, 10]),
    ("cosine_with_min_lr", {"min_lr": 1e-6}, [0, 3]),
    ("cosine_with_min_lr", {"min_lr_rate": 0.1, "num_cycles": 0.7}, [0, 3]),
    ("polynomial", {}, [0, 3, 10]),
    ("polynomial", {"lr_end": 1e-6, "power": 2.5}, [0, 3]),
    ("inverse_sqrt", {}, [0, 3, 10]),
    ("inverse_sqrt", {"timescale": 7}, [0, 3]),
    ("constant", {}, [0, 3]),
    ("constant_with_warmup", {}, [0, 3, 15]),
    ("warmup_stable_decay", {"num_decay_steps": 4}, [0, 2]),
    ("warmup_stable_decay", {"num_decay_steps": 3, "num_stable_steps": 2, "min_lr_ratio": 0.05}, [0, 2]),
    ("warmup_stable_decay", {"num_decay_steps": 10, "num_cycles": 1.0, "min_lr_ratio": 0.1}, [3]),
]
UPDATES = 10
RATE = 3e-5


def rates(name, kwargs, warmup):
    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=RATE)
    scheduler = get_scheduler(
        name, optimizer, num_warmup_steps=warmup, num_training_steps=UPDATES, scheduler_specific_kwargs=dict(kwargs)
    )
    out = []
    for _ in range(UPDATES):
        out.append(scheduler.get_last_lr()[0])
        optimizer.step()
        scheduler.step()
    return out


def main():
    cases = []
    for name, kwargs, warmups in CASES:
        for warmup in warmups:
            try:
                found = rates(name, kwargs, warmup)
            except ZeroDivisionError:  # polynomial divides by what a whole warm-up leaves, one update too late
                continue
            cases.append({"type": name, "kwargs": kwargs, "warmup": warmup, "rates": found})
    print(json.dumps({"transformers": transformers.__version__, "learning_rate": RATE, "cases": cases}, indent=1))


main()
