"""kernel_table_test.py ROOT: the script reads what ptxas says, counts blocks as NVIDIA's calculator does, and tells a
stale page from a fresh one and from one of another compiler."""

import importlib.util
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(sys.argv[1])
SCRIPT = ROOT / "scripts" / "kernel_table.py"
spec = importlib.util.spec_from_file_location("kernel_table", SCRIPT)
kernel_table = importlib.util.module_from_spec(spec)
spec.loader.exec_module(kernel_table)

REPORT = """
ptxas info    : Compiling entry function '_ZN5shoal4cuda36_GLOBAL__N__4e12e6fe_4_a_cu_4098755710add_kernelILb1EEEvPf' for '{arch}'
ptxas info    : Function properties for _ZN5shoal4cuda36_GLOBAL__N__4e12e6fe_4_a_cu_4098755710add_kernelILb1EEEvPf
    0 bytes stack frame, 4 bytes spill stores, 8 bytes spill loads
ptxas info    : Used {registers} registers, used 1 barriers, 1024 bytes smem, 432 bytes cmem[0]
"""
MANGLED = "_ZN5shoal4cuda36_GLOBAL__N__4e12e6fe_4_a_cu_4098755710add_kernelILb1EEEvPf"

# (registers, static, threads, dynamic): blocks on A100, on H100. By hand: 65,536 registers in four parts, 164 or 228
# KB with 1 KB for the system in each block.
OCCUPANCY = {
    (32, 0, 256, 0): (8, 8),        # 2,048 threads
    (128, 0, 256, 0): (2, 2),       # 512 threads' registers
    (65, 0, 128, 0): (7, 7),        # 72 a thread: 2,304 a warp, 7 warps in a part, 28 in all
    (16, 0, 32, 0): (32, 32),       # 32 blocks at most
    (64, 48 << 10, 128, 0): (3, 4),
    (64, 0, 256, 96 << 10): (1, 2),
    (64, 0, 256, 200 << 10): (0, 1),
}


def run(folder, *arguments, nvcc="13.0.88"):
    command = [sys.executable, SCRIPT, "--nvcc", nvcc, "--launches", folder / "launches.txt", "--page",
               folder / "page.md", *arguments, folder / "add.ptxas"]
    return subprocess.run(command, capture_output=True, text=True)


def main():
    for (registers, static, threads, dynamic), blocks in OCCUPANCY.items():
        build = kernel_table.Build(registers=registers, shared=static)
        got = tuple(kernel_table.occupancy(card, build, threads, dynamic)[0] for card in kernel_table.CARDS)
        assert got == blocks, f"{registers} registers, {static} + {dynamic} bytes, {threads} threads: {got}"

    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "add.ptxas").write_text(REPORT.format(arch="sm_80", registers=40) +
                                          REPORT.format(arch="sm_90a", registers=38))
        (folder / "launches.txt").write_text(f"{MANGLED} 128 2048\n")
        (folder / "page.md").write_text(f"before\n{kernel_table.BEGIN}\n{kernel_table.END}\nafter\n")
        assert run(folder, "--compare").returncode == 1, "an empty table is stale"
        assert run(folder, "--write").returncode == 0
        page = (folder / "page.md").read_text()
        row = "| add | `add_kernel<true>` | 128 | 40 / 38 | 1024 + 2048 | 0, 12 | 12 (registers) | 12 (registers) |"
        assert row in page, page
        assert page.startswith("before\n") and page.endswith("\nafter\n"), page
        assert run(folder, "--compare").returncode == 0
        assert run(folder, "--compare", nvcc="12.9.1").returncode == 77, "another compiler"
        (folder / "page.md").write_text(page.replace("40 / 38", "40 / 39"))
        stale = run(folder, "--compare")
        assert stale.returncode == 1 and "40 / 39" in stale.stdout, stale.stdout
        (folder / "launches.txt").write_text("")
        run(folder, "--write")
        assert "| add | `add_kernel<true>` | - | 40 / 38 | 1024 |" in (folder / "page.md").read_text()
    print("kernel_table.py is sound")


main()
