#!/usr/bin/env python3
"""hardware_md.py [--out PAGE] [RESULTS.json ...]: docs/hardware.md from the probe's records.
hardware_md.py --against-plan < PLAN.json: fails where the page asks for a line that the probe does not promise.

Without records it takes all of bench/results/*.json. Each card's newest run becomes a column beside what the
design assumed. Python's standard library only.
"""

import argparse
import fnmatch
import json
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent

# name of a line, what it is, what the design assumed ("-": nothing), where that stands. The estimates are for an
# H200 unless they say otherwise; those marked "seen" were read off a card by other means, none by the probe.
ESTIMATES = [
    ("transfer.h2d.pinned", "host to device, pinned, 256 MiB", "-", ""),
    ("transfer.h2d.pageable", "host to device, pageable, 256 MiB", "-", ""),
    ("transfer.d2h.pinned", "device to host, pinned, 256 MiB", "-", ""),
    ("transfer.d2h.pageable", "device to host, pageable, 256 MiB", "-", ""),
    ("transfer.h2d.pinned.step_block", "host to device, pinned, 1 MiB", "-", ""),
    ("transfer.d2h.pinned.step_block", "device to host, pinned, 1 MiB", "-", ""),
    ("bandwidth.copy", "copy, read plus written", "4300 (seen)", "CUDA_NOTES 2.1"),
    ("bandwidth.memcpy", "cudaMemcpy, read plus written", "4300 (seen)", "CUDA_NOTES 2.1"),
    ("bandwidth.read", "read", "-", ""),
    ("bandwidth.write", "write", "-", ""),
    ("update.b28.all", "AdamW-like, 28 bytes a parameter, all SMs", "3440: 80 % of the copy", "DESIGN 10"),
    ("update.b30.all", "30 bytes, all SMs", "3440; 1 ms a row with its GEMM reads", "DESIGN 10, CUDA_NOTES 2.1"),
    ("update.b34.all", "34 bytes, all SMs", "3440", "DESIGN 10"),
    ("update.b30.half", "30 bytes, half of the SMs", "-", ""),
    ("update.b30.fifth", "30 bytes, a fifth of the SMs", "-", ""),
    ("update.b30.shared.beside_gemm", "update and GEMM together, of both in turn; sharing SMs", "-", "DESIGN 8"),
    ("update.b30.all.beside_gemm", "the same, the update in turns on all SMs", "-", ""),
    ("update.b30.half.beside_gemm", "the same, half of the SMs to the update", "-", ""),
    ("update.b30.fifth.beside_gemm", "the same, a fifth to the update", "under 100: that it pays", "DESIGN 10"),
    ("ceiling.mma_sync", "mma.sync, registers only", "-", ""),
    ("ceiling.wgmma", "wgmma, shared memory only", "989 (data sheet)", "DESIGN 10"),
    ("gelu.mma_sync.exposed", "erf-GELU exposed, of the main loop at K=768", "what a separate kernel costs", "DESIGN 5"),
    ("gelu.mma_sync.hidden", "erf-GELU hidden", "about 0", "DESIGN 5"),
    ("gelu.wgmma.exposed", "the same for wgmma, exposed", "what a separate kernel costs", "DESIGN 5"),
    ("gelu.wgmma.hidden", "hidden", "about 0", "DESIGN 5"),
    ("gelu.gemm.store_u.two_blocks", "own plain GEMM 16384 x 3072 x 768, u stored", "-", ""),
    ("gelu.gemm.store_u_u.two_blocks", "u stored twice", "-", ""),
    ("gelu.gemm.store_u_gelu.two_blocks", "u and gelu(u), two blocks an SM", "as u twice: hidden", "DESIGN 5"),
    ("gelu.gemm.store_u_gelu.one_block", "u and gelu(u), one block an SM", "-", ""),
    ("gelu.separate", "GELU as a kernel of its own", "3440: 80 % of the copy", "DESIGN 10"),
    ("launch.edge.plain.one_block", "a kernel of a chain in a graph", "-", ""),
    ("launch.edge.programmatic.one_block", "with programmatic dependent launch", "-", ""),
    ("launch.edge.plain.full_grid", "a block on every SM", "-", ""),
    ("launch.edge.programmatic.full_grid", "with programmatic dependent launch", "-", ""),
    ("launch.stream", "a launch without a graph, device side", "-", ""),
    ("launch.stream.host", "what the host spends on it", "-", ""),
    ("launch.graph.host", "host time of a graph of 200", "-", ""),
    ("launch.empty_block.exit", "an empty block", "-", ""),
    ("launch.empty_block.count", "a block that reads a count and ends", "-", ""),
    ("rounding.mma_sync.normal.k16", "mma.sync against the model, one step", "0", "CUDA_NOTES 7.4"),
    ("rounding.mma_sync.wide.k16", "with wide exponents", "0", "CUDA_NOTES 7.4"),
    ("rounding.mma_sync.cancelling.k16", "where the sum cancels", "0", "CUDA_NOTES 7.4"),
    ("rounding.mma_sync.zero_c.k768", "a chain of K=768", "0", "CUDA_NOTES 7.4"),
    ("rounding.wgmma.normal.k16", "wgmma against the model, one step", "0", "CUDA_NOTES 7.4"),
    ("rounding.wgmma.wide.k16", "with wide exponents", "0", "CUDA_NOTES 7.4"),
    ("rounding.wgmma.cancelling.k16", "where the sum cancels", "0", "CUDA_NOTES 7.4"),
    ("rounding.wgmma.zero_c.k768", "a chain of K=768", "0", "CUDA_NOTES 7.4"),
    ("rounding.mma_sync_against_wgmma", "mma.sync against wgmma", "0", "CUDA_NOTES 7.4"),
    ("cublaslt.ffn1.forward.t4096.w4", "cuBLASLt, FFN1 forward, 4,096 tokens x 4 jobs", "600", "CUDA_NOTES 2.1"),
    ("cublaslt.ffn1.wgrad.t4096.w4", "its weight gradient", "600", "CUDA_NOTES 2.1"),
    ("cublaslt.ffn1.forward.t1024.w16", "FFN1 forward, 1,024 tokens x 16 jobs", "-", ""),
    ("cublaslt.bits_over_batch.ffn1.forward.t1024", "replica 0 over batch counts and neighbours", "unknown", "CUDA_NOTES 1.5"),
    ("cublaslt.bits_over_buckets.ffn1.wgrad", "replica 0 over token buckets", "unknown", "CUDA_NOTES 1.5"),
    ("span.cast", "cast over 24 BERT-base rows", "3440: 80 % of the copy", "DESIGN 10"),
    ("span.cublaslt", "cuBLASLt, replica 23 beyond 2^31 elements", "0", "CUDA_NOTES 1.1"),
]
LAYERS = ["qkv", "attention_output", "ffn1", "ffn2"]
PASSES = ["forward", "dgrad", "wgrad"]
BUCKETS = [256, 512, 1024, 4096, 16384]
BATCHES = [1, 4, 16]


class Run:
    """One record; of several of a card the newest is shown."""

    def __init__(self, path):
        record = json.loads(path.read_text())
        if record.get("format") != "shoal-probe-1":
            raise SystemExit(f"{path}: not a record of shoal_probe")
        self.name, self.date = path.name, record["date"]
        self.parts, self.lines = record["parts"], {line["name"]: line for line in record["lines"]}
        self.device = self.lines.get("device", {}).get("details", {})
        self.card = self.device.get("name", path.stem)

    def cell(self, name):
        line = self.lines.get(name)
        if line is None:
            return "not measured"
        if line["runs"] == 0:
            return "refused"
        if line["unit"] == "differ":
            wrong = line["details"].get("results", line["details"].get("words"))
            return f"{line['median']:.0f}" + (f" of {wrong}" if wrong else "")
        number = line["median"]
        if number is None:
            return "not a number"
        return f"{number:.4g} ({show(line['low'])} to {show(line['high'])})"

    def unit(self, name):
        return self.lines.get(name, {}).get("unit")


def show(number):
    return "?" if number is None else f"{number:.4g}"


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows]) + "\n"


def newest_of_each_card(runs):
    newest = {}
    for run in sorted(runs, key=lambda r: r.date):
        newest[run.card] = run
    return [newest[card] for card in sorted(newest)]


def estimates(runs):
    rows = []
    for name, what, estimate, where in ESTIMATES:
        unit = next((run.unit(name) for run in runs if run.unit(name)), unit_of(name))
        rows.append([f"`{name}`", what, unit, estimate + (f" [{where}]" if where else "")] + [run.cell(name) for run in runs])
    return table(["line", "what", "unit", "assumed"] + [run.card for run in runs], rows)


# The unit of a line while no run says it: the first pattern that fits.
UNITS = [("*.step_block", "us"), ("*.beside_gemm", "%"), ("gelu.gemm.*", "TFLOP/s"), ("gelu.separate", "GB/s"),
         ("gelu.*", "%"), ("ceiling.*", "TFLOP/s"), ("launch.empty_block.*", "ns"), ("launch.*", "us"),
         ("rounding.*", "differ"), ("cublaslt.bits*", "differ"), ("cublaslt.*", "TFLOP/s"),
         ("span.cublaslt", "differ"), ("*", "GB/s")]


def unit_of(name):
    return next(unit for pattern, unit in UNITS if fnmatch.fnmatch(name, pattern))


def against_plan(plan):
    """The page asks for lines that the probe promises, in their units."""
    planned = {line["name"]: line["unit"] for part in plan["parts"] for line in part["lines"]}
    wrong = [f"{name}: {unit_of(name)} here, {planned.get(name, 'nothing')} there"
             for name, *_ in ESTIMATES if planned.get(name) != unit_of(name)]
    if wrong:
        raise SystemExit("the page and the probe's plan differ:\n" + "\n".join(wrong))


def library(run):
    """TFLOP/s of the pinned algorithm, and whether replica 0 kept its bits."""
    rows = []
    for layer in LAYERS:
        for passing in PASSES:
            role = f"{layer}.{passing}"
            for bucket in BUCKETS:
                bits = run.cell(f"cublaslt.bits_over_batch.{role}.t{bucket}")
                speeds = [run.cell(f"cublaslt.{role}.t{bucket}.w{batch}").split(" (")[0] for batch in BATCHES]
                rows.append([role, str(bucket)] + speeds + [bits])
    head = ["role", "tokens"] + [f"batch {batch}" for batch in BATCHES] + ["words of replica 0 that change"]
    buckets = [[f"{layer}.{passing}", run.cell(f"cublaslt.bits_over_buckets.{layer}.{passing}")]
               for layer in LAYERS for passing in PASSES]
    return (f"### cuBLASLt on {run.card}\n\nTFLOP/s with the algorithm pinned at batch 1.\n\n" + table(head, rows)
            + "\nThe same algorithm over token buckets, 200 live rows:\n\n" + table(["role", "words that change"], buckets))


def facts(run):
    d = run.device
    rows = [[key, str(value)] for key, value in d.items()]
    troubles = [f"- part {p['name']}: {p['outcome']}{': ' + p['reason'] if p['reason'] else ''}"
                f"{'; missing: ' + ', '.join(p['missing']) if p['missing'] else ''}"
                for p in run.parts if p["outcome"] != "done" or p["missing"]]
    return (f"### {run.card}\n\n{run.name}, {run.date}\n\n" + table(["fact", "value"], rows)
            + ("\nNot whole:\n" + "\n".join(troubles) + "\n" if troubles else ""))


def page(runs):
    runs = newest_of_each_card(runs)
    text = "# Hardware: what was assumed, what was measured\n\n"
    text += "Written by `scripts/hardware_md.py` from `bench/results/*.json`; not by hand.\n\n"
    if not runs:
        text += ("**Nothing has been measured on a GPU.** No record of `shoal_probe` exists yet: every number below is\n"
                 "an assumption of the design, or was read off a card by other means where it says \"seen\".\n\n")
    else:
        text += "Medians with the tenth and ninetieth percentile; random data, buffers rotated beyond the L2, clocks as found.\n\n"
    text += "## Assumptions and measurements\n\n" + estimates(runs)
    for run in runs:
        text += "\n" + facts(run) + "\n" + library(run)
    return text


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "docs" / "hardware.md")
    parser.add_argument("--against-plan", action="store_true")
    parser.add_argument("results", nargs="*", type=pathlib.Path)
    arguments = parser.parse_args()
    if arguments.against_plan:
        return against_plan(json.load(sys.stdin))
    paths = arguments.results or sorted((ROOT / "bench" / "results").glob("*.json"))
    arguments.out.write_text(page([Run(path) for path in paths]))


if __name__ == "__main__":
    main()
