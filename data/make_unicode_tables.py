#!/usr/bin/env python3
"""Writes data/unicode_tables.inc: what Hugging Face's `tokenizers` library takes each code point for.

The library is asked, code point by code point, through its BertNormalizer and BertPreTokenizer; nothing is
read from its source. Its tables come from several old versions of Unicode, so the classes are written out in
full (they then hold with any version of utf8proc), while canonical decomposition, canonical order and lower
case are written as exceptions to the libutf8proc of this machine.

    python3 data/make_unicode_tables.py > data/unicode_tables.inc     (needs tokenizers and libutf8proc.so.2)
"""
import ctypes
import sys

import tokenizers
from tokenizers.normalizers import BertNormalizer
from tokenizers.pre_tokenizers import BertPreTokenizer

utf8proc = ctypes.CDLL("libutf8proc.so.2")
utf8proc.utf8proc_version.restype = ctypes.c_char_p
utf8proc.utf8proc_unicode_version.restype = ctypes.c_char_p
UTF8PROC_DECOMPOSE = 1 << 4


def normalizer(**on):
    flags = dict(clean_text=False, handle_chinese_chars=False, strip_accents=False, lowercase=False)
    return BertNormalizer(**{**flags, **on})


def ranges(points):
    out = []
    for p in sorted(points):
        if out and out[-1][1] == p - 1:
            out[-1][1] = p
        else:
            out.append([p, p])
    return out


def decomposition(point):
    buffer = (ctypes.c_int32 * 16)()
    bound = ctypes.c_int(0)
    n = utf8proc.utf8proc_decompose_char(point, buffer, 16, UTF8PROC_DECOMPOSE, ctypes.byref(bound))
    return "".join(chr(c) for c in buffer[:n])


class Property(ctypes.Structure):
    """The head of utf8proc_property_t."""
    _fields_ = [("category", ctypes.c_int16), ("combining_class", ctypes.c_int16)]


utf8proc.utf8proc_get_property.restype = ctypes.POINTER(Property)


def main():
    clean, cjk = normalizer(clean_text=True), normalizer(handle_chinese_chars=True)
    strip, lower, split = normalizer(strip_accents=True), normalizer(lowercase=True), BertPreTokenizer()
    removed, space, ideograph, mark, punctuation, unordered = set(), set(), set(), set(), set(), set()
    stripped, lowered = {}, {}
    for p in list(range(0xD800)) + list(range(0xE000, 0x110000)):
        c = chr(p)
        if clean.normalize_str("a" + c + "b") == "ab":
            removed.add(p)
        if cjk.normalize_str("a" + c + "b") == "a " + c + " b":
            ideograph.add(p)
        stripped[p] = strip.normalize_str("a" + c + "b")[1:-1]
        if stripped[p] == "":
            mark.add(p)
        # A mark of class 216 passes one of class 224, unless something of class 0 stands between.
        ordered = strip.normalize_str("\u302e" + c + "\U0001d165")[0] != "\u302e"
        known = utf8proc.utf8proc_get_property(p).contents.combining_class != 0
        if ordered and not known and decomposition(p) == c:
            sys.exit(f"U+{p:04X}: ordered as a mark, utf8proc has class 0: the table has no form for it")
        if known and not ordered:
            unordered.add(p)
        lowered[p] = lower.normalize_str("a" + c + "b")[1:-1]
        words = [w for w, _ in split.pre_tokenize_str("a" + c + "b")]
        if words == ["a", "b"]:
            space.add(p)
        elif words == ["a", c, "b"]:
            punctuation.add(p)

    undecomposed, lower_pairs = [], []
    for p, want in stripped.items():
        got = "".join(c for c in decomposition(p) if ord(c) not in mark)
        if got != want:
            if want != chr(p):
                sys.exit(f"U+{p:04X}: decomposes to {want!r}, utf8proc has {got!r}: the table has no form for it")
            undecomposed.append(p)
    for p, want in lowered.items():
        if want != chr(utf8proc.utf8proc_tolower(p)):
            lower_pairs.append((p, *[ord(c) for c in want]))

    print(f"// Made by data/make_unicode_tables.py with tokenizers {tokenizers.__version__} and utf8proc "
          f"{utf8proc.utf8proc_version().decode()} (Unicode {utf8proc.utf8proc_unicode_version().decode()}).")
    print("// clang-format off")

    def write(kind, name, items):
        print(f"constexpr {kind} {name}[] = {{")
        line = "   "
        for item in items:
            text = " {" + ", ".join(f"0x{v:x}" for v in item) + "},"
            if len(line) + len(text) > 110:
                print(line)
                line = "   "
            line += text
        print(line + "\n};")

    for name, points in (("kRemovedRanges", removed), ("kSpaceRanges", space), ("kIdeographRanges", ideograph),
                         ("kMarkRanges", mark), ("kPunctuationRanges", punctuation),
                         ("kUnorderedRanges", unordered)):
        write("Range", name, ranges(points))
    write("Range", "kUndecomposedRanges", ranges(undecomposed))
    write("LowerCase", "kLowerCaseExceptions", lower_pairs)
    print("// clang-format on")


main()
