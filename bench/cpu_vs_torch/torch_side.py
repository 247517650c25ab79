"""One job as a careful user of torch would train it: the clock of run.py's other side.

Tokenised before the clock starts; dynamic padding to the longest row of the batch; AdamW (fused), clipping
and a linear schedule as HF Trainer has them; scaled dot product attention, dropout as in config.json.
"""
import json
import random
import sys
import time

import torch
from transformers import AutoModelForSequenceClassification, get_linear_schedule_with_warmup


def batches(rows, size, grouped, seed):
    """Shuffled; grouped: HF's length grouping, sorted within 50 batches."""
    order = list(range(len(rows)))
    rng = random.Random(seed)
    while True:
        rng.shuffle(order)
        epoch = order
        if grouped:
            mega = 50 * size
            epoch = []
            for begin in range(0, len(order), mega):
                epoch += sorted(order[begin:begin + mega], key=lambda i: -len(rows[i][0]))
            cut = [epoch[i:i + size] for i in range(0, len(epoch), size)]
            rng.shuffle(cut)
        else:
            cut = [epoch[i:i + size] for i in range(0, len(epoch), size)]
        for batch in cut:
            if len(batch) == size:
                yield [rows[i] for i in batch]


def collate(batch):
    longest = max(len(ids) for ids, _ in batch)
    ids = torch.zeros(len(batch), longest, dtype=torch.long)
    mask = torch.zeros(len(batch), longest, dtype=torch.long)
    for i, (row, _) in enumerate(batch):
        ids[i, :len(row)] = torch.tensor(row)
        mask[i, :len(row)] = 1
    return dict(input_ids=ids, attention_mask=mask, labels=torch.tensor([label for _, label in batch]))


def measure(folder, rows, size, dtype, grouped, compiled, warmup, seconds):
    """Rows a second, best of three stretches."""
    torch.manual_seed(0)
    model = AutoModelForSequenceClassification.from_pretrained(folder, num_labels=2).train()
    decay = torch.optim.AdamW(model.parameters(), lr=5e-5, weight_decay=0.0, fused=True)
    schedule = get_linear_schedule_with_warmup(decay, 0, 1_000_000)
    forward = torch.compile(model, dynamic=True) if compiled else model
    source = batches(rows, size, grouped, 0)

    def step():
        inputs = collate(next(source))
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=dtype == "bf16"):
            loss = forward(**inputs).loss
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        decay.step()
        schedule.step()
        decay.zero_grad()
        return loss.item()

    for _ in range(warmup):
        step()
    best = 0.0
    for _ in range(3):
        begin, done = time.perf_counter(), 0
        while done < 4 or time.perf_counter() - begin < seconds / 3:
            step()
            done += 1
        best = max(best, done * size / (time.perf_counter() - begin))
    return best


def main():
    request = json.load(sys.stdin)
    torch.set_num_threads(request["threads"])
    print(json.dumps({"rows_per_second": measure(
        request["folder"], request["rows"], request["batch"], request["dtype"], request["grouped"],
        request["compiled"], request["warmup"], request["seconds"])}))


if __name__ == "__main__":
    main()
