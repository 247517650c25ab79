#!/usr/bin/env python3
"""Does transformers see in our folders what shoal sees, and shoal in transformers' folders?

  check_export.py FOLDER TEXTS PREDICTIONS
      FOLDER       a job's folder
      TEXTS        JSON lines with "text" and, for pairs, "text_pair"
      PREDICTIONS  what `shoal predict FOLDER TEXTS --json --precision fp32` printed for them
  check_export.py --shoal build/cpu/bin/shoal
      makes all of it: trains two tiny models (one of pairs), checks their folders, then lets transformers write
      folders of its own (fp32, bf16, without the prefix) and checks what shoal predicts from them

Checked: AutoModelForSequenceClassification loads with no missing, unexpected or mismatched key; AutoTokenizer loads;
label names; logits. Needs torch, transformers and safetensors; prints one line a folder, exits 1 at the first fault.
"""
import argparse
import json
import pathlib
import random
import subprocess
import sys
import tempfile

import safetensors.torch
import torch
import transformers
from transformers import AutoModelForSequenceClassification, AutoTokenizer

transformers.logging.set_verbosity_error()
transformers.logging.disable_progress_bar()

# fp32 against fp32: both round each of some 20 dependent sums of a two-layer model once, about 1e-6 of the largest
# logit. One wrong token, position or label order moves logits by more than 1e-2.
TOLERANCE = 2e-5

VOCABULARY = ("[PAD] [UNK] [CLS] [SEP] [MASK] the a cat dog bird runs sits sings ##s slow ##ly fast not and . , ! "
              "caf ##e é 中 国").split()


def read_lines(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def check(condition, what):
    if not condition:
        sys.exit(f"check_export.py: {what}")


def load(folder):
    model, info = AutoModelForSequenceClassification.from_pretrained(folder, output_loading_info=True,
                                                                     dtype=torch.float32)
    for kind in ("missing_keys", "unexpected_keys", "mismatched_keys", "error_msgs"):
        check(not info.get(kind), f"{folder}: {kind}: {info.get(kind)}")
    return model.eval(), AutoTokenizer.from_pretrained(folder)


def check_folder(folder, texts, predictions):
    """Loads the folder as its user would and compares logits with those that shoal printed."""
    model, tokenizer = load(folder)
    labels = [model.config.id2label[i] for i in range(model.config.num_labels)]
    check(len(texts) == len(predictions), f"{folder}: {len(texts)} texts, {len(predictions)} predictions")
    worst = 0.0
    for row, (text, prediction) in enumerate(zip(texts, predictions)):
        check(list(prediction["logits"]) == labels,
              f"{folder}: labels are {list(prediction['logits'])} here and {labels} in config.json")
        tokens = tokenizer(text["text"], text.get("text_pair"), return_tensors="pt", truncation=True,
                           max_length=model.config.max_position_embeddings)
        with torch.no_grad():
            expected = model(**tokens).logits[0].double()
        found = torch.tensor(list(prediction["logits"].values()), dtype=torch.float64)
        error = ((found - expected).abs().max() / expected.abs().max()).item()
        check(error <= TOLERANCE, f"{folder}: text {row} {text}: transformers {expected.tolist()}, "
                                  f"shoal {found.tolist()}")
        worst = max(worst, error)
    print(f"{folder}: {len(texts)} texts, {len(labels)} labels, logits within {worst:.1e} of the largest")


class Workshop:
    """The folder in which --shoal makes models."""

    def __init__(self, shoal, folder):
        self.shoal, self.folder = shoal, folder
        (folder / "vocab.txt").write_text("".join(f"{piece}\n" for piece in VOCABULARY), encoding="utf-8")
        self.random = random.Random(1)
        self.pairs = [self.example(pair=True) for _ in range(40)]
        self.singles = [self.example(pair=False) for _ in range(40)]
        self.singles.append({"text": "", "label": "dog"})
        self.singles.append({"text": "Café [SEP] cats, 中国! zebra " * 30, "label": "cat"})
        for name, rows in (("pairs", self.pairs), ("singles", self.singles)):
            (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")

    def example(self, pair):
        words = lambda: " ".join(self.random.choices("the cat dogs bird runs slowly not and café Sings".split(),
                                                     k=self.random.randint(1, 40)))
        row = {"text": words(), "label": self.random.choice(["cat", "dog"] if pair else ["cat", "dog", "bird"])}
        return dict(row, text_pair=words()) if pair else row

    def run(self, *arguments):
        done = subprocess.run([self.shoal, *map(str, arguments)], cwd=self.folder, capture_output=True, text=True)
        check(done.returncode == 0, f"shoal {' '.join(map(str, arguments))}: exit {done.returncode}\n{done.stderr}")
        return done.stdout

    def train(self):
        (self.folder / "fleet.toml").write_text("""
[fleet]
output_dir = "out"
[defaults]
model = { preset = "bert-tiny", vocab = "vocab.txt" }
learning_rate = 1e-3
num_train_epochs = 2
precision = "fp32"
[[job]]
name = "pairs"
train_file = "pairs.jsonl"
text_pair = "text_pair"
[[job]]
name = "singles"
train_file = "singles.jsonl"
""")
        self.run("train", "fleet.toml", "--progress", "none")

    def predict(self, model, texts):
        columns = ["--text-column", "text"] + (["--text-pair-column", "text_pair"] if texts == "pairs" else [])
        printed = self.run("predict", model, f"{texts}.jsonl", "--json", "--precision", "fp32",
                           "--max-seq-length", 512, *columns)
        return [json.loads(line) for line in printed.splitlines()]

    def check(self, model, texts):
        check_folder(self.folder / model, getattr(self, texts), self.predict(model, texts))

    def write_theirs(self):
        """Folders as transformers and older tools leave them, with weights large enough to tell texts apart."""
        model, tokenizer = load(self.folder / "out/singles")
        generator = torch.Generator().manual_seed(1)
        with torch.no_grad():
            for parameter in model.parameters():
                parameter.add_(torch.randn(parameter.shape, generator=generator) * 0.1)
        for name, dtype in (("theirs", torch.float32), ("theirs-bf16", torch.bfloat16), ("theirs-plain", torch.float32)):
            model.to(dtype).save_pretrained(self.folder / name)
            tokenizer.save_pretrained(self.folder / name)
        file = self.folder / "theirs-plain/model.safetensors"
        tensors = {name.removeprefix("bert.").replace("LayerNorm.weight", "LayerNorm.gamma")
                   .replace("LayerNorm.bias", "LayerNorm.beta"): tensor
                   for name, tensor in safetensors.torch.load_file(file).items()}
        tensors["embeddings.position_ids"] = torch.arange(512).reshape(1, 512)
        safetensors.torch.save_file(tensors, file)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", type=pathlib.Path, help="FOLDER TEXTS PREDICTIONS")
    parser.add_argument("--shoal", type=pathlib.Path, help="the program; makes the files itself")
    arguments = parser.parse_args()
    if arguments.shoal is None:
        check(len(arguments.files) == 3, "wanted FOLDER TEXTS PREDICTIONS, or --shoal PROGRAM")
        folder, texts, predictions = arguments.files
        check_folder(folder, read_lines(texts), read_lines(predictions))
        return
    with tempfile.TemporaryDirectory() as temporary:
        workshop = Workshop(arguments.shoal.resolve(), pathlib.Path(temporary))
        workshop.train()
        workshop.check("out/pairs", "pairs")
        workshop.check("out/singles", "singles")
        workshop.write_theirs()
        for theirs in ("theirs", "theirs-bf16", "theirs-plain"):
            workshop.check(theirs, "singles")


if __name__ == "__main__":
    main()
