"""Record every example on this machine, replay each recorded kernel, tune some, run them tuned.

Run by scripts/demo, which sets up and builds first. Ends with two tables and a sentence for each
program that was tuned; exits 0 only if every example gave the same output recorded, tuned and
plain, and every replay was verified.
"""

from __future__ import annotations

import argparse
import os
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from demo_tuned import WIDTH, DemoError, table_for, tune_examples
from rich.console import Console
from rich.markup import escape

from mneme.measure.replay_executor import BaseExecutor
from mneme.recording.recorded_execution import RecordedExecution

if TYPE_CHECKING:
    from mneme.mneme_types import dim3

EXAMPLES = (
    *("vector_add", "stencil2d", "heat3d", "reduction", "spmv_cg", "nbody", "linked_list"),
    "multi_unit",
)
# With arguments for which kernels take a good part of the time.
TUNED_EXAMPLES = {
    "stencil2d": ("512", "80"),
    "heat3d": ("64", "50"),
    "reduction": (),
}
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


def record_example(example: Path, directory: Path, console: Console) -> bool:
    """Record one example; True if its output and exit code were those of an unrecorded run."""
    plain = mneme("run", "--", str(example))
    recorded = mneme("record", "-rdb", str(directory), "--", str(example))
    is_same = (plain.stdout, plain.returncode) == (recorded.stdout, recorded.returncode)
    first_line = plain.stdout.split("\n")[0].removeprefix(f"{example.name}: ")
    verdict = "[green]same output[/]" if is_same else "[red]DIFFERENT OUTPUT[/]"
    console.print(f"[bold]{example.name}[/]: {escape(first_line)}; recorded with {verdict}")
    for line in recorded.stderr.splitlines():
        console.print(f"    {escape(line)}", style="dim", highlight=False, soft_wrap=True)
    return is_same and plain.returncode == 0


def text_of(dims: dim3) -> str:
    """Write dimensions without trailing ones: `16x16`, `4096`."""
    return f"{dims.x}x{dims.y}x{dims.z}".removesuffix("x1").removesuffix("x1")


def replay_instance(
    example: str, record: RecordedExecution, database: Path, record_id: str
) -> ReplayRow:
    """Replay one recorded launch under every pipeline."""
    cells = []
    is_verified = True
    with BaseExecutor(database, record_id, iterations=5, device="cpu") as executor:
        configuration = executor.recorded_configuration()
        for pipeline in PIPELINES:
            result = executor.evaluate(replace(configuration, passes=pipeline))
            is_verified = is_verified and result.verified
            mark = ("=" if result.result_class == "exact" else "~") if result.verified else "✗"
            cells.append(f"{min(result.exec_time, default=0) / 1000:.0f} {mark}")
    instance = record[record_id]
    size = sum(Path(state.fn).stat().st_size for state in (instance.prologue, instance.epilogue))
    dims = f"{text_of(instance.grid_dim)} / {text_of(instance.block_dim)}"
    name = short_kernel_name(record.demangled_name)
    return ReplayRow(example, name, dims, size, cells, is_verified)


def show(rows: list[ReplayRow], console: Console) -> None:
    """Print the closing table."""
    table = table_for(console, "Replays on the CPU device: fastest launch in µs per pass pipeline")
    is_wide = console.width >= WIDTH
    table.add_column("example")
    table.add_column("kernel", style="bold")
    if is_wide:
        table.add_column("grid / block")
        table.add_column("snapshot", justify="right")
    for pipeline in PIPELINES:
        table.add_column(pipeline.removeprefix("default<").removesuffix(">"), justify="right")
    table.add_column("verified" if is_wide else "right")
    for row in rows:
        verdict = "[green]yes[/]" if row.is_verified else "[red]NO[/]"
        facts = (row.dims, f"{row.snapshot_bytes / 1024:.0f} KiB") if is_wide else ()
        table.add_row(row.example, row.kernel, *facts, *row.cells, verdict)
    console.print(table)
    console.print(
        "= bit for bit as recorded, ~ within the tolerance the program asked for", style="dim"
    )


def what_next(build: Path) -> str:
    """Say how a shell gets the commands that were built."""
    programs = f"{build / 'bin'}:{Path(sys.executable).parent}"
    return (
        "mneme and its compilers for this shell, as tutorials need them:\n"
        f"    export PATH={shlex.quote(programs)}:$PATH"
    )


def main() -> int:
    """Record, replay, report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--examples", type=Path, required=True)
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--quick", action="store_true", help="only vector_add and stencil2d")
    parser.add_argument(
        "--picture", type=Path, metavar="FILE", help="also write what ends the run as an SVG"
    )
    options = parser.parse_args()
    is_seen = Console().is_terminal
    console = Console(width=None if is_seen else WIDTH, record=options.picture is not None)

    names = EXAMPLES[:2] if options.quick else EXAMPLES
    shutil.rmtree(options.output, ignore_errors=True)
    rows: list[ReplayRow] = []
    is_good = True
    for name in names:
        directory = options.output / name
        is_good = record_example(options.examples / name, directory, console) and is_good
        for database in sorted(directory.glob("*.json")):
            record = RecordedExecution.from_json(database)
            rows += [replay_instance(name, record, database, record_id) for record_id in record]
    if options.picture is not None:
        # The picture begins here.
        console.export_text()
        console.width = WIDTH
    show(rows, console)
    kernels = len({(row.example, row.kernel) for row in rows})
    verified = sum(row.is_verified for row in rows)
    console.print(
        f"{kernels} kernels, {len(rows)} recorded launches, {verified} verified under "
        f"{len(PIPELINES)} pipelines each. Recordings: {os.path.relpath(options.output)}"
    )
    try:
        is_good = (
            tune_examples(
                {name: given for name, given in TUNED_EXAMPLES.items() if name in names},
                options.examples,
                options.output / "tuned",
                console,
            )
            and is_good
        )
    except DemoError as error:
        console.print(escape(str(error)), style="red")
        is_good = False
    if options.picture is not None:
        console.save_svg(str(options.picture), title="scripts/demo")
    console.print(escape(what_next(options.examples.parent)), highlight=False, soft_wrap=True)
    return 0 if is_good and rows and verified == len(rows) else 1


if __name__ == "__main__":
    sys.exit(main())
