#!/usr/bin/env python3
"""kernel_table.py (--write | --compare) --nvcc VERSION --launches FILE REPORT...: the table of docs/kernels.md.

REPORTs are what ptxas said of the kernels (kernels/cuda/CMakeLists.txt keeps it), FILE is what cuda_launches printed.
--write puts the table between the page's markers; --compare fails where another stands there, and exits with 77 where
the page was made by another nvcc, which counts registers in its own way. Python's standard library only.
"""

import argparse
import dataclasses
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
BEGIN, END = "<!-- kernels: begin -->", "<!-- kernels: end -->"
SKIPPED = 77


@dataclasses.dataclass
class Card:
    """An SM of it, as the programming guide's table of technical specifications has it."""

    name: str
    arch: str
    shared: int  # bytes, of all blocks together
    threads: int = 2048
    blocks: int = 32
    registers: int = 65536
    register_unit: int = 256  # of a warp
    schedulers: int = 4  # each has its part of the registers
    shared_unit: int = 128
    shared_of_system: int = 1024  # of each block


CARDS = [Card("A100", "sm_80", 164 << 10), Card("H100, H200", "sm_90a", 228 << 10)]


@dataclasses.dataclass
class Build:
    """A kernel as compiled for one architecture."""

    registers: int = 0
    shared: int = 0
    stack: int = 0
    spills: int = 0


def up(number, unit):
    return -(-number // unit) * unit


def occupancy(card, build, threads, dynamic):
    """Blocks that an SM holds, and what does not allow one more."""
    warps = up(threads, 32) // 32
    of_warp = up(build.registers * 32, card.register_unit)
    by_registers = card.registers // card.schedulers // of_warp * card.schedulers // warps
    shared = up(build.shared + dynamic + card.shared_of_system, card.shared_unit)
    limits = {"registers": by_registers, "shared memory": card.shared // shared,
              "threads": card.threads // (warps * 32), "blocks": card.blocks}
    least = min(limits.values())
    return least, [name for name, blocks in limits.items() if blocks == least]


def read_reports(paths):
    """{(file, mangled name): {arch: Build}}"""
    kernels = {}
    for path in paths:
        build = None
        for line in path.read_text().splitlines():
            if match := re.search(r"Compiling entry function '(\w+)' for '(\w+)'", line):
                build = kernels.setdefault((path.stem, match[1]), {}).setdefault(match[2], Build())
            elif match := re.search(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads", line):
                build.stack, build.spills = int(match[1]), int(match[2]) + int(match[3])
            elif match := re.search(r"Used (\d+) registers", line):
                build.registers = int(match[1])
                if smem := re.search(r"(\d+) bytes smem", line):
                    build.shared = int(smem[1])
    return kernels


def readable(names):
    """Mangled names without their namespaces, parameters and what nvcc adds to them."""
    shown = subprocess.run(["c++filt"], input="\n".join(names), text=True, capture_output=True, check=True).stdout
    result = {}
    for mangled, name in zip(names, shown.splitlines()):
        name = name.replace("(anonymous namespace)::", "").replace("shoal::cuda::", "").replace("shoal::", "")
        if mangled == name:
            raise SystemExit(f"c++filt does not understand {mangled}")
        name = re.sub(r"^void ", "", name).replace("> >", ">>")
        depth = 0
        for at, letter in enumerate(name):  # the parameters begin at the first bracket outside of <>
            depth += {"<": 1, ">": -1}.get(letter, 0)
            if letter == "(" and depth == 0:
                name = name[:at]
                break
        result[mangled] = name
    return result


def table(kernels, launches):
    names = readable([mangled for _, mangled in kernels])
    head = ["file", "kernel", "threads", "registers", "shared memory", "stack, spills"]
    head += [f"blocks on an SM: {card.name}" for card in CARDS]
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    rows = []
    for (file, mangled), builds in kernels.items():
        for threads, dynamic in sorted(launches.get(mangled, {(0, 0)})):
            per_card = [builds[card.arch] for card in CARDS]
            cells = [file, f"`{names[mangled]}`", str(threads) if threads else "-", pair(b.registers for b in per_card)]
            static = pair(b.shared for b in per_card)
            cells.append(f"{static} + {dynamic}" if dynamic else static)
            cells.append(pair(f"{b.stack}, {b.spills}" for b in per_card))
            for card, build in zip(CARDS, per_card):
                blocks, why = occupancy(card, build, threads, dynamic) if threads else ("-", [])
                cells.append(f"{blocks} ({', '.join(why)})" if why else "-")
            rows.append(cells)
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in sorted(rows)]) + "\n"


def pair(values):
    """One number where all cards have the same."""
    values = [str(v) for v in values]
    return values[0] if len(set(values)) == 1 else " / ".join(values)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--write", action="store_true")
    what.add_argument("--compare", action="store_true")
    parser.add_argument("--nvcc", required=True)
    parser.add_argument("--launches", required=True, type=pathlib.Path)
    parser.add_argument("--page", type=pathlib.Path, default=ROOT / "docs" / "kernels.md")
    parser.add_argument("reports", nargs="+", type=pathlib.Path)
    arguments = parser.parse_args()

    launches = {}
    for line in arguments.launches.read_text().splitlines():
        mangled, threads, shared = line.split()
        launches.setdefault(mangled, set()).add((int(threads), int(shared)))
    new = f"Made by nvcc {arguments.nvcc}.\n\n" + table(read_reports(arguments.reports), launches)

    page = arguments.page.read_text()
    head, rest = page.split(BEGIN + "\n")
    old, tail = rest.split(END)
    if arguments.write:
        arguments.page.write_text(head + BEGIN + "\n" + new + END + tail)
        return 0
    maker = re.search(r"Made by nvcc (\S+)\.$", old, re.MULTILINE)
    if maker and maker[1] != arguments.nvcc:
        print(f"skipped: the page was made by nvcc {maker[1]}, here is {arguments.nvcc}")
        return SKIPPED
    if old == new:
        return 0
    print(f"{arguments.page} is not what the kernels are now: build the target kernel_table")
    for line in sorted(set(new.splitlines()) ^ set(old.splitlines())):
        print("  now " if line in new.splitlines() else "  page", line)
    return 1


if __name__ == "__main__":
    sys.exit(main())
