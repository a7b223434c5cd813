"""Record every example on this machine and replay each recorded kernel under several pipelines.

Run by scripts/demo, which sets up and builds first. Ends with one table; exits 0 only if every
example gave the same output recorded as unrecorded and every replay was verified.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

EXAMPLES = ("vector_add", "stencil2d", "reduction", "spmv_cg", "nbody", "linked_list", "multi_unit")
PIPELINES = (
    "default<O0>",
    "default<O1>",
    "default<O2>",
    "default<O3>",
    "default<Os>",
    "default<Oz>",
)


@dataclass
class ReplayRow:
    """One recorded launch and what its replays gave."""

    example: str
    kernel: str
    dims: str
    snapshot_bytes: int
    cells: list[str]
    is_verified: bool


def mneme(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run one mneme command and return it with its captured output."""
    command = [sys.executable, "-m", "mneme", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def short_kernel_name(demangled: str) -> str:
    """`void spmv<double>(int, ...)` -> `spmv<double>`."""
    name = demangled.split("(anonymous namespace)::")[-1].split("(")[0]
    return name.rsplit(" ", 1)[-1]


def record(example: Path, directory: Path, console: Console) -> bool:
    """Record one example; True if its output and exit code were those of an unrecorded run."""
    plain = mneme("run", "--", str(example))
    recorded = mneme("record", "-rdb", str(directory), "--", str(example))
    is_same = (plain.stdout, plain.returncode) == (recorded.stdout, recorded.returncode)
    verdict = "[green]same output[/]" if is_same else "[red]DIFFERENT OUTPUT[/]"
    console.print(
        f"[bold]{example.name}[/]: {plain.stdout.splitlines()[0]}; recorded with {verdict}"
    )
    for line in recorded.stderr.splitlines():
        console.print(f"    {line}", style="dim", highlight=False)
    return is_same and plain.returncode == 0


def replay_record(example: str, database: Path) -> list[ReplayRow]:
    """Replay every instance of one recorded kernel under every pipeline."""
    content = json.loads(database.read_text())
    rows = []
    for record_id, instance in content["instances"].items():
        cells = []
        is_verified = True
        for pipeline in PIPELINES:
            done = mneme("replay", "-rdb", str(database), "-rid", record_id, pipeline)
            if not done.stdout.startswith("{"):
                cells.append("failed")
                is_verified = False
                continue
            result = json.loads(done.stdout)["Result"]
            is_verified = is_verified and bool(result["verified"]) and done.returncode == 0
            best = min(result["exec_time"], default=0) / 1000
            mark = {"exact": "=", "within_tolerance": "~"}.get(result["result_class"], "~")
            cells.append(f"{best:.0f} {mark if result['verified'] else '✗'}")
        grid, block = instance["GridDims"], instance["BlockDims"]
        dims = f"{grid['x']}x{grid['y']}x{grid['z']} / {block['x']}x{block['y']}x{block['z']}"
        size = sum(
            (database.parent / instance[key]).stat().st_size for key in ("Prologue", "Epilogue")
        )
        name = short_kernel_name(content["DemangledName"])
        rows.append(ReplayRow(example, name, dims, size, cells, is_verified))
    return rows


def show(rows: list[ReplayRow], console: Console) -> None:
    """Print the closing table."""
    table = Table(title="Replays on the CPU device: fastest launch in µs per pass pipeline")
    table.add_column("example")
    table.add_column("kernel", style="bold")
    table.add_column("grid / block")
    table.add_column("snapshot", justify="right")
    for pipeline in PIPELINES:
        table.add_column(pipeline.removeprefix("default<").removesuffix(">"), justify="right")
    table.add_column("verified")
    for row in rows:
        verdict = "[green]yes[/]" if row.is_verified else "[red]NO[/]"
        size = f"{row.snapshot_bytes / 1024:.0f} KiB"
        table.add_row(row.example, row.kernel, row.dims, size, *row.cells, verdict)
    console.print(table)
    console.print(
        "= bit for bit as recorded, ~ within the tolerance the program asked for", style="dim"
    )


def main() -> int:
    """Record, replay, report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--examples", type=Path, required=True)
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--quick", action="store_true", help="only vector_add and stencil2d")
    options = parser.parse_args()
    console = Console(width=max(Console().width, 132))

    names = EXAMPLES[:2] if options.quick else EXAMPLES
    shutil.rmtree(options.output, ignore_errors=True)
    rows: list[ReplayRow] = []
    is_good = True
    for name in names:
        directory = options.output / name
        is_good = record(options.examples / name, directory, console) and is_good
        for database in sorted(directory.glob("*.json")):
            rows.extend(replay_record(name, database))
    show(rows, console)
    kernels = len({(row.example, row.kernel) for row in rows})
    verified = sum(row.is_verified for row in rows)
    console.print(
        f"{kernels} kernels, {len(rows)} recorded launches, {verified} verified under "
        f"{len(PIPELINES)} pipelines each. Recordings: {options.output}"
    )
    return 0 if is_good and rows and verified == len(rows) else 1


if __name__ == "__main__":
    sys.exit(main())
