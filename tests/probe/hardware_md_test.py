"""hardware_md_test.py ROOT: docs/hardware.md is what its script makes of the records, and the script shows them.

The record used here is made up, lies in a temporary folder and names a card that does not exist.
"""

import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(sys.argv[1])
SCRIPT = ROOT / "scripts" / "hardware_md.py"


def page(folder, *records):
    out = folder / "page.md"
    subprocess.run([sys.executable, SCRIPT, "--out", out, *records], check=True)
    return out.read_text()


def line(name, unit, median, **details):
    return {"name": name, "unit": unit, "median": median, "low": median, "high": median, "runs": 3, "details": details}


def record(folder, name, date, copy):
    path = folder / name
    lines = [{"name": "device", "unit": "", "runs": 0, "details": {"name": "Imagined Card", "sms": 7}},
             line("bandwidth.copy", "GB/s", copy),
             line("rounding.mma_sync.normal.k16", "differ", 2, results=10),
             {"name": "cublaslt.bits_over_batch.qkv.forward.t256", "unit": "differ", "runs": 0, "details": {}}]
    parts = [{"name": "launch", "outcome": "failed", "reason": "broken on purpose", "missing": ["launch.stream"]}]
    path.write_text(json.dumps({"format": "shoal-probe-1", "date": date, "parts": parts, "lines": lines}))
    return path


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        assert page(folder) == (ROOT / "docs" / "hardware.md").read_text(), "docs/hardware.md: run scripts/hardware_md.py"

        old = record(folder, "old.json", "2001-01-01T00:00:00Z", 111.5)
        new = record(folder, "new.json", "2001-01-02T00:00:00Z", 222.5)
        text = page(folder, new, old)
        copy = next(row for row in text.splitlines() if row.startswith("| `bandwidth.copy`"))
        assert "222.5" in copy and "4300" in copy, copy
        assert "111.5" not in text, "the older run of the card shows"
        assert "2 of 10" in text and "refused" in text and "not measured" in text
        assert "broken on purpose" in text and "launch.stream" in text
        assert "Nothing has been measured" not in text

        (folder / "other.json").write_text('{"format": "something else"}')
        refused = subprocess.run([sys.executable, SCRIPT, "--out", folder / "p", folder / "other.json"],
                                 stderr=subprocess.PIPE, text=True)
        assert refused.returncode != 0 and "not a record" in refused.stderr


main()
