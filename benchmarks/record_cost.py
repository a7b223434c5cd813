"""What recording costs a program, beside a profiler that replays its kernels and keeps nothing.

usage: record_cost.py FILE [--output FILE]

FILE is one of foreign_programs.py: each line is a name, a tab, and a command. Each program runs alone, with mneme's
recorder in it that records nothing, recorded (one launch of each kernel; every launch), and under Nsight
Compute: with two metrics, and with all, for which it launches each kernel 40 times and more. Seconds are medians of
whole runs, the programs' and the tools' starts among them.
"""

from __future__ import annotations

import argparse
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from common import RESULTS, median_of, write_results

SECONDS = 300
EVERY = "1000000"
TWO_METRICS = "sm__cycles_elapsed.max,dram__bytes.sum"
RECORDED = re.compile(r"recorded (\d+) instances? of (\d+) kernels? \((\d+) launch")


class FailedError(Exception):
    """A command that did not end well, so that its time says nothing."""


def run(command: list[str]) -> str:
    """Run a command to its end; return what it wrote to stderr."""
    try:
        done = subprocess.run(command, capture_output=True, check=False, timeout=SECONDS)
    except subprocess.TimeoutExpired as error:
        raise FailedError(f"no end within {SECONDS} s") from error
    except FileNotFoundError as error:
        raise FailedError(f"{command[0]} is not here") from error
    if done.returncode != 0:
        raise FailedError(f"exit code {done.returncode}")
    return done.stderr.decode(errors="replace")


def examine(name: str, program: list[str], repeats: int) -> dict[str, Any]:
    """Return a line of results: seconds of a program's whole runs, in each way."""
    record = [sys.executable, "-m", "mneme", "record"]
    ncu = ["ncu", "--target-processes", "all"]
    row: dict[str, Any] = {"program": name}
    with tempfile.TemporaryDirectory() as folder:
        each = iter(range(10**6))

        def into() -> list[str]:
            return ["-rdb", str(Path(folder) / str(next(each)))]

        said = run([*record, "-mr", EVERY, *into(), "--", *program])
        if found := RECORDED.search(said):
            row["instances"], row["kernels"], row["launches"] = map(int, found.groups())
        ways = {
            "alone": lambda: run(program),
            "not recorded": lambda: run([*record, "--kernels", "^$", *into(), "--", *program]),
            "one launch a kernel": lambda: run([*record, "-mr", "1", *into(), "--", *program]),
            "every launch": lambda: run([*record, "-mr", EVERY, *into(), "--", *program]),
            "ncu, two metrics": lambda: run([*ncu, "--metrics", TWO_METRICS, *program]),
            "ncu, all": lambda: run([*ncu, "--set", "full", *program]),
        }
        for way, action in ways.items():
            try:
                row[way] = median_of(repeats, action)
            except FailedError as error:
                row[way] = str(error)
    return row


def main() -> None:
    """Measure all programs; print and write a line for each."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", type=Path, metavar="FILE")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--output", type=Path, default=RESULTS / "record_cost.jsonl")
    options = parser.parse_args()
    rows = []
    for line in options.file.read_text(encoding="utf-8").splitlines():
        name, _tab, command = line.partition("\t")
        rows.append(examine(name, shlex.split(command), options.repeats))
        print(rows[-1], flush=True)
    what = "seconds of whole runs: alone, recorded, and under Nsight Compute"
    write_results(options.output, what, rows, device="cuda:0", repeats=options.repeats)


if __name__ == "__main__":
    main()
