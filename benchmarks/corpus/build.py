"""A corpus of our own programs: examples, benchmarks and tests, each recorded with a small problem.

usage: build.py [--device cpu|cuda:0] [--size small|large] [--microseconds LOW HIGH] -o DIR
                [--pack FILE.tar.zst] [--programs DIR] [--output FILE] [--unverified] [NAME...]

programs.csv lists the programs: where each is built, its arguments on the CPU device, on a GPU, and
with problems of which most kernels take 10 to 500 microseconds on an NVIDIA H200 (--size large), and
options of `mneme record`; "-" stands where a program is left out. Left out of the table are kernels
whose results are other each time, as addresses of the device's heap are. A NAME is a program of that
table; without any, all are recorded that are built. Launches that do not replay as recorded are named
and left out, and so are those that take longer or shorter than --microseconds says. Prints a line for
each program and how many kernels take 10 to 500 microseconds, and writes all to FILE. mneme compare is
measured on such a corpus.
"""

from __future__ import annotations

import argparse
import csv
import shlex
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from common import BUILD, ROOT, write_results  # noqa: E402

from mneme.corpus.adding import add_recording  # noqa: E402
from mneme.corpus.container import is_compressed, zstd_module  # noqa: E402
from mneme.corpus.labels import Labels  # noqa: E402
from mneme.corpus.packing import pack  # noqa: E402
from mneme.devices import choose_device, device_limits  # noqa: E402
from mneme.errors import MnemeError  # noqa: E402
from mneme.measure.suite_executor import SuiteExecutor, SuiteOptions  # noqa: E402
from mneme.recording.configured import configured  # noqa: E402
from mneme.recording.directory import Recording  # noqa: E402
from mneme.recording.files import copy_records  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Callable

    from mneme.mneme_types import ExperimentResult

LICENCE = "Apache-2.0 WITH LLVM-exception"
SECONDS = 300
REPLAY_SECONDS = 20
LEFT_OUT = "-"
NOTHING_LEFT = "no kernel is left"
# The range that comparisons are measured on.
LOW, HIGH = 10.0, 500.0


@dataclass(frozen=True, kw_only=True)
class Program:
    """A line of programs.csv."""

    program: str
    file: str
    """Below the build directory, or that of a bundle."""
    cpu: str
    gpu: str
    large: str
    """On any device."""
    options: str
    """Of `mneme record`, besides one launch of each kernel."""

    def arguments(self, device: str, size: str) -> str:
        """Return the command line, without the program's name."""
        if size == "large":
            return self.large
        return self.cpu if device == "cpu" else self.gpu


def table() -> list[Program]:
    """Read programs.csv."""
    with (HERE / "programs.csv").open(newline="", encoding="utf-8") as file:
        return [Program(**row) for row in csv.DictReader(file)]


def commit() -> str:
    """Return the commit of this checkout; empty in a bundle."""
    done = subprocess.run(
        ["git", "-C", str(ROOT), "rev-parse", "HEAD"], capture_output=True, text=True, check=False
    )
    return done.stdout.strip()


def record(program: Program, executable: Path, arguments: str, device: str, folder: Path) -> str:
    """Record one launch of each kernel; return what went wrong."""
    command = [sys.executable, "-m", "mneme", "record", "-mr", "1", "-rdb", str(folder)]
    command += ["--device", device, *shlex.split(program.options)]
    try:
        done = subprocess.run(
            [*command, "--", str(executable), *shlex.split(arguments)],
            capture_output=True,
            text=True,
            check=False,
            timeout=SECONDS,
        )
    except subprocess.TimeoutExpired:
        return f"it did not end within {SECONDS} s"
    if done.returncode:
        return f"it ended with {done.returncode}: {(done.stderr.strip().splitlines() or [''])[-1]}"
    return ""


class Replays:
    """Replays what was recorded, in one process that goes from launch to launch."""

    def __init__(self, device: str, logs: Path) -> None:
        """Make it; processes start now."""
        # A kernel is measured alone, as when it is compared.
        options = SuiteOptions(iterations=5, warmup=1, timeout=REPLAY_SECONDS)
        self._target = device_limits(device).target
        self.executor = SuiteExecutor([device], logs, options)
        self.executor.prepare()

    def start(self, folder: Path) -> list[tuple[Path, str, Callable[[], ExperimentResult]]]:
        """Queue all launches of a recording: file, kernel, and what waits for the result."""
        queued = []
        for record in Recording(folder).values():
            for key in record:
                launch = (str(record.path), key)
                config = configured(record, record[key])
                self.executor.compile(launch, config, self._target)  # ahead, by other processes
                queued.append((record, launch, config))
        return [
            (record.path, record.short_name, self.executor.submit(0, launch, config))
            for record, launch, config in queued
        ]


@dataclass(frozen=True, kw_only=True)
class Checked:
    """Which kernels of a recording replay as recorded."""

    folder: Path
    """A recording of those."""
    left_out: list[str]
    """Why others are not in it."""
    microseconds: dict[str, float]
    """How long those take."""


def checked(folder: Path, kept: Path, replays: Replays, limits: list[float] | None) -> Checked:
    """Replay every launch; leave out kernels that are wrong, or take too long or short."""
    wrong: dict[Path, str] = {}
    times: dict[Path, tuple[str, float]] = {}
    for path, name, wait in replays.start(folder):
        try:
            result = wait()
        except MnemeError as error:
            wrong[path] = f"{name}: {error}"
            continue
        if not result.verified:
            wrong[path] = f"{name}: {result.error or f'the result is {result.result_class}'}"
            continue
        time_us = statistics.median(result.exec_time[1:] or result.exec_time) / 1e3
        times[path] = (name, time_us)
        if limits and not limits[0] <= time_us <= limits[1]:
            wrong[path] = f"{name}: it takes {time_us:.1f} us"
    # What is launched never has no launch that could be replayed.
    good = sorted(set(times) - set(wrong))
    microseconds: dict[str, float] = {}
    for path in good:
        name, time_us = times[path]
        microseconds[name if name not in microseconds else f"{name} [{path.stem}]"] = time_us
    if wrong and good:
        copy_records(good, kept)
    left_out = list(wrong.values())
    return Checked(folder=kept if wrong else folder, left_out=left_out, microseconds=microseconds)


def add(
    program: Program,
    options: argparse.Namespace,
    scratch: Path,
    state: str,
    replays: Replays | None,
) -> dict[str, Any]:
    """Record a program and add it; return a line of results."""
    executable = options.programs / program.file
    arguments = program.arguments(options.device, options.size)
    row: dict[str, Any] = {"program": program.program, "arguments": arguments}
    if not executable.is_file():
        return {**row, "failed": f"{executable} is not built"}
    folder, began = scratch / program.program, time.monotonic()
    problem = record(program, executable, arguments, options.device, folder)
    if problem:
        return {**row, "failed": problem}
    row["recording_seconds"] = time.monotonic() - began
    found = Checked(folder=folder, left_out=[], microseconds={})
    try:
        if replays:
            found = checked(folder, scratch / "kept", replays, options.microseconds)
            if found.left_out and not found.microseconds:
                return {**row, "failed": NOTHING_LEFT, "left_out": found.left_out}
        labels = Labels(
            program=program.program,
            arguments=arguments,
            commit=state,
            licence=LICENCE,
            more={"source": program.file},
        )
        added = add_recording(options.corpus, found.folder, labels)
    except MnemeError as error:
        return {**row, "failed": str(error), "left_out": found.left_out}
    finally:
        shutil.rmtree(scratch / "kept", ignore_errors=True)
        shutil.rmtree(scratch / program.program, ignore_errors=True)
    files = added.entry.files.values()
    return {
        **row,
        "kernels": len(added.entry.kernels),
        "launches": sum(one.launches for one in added.entry.kernels),
        "bytes": sum(one.size_bytes for one in files),
        "shared_bytes": added.shared_bytes,
        "microseconds": found.microseconds,
        "left_out": found.left_out,
        "seconds": time.monotonic() - began,
    }


def in_range(row: dict[str, Any]) -> int:
    """Return how many kernels of a program take 10 to 500 microseconds."""
    return sum(LOW <= one <= HIGH for one in row["microseconds"].values())


def parsed() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--device", default="")
    parser.add_argument("--size", choices=("small", "large"), default="small")
    parser.add_argument("--microseconds", type=float, nargs=2, metavar=("LOW", "HIGH"))
    parser.add_argument("-o", dest="corpus", type=Path, required=True, metavar="DIR")
    parser.add_argument("--pack", type=Path, metavar="FILE.tar.zst")
    parser.add_argument("--programs", type=Path, default=BUILD, metavar="DIR")
    parser.add_argument("--output", type=Path, metavar="FILE")
    parser.add_argument("--unverified", action="store_true")
    options = parser.parse_args()
    if options.microseconds and options.unverified:
        parser.error("--microseconds is about replays, which --unverified leaves out")
    options.device = options.device or choose_device(None)
    return options


def summed_up(rows: list[dict[str, Any]], options: argparse.Namespace) -> dict[str, Any]:
    """Return what all programs have together."""
    added = [one for one in rows if "failed" not in one]
    total = {"programs": len(added)}
    for key in ("kernels", "bytes", "shared_bytes"):
        total[key] = sum(one[key] for one in added)
    total["kernels_10_to_500_us"] = sum(map(in_range, added))
    if options.pack and added:
        total["packed_bytes"] = pack(options.corpus, options.pack).packed_bytes
    return total


def show(row: dict[str, Any]) -> None:
    """Print what became of a program."""
    said = row.get("failed")
    if said is None:
        said = f"{row['kernels']} kernels, {row['bytes'] / 1024:.0f} KiB, {row['seconds']:.1f} s"
        if row["microseconds"]:
            said += f", {in_range(row)} of {LOW:.0f} to {HIGH:.0f} us"
    print(f"{row['program']:24} {said}", flush=True)
    for reason in row.get("left_out", ()):
        print(f"{'':24} left out: {reason}", flush=True)


def main() -> int:
    """Build the corpus; the result is 1 if a program that is built could not be added."""
    options = parsed()
    try:
        if options.pack and is_compressed(options.pack):
            zstd_module()
    except MnemeError as error:
        sys.exit(str(error))
    unknown = set(options.names) - {one.program for one in table()}
    if unknown:
        sys.exit(f"programs.csv has no {', '.join(sorted(unknown))}")
    programs = [
        one
        for one in table()
        if (not options.names or one.program in options.names)
        and one.arguments(options.device, options.size) != LEFT_OUT
    ]
    rows, state = [], commit()
    with ExitStack() as stack:
        scratch = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="mneme-corpus-")))
        replays = None
        if not options.unverified:
            replays = Replays(options.device, scratch)
            stack.enter_context(replays.executor)
        for program in programs:
            rows.append(add(program, options, scratch, state, replays))
            show(rows[-1])
    total = summed_up(rows, options)
    print(", ".join(f"{key} {value}" for key, value in total.items()))
    if options.output:
        facts = {"total": total, "size": options.size}
        what = "a corpus of our own programs"
        write_results(options.output, what, rows, device=options.device, **facts)
    usual = ("is not built", *([NOTHING_LEFT] if options.microseconds else []))
    failures = [one["failed"] for one in rows if "failed" in one]
    return int(any(not one.endswith(usual) for one in failures))


if __name__ == "__main__":
    sys.exit(main())
