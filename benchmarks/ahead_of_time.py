"""What `mneme_apply_tuned()` gains: programs plain, tuned at run time, and built ahead of time.

    python benchmarks/ahead_of_time.py                 # the first GPU

The programs of tests/apps/ahead_of_time and their file of tuned kernels. Per program: the median
device time of its kernel (by CUPTI) and the wall time of plain, tuned and ahead-of-time runs, and
whether all printed the same. The CPU device compiles kernels from the IR they carry, whatever was
built ahead of time: there is nothing to measure.
"""

from __future__ import annotations

import argparse
import math
import shutil
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from common import BUILD, PROGRAMS, RESULTS, ROOT, write_results
from guests import FAILURES, Guests, spread
from production import Program, build_tracer, kernel_medians, run

from mneme.devices import choose_device

if TYPE_CHECKING:
    from collections.abc import Mapping

FOLDER = Path("tests", "apps", "ahead_of_time")
# A bundle has sources in a place of their own.
TUNED_FILE = next(ROOT.glob(f"{FOLDER}/tuned.json"), ROOT / "source" / FOLDER / "tuned.json")
# Not reduction: its floating-point atomics print another last digit from run to run.
RUNS = (
    Program(name="nbody", arguments=("65536", "10")),
    Program(name="stencil2d", arguments=("4096", "200")),
)


def measure(guests: Guests, tracer: Path | None, program: Program) -> dict[str, Any]:
    """Measure one program in its three forms."""
    tuned = {
        "PROTEUS_TUNED_KERNELS": str(TUNED_FILE),
        "PROTEUS_CACHE_DIR": str(guests.scratch / f"cache-{program.name}"),
    }
    ahead = Program(name=f"{program.name}_ahead", arguments=program.arguments)
    forms: dict[str, tuple[Program, Mapping[str, str]]] = {
        "plain": (program, {}),
        "tuned": (program, tuned),
        "ahead": (ahead, {}),
    }
    runs: dict[str, list[Any]] = {form: [] for form in forms}
    for _ in range(guests.repeats):
        for form, (which, variables) in forms.items():
            runs[form].append(run(guests, which, **variables))
    row: dict[str, Any] = {
        "is_same_output": len({each.stdout for done in runs.values() for each in done}) == 1,
        "said": sorted({line for each in runs["tuned"] for line in each.stderr.splitlines()})[:9],
    }
    for form, (which, variables) in forms.items():
        row[f"{form}_seconds"] = spread([each.seconds for each in runs[form]])
        row[f"{form}_kernels"] = kernel_medians(guests, tracer, which, **variables)
    return row


def show(rows: Mapping[str, dict[str, Any]]) -> None:
    """Print one line for each kernel."""
    print(f"{'program':<22}{'kernel':<36}{'plain us':>10}{'tuned us':>10}{'ahead us':>10}  output")
    for title, row in rows.items():
        if "failed" in row:
            print(f"{title:<22}{row['failed']}")
            continue
        for name in row["plain_kernels"] or {"": {}}:
            times = [
                row[f"{form}_kernels"].get(name, {}).get("median_us", math.nan)
                for form in ("plain", "tuned", "ahead")
            ]
            numbers = "".join(f"{time:>10.3f}" for time in times)
            same = "same" if row["is_same_output"] else "DIFFERS"
            print(f"{title:<22}{name[:34]:<36}{numbers}  {same}")


def main() -> int:
    """Measure every program and write the result."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default=None)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--output", type=Path, default=RESULTS / "ahead_of_time.jsonl")
    options = parser.parse_args()
    device = choose_device(options.device)
    scratch = Path(tempfile.mkdtemp(prefix="mneme-ahead-"))
    guests = Guests(
        device=device,
        examples=BUILD / FOLDER,
        programs=PROGRAMS,
        scratch=scratch,
        repeats=options.repeats,
    )
    tracer = build_tracer(scratch) if guests.is_gpu else None
    rows: dict[str, Any] = {}
    for program in RUNS:
        title = " ".join([program.name, *program.arguments])
        try:
            rows[title] = measure(guests, tracer, program)
        except FAILURES as error:
            rows[title] = {"failed": str(error)}
        results = [{"program": name, **row} for name, row in rows.items()]
        write_results(options.output, "kernels tuned ahead of time", results, device=device)
    show(rows)
    shutil.rmtree(scratch, ignore_errors=True)
    return 0 if all(row.get("is_same_output") for row in rows.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
