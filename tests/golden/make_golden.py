#!/usr/bin/env python3
"""Makes {bert_tiny,wide384,tanh_regression}.{json,bin}: what PyTorch and transformers compute for small BERTs.

Run by hand, from anywhere, with torch, transformers and numpy: `python make_golden.py [FOLDER [NAME...]]`. Not part of CI.

Weights are not stored. Both sides build them by one rule: every HF tensor is filled as models/weights.h says of a
normal tensor (Philox, seed and range in the JSON), biases and LayerNorm vectors too, and LayerNorm weights get 1
added. So every bias and every LayerNorm vector matters from the first pass on. `weights_check` holds a few elements.

NAME.json
  model              the keys of config.json that define it, `labels`, `seed`, `initializer_range`
  arrays             name -> {type, shape, offset}: where each array stands in NAME.bin
  micro              the micro-batch of the gradient run: loss (double), loss_fp32
  tensors            per HF tensor: name, shape, norm (L2 of the double gradient), scale (see below),
                     fp32_error, bf16_autocast_error, bf16_error and their rms over `bf16_batches` batches
  logits             the same errors for the logits
  training           learning_rate, warm-up, clip ... and `updates`: per update lr, loss, grad_norm, both precisions
  weights_check      [{name, index, value, initial}]: golden weight, and that of plain HF initialisation (range 0.02)

NAME.bin             little-endian, arrays end to end. Types f64, f32, i32.
  micro.ids|types [tokens], micro.cu [sequences + 1], micro.labels [sequences]: packed, nothing padded; of a
  regression micro.targets f32 [sequences] too, and the labels are 0. training.* is like it
  micro.logits f64 [sequences, labels], micro.logits_fp32
  TENSOR.sketch f64 [64]         see below
  TENSOR.full f64 [...]          the whole gradient, where it has at most 4,096 elements, else
  TENSOR.sample_at i32 [64], TENSOR.sample f64 [64]
  training.ids|types, training.cu, training.labels: all micro-batches end to end;
  training.sequences i32 [updates * accumulation]: sequences of each micro-batch

Sketch. Full gradients would be 15 MB. For gradient g of tensor `name`, sketch[j] = sum_i s_ij g_i with
s_ij = -1 where bit j of v[1] << 32 | v[0] is set, else +1, and
v = philox4x32_10(key = name_hash(name), c0 = low 32 bits of i, c1 = high 32 bits, c2 = 0, c3 = 0x534b4348 "SKCH").
For an error e = g - g', mean_j (sketch_j(g) - sketch_j(g'))^2 has the expectation |e|^2 and a relative standard
deviation of at most sqrt(2 / 64) = 18 %, so its root is within 25 % of |e| but once in several thousand times.

Scale. The relative error of a tensor is |e| / scale. scale = norm, except for the key biases: softmax does not see
them, their true gradient is 0, and any computed one is rounding noise; for them it is the norm of the gradient of
the same layer's query bias.

bf16_autocast_error: parameters fp32, model under torch.autocast(bfloat16): residual stream and LayerNorm stay fp32.
bf16_error: the whole model in bfloat16. Both against double. A single draw of rounding noise is luck for a tensor
of a few elements, so *_rms is over several batches of the same lengths with other tokens.
"""
import json
import math
import pathlib
import sys

import numpy as np
import torch
import transformers
from transformers import BertConfig, BertForSequenceClassification

CLS, SEP, FIRST_WORD = 2, 3, 5
BF16_BATCHES = 8
SKETCH = 64
FULL_LIMIT = 4096

COMMON = dict(vocab_size=512, max_position_embeddings=160, type_vocab_size=2, num_hidden_layers=2, pad_token_id=0,
              hidden_act="gelu", layer_norm_eps=1e-12, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0,
              classifier_dropout=0.0)
MODELS = {
    "bert_tiny": dict(COMMON, hidden_size=128, num_attention_heads=2, intermediate_size=512, initializer_range=0.08,
                      labels=3, seed=7),
    "wide384": dict(COMMON, hidden_size=384, num_attention_heads=12, intermediate_size=1536, initializer_range=0.05,
                    labels=5, seed=8),
    "tanh_regression": dict(COMMON, hidden_size=128, num_attention_heads=2, intermediate_size=512, hidden_act="gelu_new",
                            initializer_range=0.08, labels=1, seed=9, problem_type="regression"),
}
LENGTHS = [3, 150, 17, 64, 33, 128, 9, 100]  # a sequence in every work list of the attention
SINGLE = {0, 3, 6}                           # sequences without a second text
TRAINING = dict(learning_rate=1e-3, updates=20, warmup_updates=4, accumulation=2, max_grad_norm=1.0, weight_decay=0.01,
                adam_beta1=0.9, adam_beta2=0.999, adam_epsilon=1e-8)


# The rules shared with C++.

def philox(key, c0, c1, c2, c3):
    """Philox4x32-10 over numpy arrays of counters; key is a 64-bit int."""
    shape = np.broadcast_shapes(*(np.shape(c) for c in (c0, c1, c2, c3)))
    c0, c1, c2, c3 = (np.broadcast_to(np.asarray(c, dtype=np.uint64), shape) for c in (c0, c1, c2, c3))
    k0, k1 = key & 0xFFFFFFFF, key >> 32
    low, half = np.uint64(0xFFFFFFFF), np.uint64(32)
    for _ in range(10):
        p0, p1 = np.uint64(0xD2511F53) * c0, np.uint64(0xCD9E8D57) * c2
        c0, c2 = (p1 >> half) ^ c1 ^ np.uint64(k0), (p0 >> half) ^ c3 ^ np.uint64(k1)
        c1, c3 = p1 & low, p0 & low
        k0, k1 = (k0 + 0x9E3779B9) & 0xFFFFFFFF, (k1 + 0xBB67AE85) & 0xFFFFFFFF
    return c0, c1, c2, c3


def name_hash(name):
    value = 0xCBF29CE484222325
    for byte in name.encode():
        value = ((value ^ byte) * 0x100000001B3) & 0xFFFFFFFFFFFFFFFF
    return value


def normal_tensor(name, shape, seed, scale):
    n = math.prod(shape)
    h = name_hash(name)
    v = philox(seed, np.arange((n + 3) // 4), 0x494E4954, h & 0xFFFFFFFF, h >> 32)
    out = np.empty(((n + 3) // 4, 4))
    for pair in (0, 1):
        u, angle = ((v[2 * pair + k].astype(np.float64) + 0.5) * 2.0**-32 for k in (0, 1))
        radius = np.sqrt(-2.0 * np.log(u))
        out[:, 2 * pair] = radius * np.cos(2.0 * np.pi * angle)
        out[:, 2 * pair + 1] = radius * np.sin(2.0 * np.pi * angle)
    return (scale * out.reshape(-1)[:n]).astype(np.float32).reshape(shape)


def golden_tensor(name, shape, model):
    values = normal_tensor(name, shape, model["seed"], model["initializer_range"])
    return values + np.float32(1) if name.endswith("LayerNorm.weight") else values


def initial_tensor(name, shape, seed):
    if name.endswith("LayerNorm.weight"):
        return np.ones(shape, np.float32)
    if name.endswith("bias"):
        return np.zeros(shape, np.float32)
    values = normal_tensor(name, shape, seed, 0.02)
    if name.endswith("word_embeddings.weight"):
        values[0] = 0
    return values


def sketch(name, values):
    i = np.arange(values.size, dtype=np.uint64)
    v = philox(name_hash(name), i & np.uint64(0xFFFFFFFF), i >> np.uint64(32), 0, 0x534B4348)
    bits = v[1] << np.uint64(32) | v[0]
    flat = values.reshape(-1)
    return np.array([np.where(bits >> np.uint64(j) & np.uint64(1), -flat, flat).sum() for j in range(SKETCH)])


# The model and its data.

def build(model, dtype):
    keys = {k: v for k, v in model.items() if k not in ("labels", "seed")}
    config = BertConfig(**keys, num_labels=model["labels"])
    config._attn_implementation = "eager"
    bert = BertForSequenceClassification(config)
    with torch.no_grad():
        for name, parameter in bert.named_parameters():
            parameter.copy_(torch.from_numpy(golden_tensor(name, tuple(parameter.shape), model)))
    return bert.to(dtype).train()


def make_batch(random, lengths, model, single=()):
    batch = []
    for b, length in enumerate(lengths):
        ids = random.integers(FIRST_WORD, model["vocab_size"], length)
        ids[0], ids[-1] = CLS, SEP
        second = length
        if b not in single and length >= 5:
            second = int(random.integers(3, length - 1))
            ids[second - 1] = SEP
        types = (np.arange(length) >= second).astype(np.int64)
        sixteenths = "problem_type" in model  # a target that fp32 holds exactly
        label = int(random.integers(-32, 33)) / 16 if sixteenths else int(random.integers(0, model["labels"]))
        batch.append((ids, types, label))
    return batch


def loss_sum(bert, batch):
    longest = max(len(ids) for ids, _, _ in batch)
    padded = lambda rows: torch.tensor(np.stack([np.pad(r, (0, longest - len(r))) for r in rows]))
    logits = bert(input_ids=padded([ids for ids, _, _ in batch]), token_type_ids=padded([t for _, t, _ in batch]),
                  attention_mask=padded([np.ones(len(ids), np.int64) for ids, _, _ in batch])).logits
    labels = torch.tensor([label for _, _, label in batch])
    if logits.dtype == torch.bfloat16:
        logits = logits.float()
    if bert.config.problem_type == "regression":
        loss = torch.nn.functional.mse_loss(logits.squeeze(-1), labels.to(logits.dtype), reduction="sum")
    else:
        loss = torch.nn.functional.cross_entropy(logits, labels, reduction="sum")
    return loss, logits.detach().double().numpy()


def gradients(model, batch, dtype=torch.float64, autocast=False):
    bert = build(model, dtype)
    with torch.autocast("cpu", torch.bfloat16, enabled=autocast):
        loss, logits = loss_sum(bert, batch)
    (loss / len(batch)).backward()
    return loss.item() / len(batch), logits, {n: p.grad.double().numpy() for n, p in bert.named_parameters()}


def scale_of(name, truth):
    return np.linalg.norm(truth[name.replace("self.key.bias", "self.query.bias")])


def relative_errors(truth, other):
    return {name: float(np.linalg.norm(other[name] - truth[name]) / scale_of(name, truth)) for name in truth}


# The file.

class Writer:
    def __init__(self):
        self.arrays, self.blocks, self.offset = {}, [], 0

    def add(self, name, values, kind):
        values = np.ascontiguousarray(values, dtype={"f64": "<f8", "f32": "<f4", "i32": "<i4"}[kind])
        self.arrays[name] = dict(type=kind, shape=list(values.shape), offset=self.offset)
        self.blocks.append(values.tobytes())
        self.offset += values.nbytes

    def add_batch(self, name, batch):
        self.add(f"{name}.ids", np.concatenate([ids for ids, _, _ in batch]), "i32")
        self.add(f"{name}.types", np.concatenate([types for _, types, _ in batch]), "i32")
        self.add(f"{name}.cu", np.cumsum([0] + [len(ids) for ids, _, _ in batch]), "i32")
        labels = [label for _, _, label in batch]
        if isinstance(labels[0], float):
            self.add(f"{name}.targets", labels, "f32")
            labels = [0] * len(labels)
        self.add(f"{name}.labels", labels, "i32")


def bf16_errors(model, random, first):
    """Per quantity: this batch's error and the rms over several batches, for both ways of using bfloat16."""
    batches = [first] + [make_batch(random, LENGTHS, model, SINGLE) for _ in range(BF16_BATCHES - 1)]
    found = {"bf16_autocast_error": [], "bf16_error": []}
    for batch in batches:
        _, logits, truth = gradients(model, batch)
        for key, dtype, autocast in (("bf16_autocast_error", torch.float32, True), ("bf16_error", torch.bfloat16, False)):
            _, other_logits, other = gradients(model, batch, dtype, autocast)
            errors = relative_errors(truth, other)
            errors["logits"] = float(np.linalg.norm(other_logits - logits) / np.linalg.norm(logits))
            found[key].append(errors)
    out = {}
    for name in found["bf16_error"][0]:
        out[name] = {}
        for key, runs in found.items():
            out[name][key] = runs[0][name]
            out[name][key + "_rms"] = math.sqrt(sum(run[name] ** 2 for run in runs) / len(runs))
    return out


def gradient_part(writer, model, random):
    batch = make_batch(random, LENGTHS, model, SINGLE)
    loss, logits, truth = gradients(model, batch)
    loss32, logits32, single = gradients(model, batch, torch.float32)
    fp32, bf16 = relative_errors(truth, single), bf16_errors(model, random, batch)
    writer.add_batch("micro", batch)
    writer.add("micro.logits", logits, "f64")
    writer.add("micro.logits_fp32", logits32, "f32")
    tensors = []
    for name, g in truth.items():
        writer.add(f"{name}.sketch", sketch(name, g), "f64")
        if g.size <= FULL_LIMIT:
            writer.add(f"{name}.full", g, "f64")
        else:
            at = np.sort(np.random.default_rng(name_hash(name)).choice(g.size, 64, replace=False))
            writer.add(f"{name}.sample_at", at, "i32")
            writer.add(f"{name}.sample", g.reshape(-1)[at], "f64")
        tensors.append(dict(name=name, shape=list(g.shape), norm=float(np.linalg.norm(g)),
                            scale=float(scale_of(name, truth)), fp32_error=fp32[name], **bf16[name]))
    logits_fp32 = float(np.linalg.norm(logits32 - logits) / np.linalg.norm(logits))
    return dict(micro=dict(loss=loss, loss_fp32=loss32), tensors=tensors,
                logits=dict(fp32_error=logits_fp32, **bf16["logits"]), bf16_batches=BF16_BATCHES)


def decays(name):
    return not name.endswith("bias") and "LayerNorm" not in name


def train(model, windows, dtype):
    bert = build(model, dtype)
    named = list(bert.named_parameters())
    groups = [dict(params=[p for n, p in named if decays(n)], weight_decay=TRAINING["weight_decay"]),
              dict(params=[p for n, p in named if not decays(n)], weight_decay=0.0)]
    adamw = torch.optim.AdamW(groups, lr=TRAINING["learning_rate"], eps=TRAINING["adam_epsilon"],
                              betas=(TRAINING["adam_beta1"], TRAINING["adam_beta2"]), foreach=False)
    schedule = transformers.get_linear_schedule_with_warmup(adamw, TRAINING["warmup_updates"], TRAINING["updates"])
    history = []
    for window in windows:
        items, total = sum(len(batch) for batch in window), 0.0
        for batch in window:
            loss, _ = loss_sum(bert, batch)
            (loss / items).backward()
            total += loss.item()
        norm = torch.nn.utils.clip_grad_norm_(bert.parameters(), TRAINING["max_grad_norm"])
        history.append(dict(lr=schedule.get_last_lr()[0], loss=total / items, grad_norm=norm.item()))
        adamw.step()
        schedule.step()
        adamw.zero_grad()
    return history


def training_part(writer, model, random):
    windows = []
    for _ in range(TRAINING["updates"]):
        sizes = random.permutation([5, 2])  # unequal micro-batches: a mean of means would show
        windows.append([make_batch(random, random.integers(3, 61, size), model, {1}) for size in sizes])
    writer.add_batch("training", [row for window in windows for batch in window for row in batch])
    writer.add("training.sequences", [len(batch) for window in windows for batch in window], "i32")
    double, single = train(model, windows, torch.float64), train(model, windows, torch.float32)
    updates = [dict(d, loss_fp32=s["loss"], grad_norm_fp32=s["grad_norm"]) for d, s in zip(double, single)]
    return dict(TRAINING, updates=updates)


def weights_check(model, shapes):
    rows = []
    for name, shape in shapes.items():
        golden, initial = golden_tensor(name, shape, model).reshape(-1), initial_tensor(name, shape, model["seed"]).reshape(-1)
        for index in sorted({0, min(1, golden.size - 1), golden.size // 2, golden.size - 1}):
            rows.append(dict(name=name, index=index, value=float(golden[index]), initial=float(initial[index])))
    return rows


def main():
    folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent)
    torch.use_deterministic_algorithms(True)
    for name, model in MODELS.items():
        if len(sys.argv) > 2 and name not in sys.argv[2:]:
            continue
        random, writer = np.random.default_rng(model["seed"]), Writer()
        result = dict(made_with=f"torch {torch.__version__}, transformers {transformers.__version__}, numpy {np.__version__}",
                      model=model, **gradient_part(writer, model, random), training=training_part(writer, model, random))
        shapes = {t["name"]: tuple(t["shape"]) for t in result["tensors"]}
        result.update(weights_check=weights_check(model, shapes), arrays=writer.arrays)
        (folder / f"{name}.json").write_text(json.dumps(result, indent=1) + "\n")
        (folder / f"{name}.bin").write_bytes(b"".join(writer.blocks))
        report(name, result)


def report(name, result):
    print(f"{name}: loss {result['micro']['loss']:.6f}, logits {result['logits']}")
    for t in result["tensors"]:
        print(f"  {t['name']:60} norm {t['norm']:.3e} fp32 {t['fp32_error']:.1e} "
              f"autocast {t['bf16_autocast_error']:.1e} ({t['bf16_autocast_error_rms']:.1e}) "
              f"bf16 {t['bf16_error']:.1e} ({t['bf16_error_rms']:.1e})")
    for u in result["training"]["updates"]:
        print(f"  lr {u['lr']:.2e} loss {u['loss']:.6f} ({u['loss_fp32'] / u['loss'] - 1:+.1e}) "
              f"norm {u['grad_norm']:.4f} ({u['grad_norm_fp32'] / u['grad_norm'] - 1:+.1e})")


if __name__ == "__main__":
    main()
