#!/usr/bin/env python3
"""hf_trainer START FLEET JOB OUT: trains one job of a parity fleet with Hugging Face's Trainer.

START/JOB is what job_start wrote: the weights to begin with and the order of the rows. The rest is read from
the fleet's job.toml there, key by key under Trainer's own names. Writes OUT/JOB.json: the dev logits and the
metrics.
"""
import json
import pathlib
import sys
import tomllib

import numpy
import torch
from sklearn.metrics import accuracy_score, matthews_corrcoef
from transformers import (AutoModelForSequenceClassification, AutoTokenizer, DataCollatorWithPadding, Trainer,
                          TrainingArguments)


def read_table(file, job, labels, limit):
    with open(file, encoding="utf-8") as lines:
        header = next(lines).rstrip("\n").split("\t")
        rows = [line.rstrip("\n").split("\t") for line in lines][:limit]
    text, label = header.index(job["text"]), header.index(job.get("label", "label"))
    pair = header.index(job["text_pair"]) if "text_pair" in job else None
    return [(row[text], row[pair] if pair is not None else None, labels[row[label]]) for row in rows]


class Rows(torch.utils.data.Dataset):
    def __init__(self, rows, tokenizer, longest):
        first = [row[0] for row in rows]
        second = [row[1] for row in rows] if rows[0][1] is not None else None
        self.encoded = tokenizer(first, second, truncation=True, max_length=longest)
        self.labels = [row[2] for row in rows]

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, i):
        return {**{key: value[i] for key, value in self.encoded.items()}, "labels": self.labels[i]}


class InOrder(torch.utils.data.Sampler):
    """Epoch after epoch as order.txt says."""

    def __init__(self, file):
        self.epochs = [list(map(int, line.split())) for line in open(file)]
        self.next = 0

    def __len__(self):
        return len(self.epochs[0])

    def __iter__(self):
        self.next += 1
        return iter(self.epochs[self.next - 1])


class OrderedTrainer(Trainer):
    def __init__(self, *args, order, **kwargs):
        super().__init__(*args, **kwargs)
        self.order = order

    def _get_train_sampler(self, *_):
        return self.order


def main():
    start, name, out = pathlib.Path(sys.argv[1]), sys.argv[2], pathlib.Path(sys.argv[3])
    job = tomllib.loads((start / name / "job.toml").read_text())["job"][0]
    torch.set_num_threads(int(sys.argv[4]) if len(sys.argv) > 4 else 2)
    model = AutoModelForSequenceClassification.from_pretrained(
        start / name, **{key: job[key] for key in ("hidden_dropout_prob", "attention_probs_dropout_prob") if key in job})
    tokenizer = AutoTokenizer.from_pretrained(start / name)
    train = Rows(read_table(job["train_file"], job, model.config.label2id, job.get("max_train_samples")),
                 tokenizer, job["max_seq_length"])
    dev = Rows(read_table(job["validation_file"], job, model.config.label2id, None), tokenizer, job["max_seq_length"])
    same = ("learning_rate", "num_train_epochs", "per_device_train_batch_size", "warmup_steps", "weight_decay", "seed",
            "max_grad_norm", "lr_scheduler_type", "adam_beta1", "adam_beta2", "adam_epsilon")
    arguments = TrainingArguments(output_dir=str(out / "scratch"), report_to=[], use_cpu=True, save_strategy="no",
                                  logging_strategy="no", disable_tqdm=True, per_device_eval_batch_size=64,
                                  **{key: job[key] for key in same if key in job})
    trainer = OrderedTrainer(model=model, args=arguments, train_dataset=train, eval_dataset=dev,
                             data_collator=DataCollatorWithPadding(tokenizer),
                             order=InOrder(start / name / "order.txt"))
    trainer.train()
    result = trainer.predict(dev)
    predicted = result.predictions.argmax(-1)
    out.mkdir(parents=True, exist_ok=True)
    target = out / (name.replace("/", "-") + ".json")
    target.write_text(json.dumps({
        "job": name, "logits": numpy.asarray(result.predictions, dtype=float).tolist(),
        "accuracy": accuracy_score(result.label_ids, predicted),
        "matthews_correlation": matthews_corrcoef(result.label_ids, predicted)}))


if __name__ == "__main__":
    main()
