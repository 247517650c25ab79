#!/usr/bin/env python3
"""Writes tests/golden/tokenizer.json: what Hugging Face's `tokenizers` library makes of texts.

    python3 tests/golden/make_tokenizer_golden.py [DATA] > tests/golden/tokenizer.json

cases     texts under the small vocabulary V0 and several options: ids and token types with [CLS] and [SEP]
cuts      [first, second, max_length, kept of first, kept of second]: truncation longest_first
points    a hash for each 16,384 code points through normaliser and word splitter: every code point alone,
          between two letters, and among marks of the combining classes 224, 230 and 216
corpora   a hash over the ids of whole files of DATA (default ../shared/data), real vocabularies
"""
import json
import os
import random
import sys

import tokenizers
from tokenizers import AddedToken, Tokenizer
from tokenizers.models import WordPiece
from tokenizers.normalizers import BertNormalizer
from tokenizers.pre_tokenizers import BertPreTokenizer
from tokenizers.processors import TemplateProcessing

V0 = ("[PAD] [UNK] [CLS] [SEP] [MASK] note ##book book one line ##line the a ##a b ##b cafe café hello world . , ! "
      "' [ ] mask ##mask パ ハ ##ン ##タ か ##き 中 国 x ##x naive i ᄒ ##ᅡ ##ᆫ 한").split()
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]

# lower case, strip accents, spaces around ideographs, clean-up
OPTIONS = {
    "uncased": dict(lowercase=True, strip_accents=None, handle_chinese_chars=True, clean_text=True),
    "cased": dict(lowercase=False, strip_accents=None, handle_chinese_chars=True, clean_text=True),
    "cased-stripped": dict(lowercase=False, strip_accents=True, handle_chinese_chars=True, clean_text=True),
    "uncased-accents": dict(lowercase=True, strip_accents=False, handle_chinese_chars=False, clean_text=True),
    "dirty": dict(lowercase=True, strip_accents=None, handle_chinese_chars=True, clean_text=False),
}

TEXTS = [
    "", " ", "hello world", "a[SEP]b [mask] [MASK]", "[CLS][SEP]", "x[MASK]x", "[[SEP]]", "[sep", "[UNK][PAD]!", "[SEP",
    "[SE\u200bP]", "note\tbook one\nline", "note\r\nbook", "note\u000bbook", "note\u0085book", "note\u2028book",
    "hello \U0001F971 world", "hello\U0001F971", "\U0001F971", "\u200b", "\u00ad",
    "café", "cafe\u0301", "CAFÉ", "naïve", "NAI\u0308VE", "a\u0301\u0327\u302e\u302ab", "\u0130", "I\u0307", "\u03a3\u03c3\u03c2",
    "x" * 100, "x" * 101, "か" + "き" * 59, "か" + "き" * 99, "か" + "き" * 100, "é" * 101, "e\u0301" * 100,
    "a中国b", "中\U00020000国", "a\U0002B820b", "a\U0002B920b", "a\U0002CEB0b", "中,国", "パンタ", "ハ\u309aンタ", "ハンタ",
    "한", "\u1112\u1161\u11ab", "\u1112\u1161",
    "notebook", "notebooks", "line's", "line\u2019s", "a.b,a!b", "hello!!world", "hello\u3002world", "a\ufffdb", "a\u0000b",
    "hello\u00a0world", "hello\u3000world", "the the the", "[ mask ]", "##book", "a##b", "\ufeffhello", "\u2126", "\u226e",
    "Hello WORLD", "\u01c5", "\ufb01", "\u212b",
]
PAIRS = [("a b", "the line"), ("", "the"), ("the", ""), ("a[SEP]b", "[SEP] x"), ("中国", "one")]


def build(vocab, options, max_length=None):
    tokenizer = Tokenizer(WordPiece({t: i for i, t in enumerate(vocab)}, unk_token="[UNK]", max_input_chars_per_word=100))
    tokenizer.normalizer = BertNormalizer(**options)
    tokenizer.pre_tokenizer = BertPreTokenizer()
    tokenizer.add_special_tokens([AddedToken(t, special=True, normalized=False) for t in SPECIAL])
    tokenizer.post_processor = TemplateProcessing(
        single="[CLS]:0 $A:0 [SEP]:0", pair="[CLS]:0 $A:0 [SEP]:0 $B:1 [SEP]:1",
        special_tokens=[(t, tokenizer.token_to_id(t)) for t in ("[CLS]", "[SEP]")])
    if max_length:
        tokenizer.enable_truncation(max_length, strategy="longest_first")
    return tokenizer


def mixed_texts(count):
    """Strings of code points that meet in real scripts, to find faults in their order."""
    rng = random.Random(20)
    pools = ["abx ACX", "éÀÏçñĀ", "\u0301\u0308\u0327\u0323\u0345\u05b0", "\u302e\u302f\u309a\u3099\U0001d165\U0001d16e",
             "中国\u9fff\U00020000\uf900", ".,!'[]#-_", " \t\n\u00a0\u2003", "\u200b\u200d\ufe0f\u00ad", "か\u304d\uff76\uff9e",
             "한\u1112\u1161\u11ab", "\u0915\u093c\u094d\u0947", "\U0001f600\U0001f3fd", "ßΣςŁİ", "\u0e01\u0e33\u0e49", "\u0f71\u0f72\u0f74"]
    return ["".join(rng.choice(rng.choice(pools)) for _ in range(rng.randint(1, 24))) for _ in range(count)]


def cases():
    out = []
    for name, options in OPTIONS.items():
        tokenizer = build(V0, options)
        for text in TEXTS:
            e = tokenizer.encode(text)
            out.append({"options": name, "text": text, "ids": e.ids, "types": e.type_ids})
        for a, b in PAIRS:
            e = tokenizer.encode(a, b)
            out.append({"options": name, "text": a, "pair": b, "ids": e.ids, "types": e.type_ids})
    return out


def words(normalizer, splitter, text):
    return [w for w, _ in splitter.pre_tokenize_str(normalizer.normalize_str(text))]


def mixed():
    splitter = BertPreTokenizer()
    return [{"options": name, "text": text, "words": words(BertNormalizer(**options), splitter, text)}
            for name, options in OPTIONS.items() for text in mixed_texts(60)]


def cuts():
    shapes = [(a, b, m) for m in range(4, 13) for a in (0, 1, 2, 3, 4, 5, 8, 20) for b in (0, 1, 2, 3, 4, 5, 8, 20)]
    shapes += [(124, 130, 128), (125, 130, 128), (126, 130, 128), (125, 125, 128), (130, 125, 128), (0, 600, 512)]
    shapes += [(600, 599, 512), (599, 600, 512), (600, 600, 512)]
    out = []
    for a, b, m in shapes:
        types = build(V0, OPTIONS["uncased"], m).encode("," * a, "." * b)
        ids = types.ids
        out.append([a, b, m, ids.count(V0.index(",")), ids.count(V0.index("."))])
    return out


class Fnv:
    """FNV-1a, 64 bits."""

    def __init__(self):
        self.value = 0xcbf29ce484222325

    def add(self, data):
        for byte in data:
            self.value = ((self.value ^ byte) * 0x100000001b3) & 0xffffffffffffffff


def points():
    splitter = BertPreTokenizer()
    out = {}
    for name, options in OPTIONS.items():
        normalizer = BertNormalizer(**options)
        hashes = []
        for block in range(0, 0x110000, 0x4000):
            fnv = Fnv()
            for p in range(block, block + 0x4000):
                if 0xD800 <= p < 0xE000:
                    continue
                c = chr(p)
                for text in (c, "a" + c + "b", "\u302e" + c + "\u0301\U0001d165"):
                    fnv.add("\n".join(words(normalizer, splitter, text)).encode() + b"\0")
            hashes.append(f"{fnv.value:016x}")
        out[name] = hashes
    return out


def corpora(data):
    files = ["sst2/dev.tsv", "cola/dev.tsv", "trec/test.txt", "xquad/xquad.zh.json", "banking77/test.csv"]
    out = []
    for vocab_name, options in (("uncased", "uncased"), ("cased", "cased"), ("chinese", "uncased")):
        file = os.path.join(data, "bert_vocab", f"bert-base-{vocab_name}-vocab.txt")
        vocab = open(file, encoding="utf-8", newline="\n").read().rstrip("\n").split("\n")
        tokenizer = build(vocab, OPTIONS[options])
        for name in files:
            fnv = Fnv()
            tokens = 0
            for line in open(os.path.join(data, name), "rb").read().decode("utf-8", errors="replace").split("\n"):
                ids = tokenizer.encode(line, add_special_tokens=False).ids
                tokens += len(ids)
                fnv.add(" ".join(map(str, ids)).encode() + b"\n")
            out.append({"vocab": os.path.basename(file), "options": options, "file": name, "tokens": tokens,
                        "hash": f"{fnv.value:016x}"})
    return out


def main():
    data = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(__file__), "../../../shared/data")
    golden = {"made_with": f"tokenizers {tokenizers.__version__}", "vocab": V0, "options": OPTIONS}
    lines = [f'"{k}": {json.dumps(v)}' for k, v in golden.items()]
    for key, rows in (("cases", cases()), ("mixed", mixed()), ("cuts", cuts()), ("corpora", corpora(data))):
        lines.append(f'"{key}": [\n' + ",\n".join(json.dumps(r) for r in rows) + "\n]")
    lines.append('"points": {\n' + ",\n".join(f"{json.dumps(k)}: {json.dumps(v)}" for k, v in points().items()) + "\n}")
    print("{\n" + ",\n".join(lines) + "\n}")


if __name__ == "__main__":
    main()
