"""A corpus of our own programs: examples, benchmarks and tests, each recorded with a small problem.

usage: build.py [--device cpu|cuda:0] -o DIR [--pack FILE.tar.zst] [--programs DIR]
                [--output FILE] [--unverified] [NAME...]

programs.csv lists the programs: where each is built, its arguments on the CPU device and on a GPU,
and options of `mneme record`. Left out of the table are kernels whose results are other each time, as
addresses of the device's heap are. A NAME is a program of that table; without any, all are recorded that
are built. Launches that do not replay as recorded are named and left out. Prints a line for each
program and writes them to FILE. mneme compare is measured on such a corpus.
"""

from __future__ import annotations

import argparse
import csv
import shlex
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from common import BUILD, ROOT, write_results  # noqa: E402

from mneme.corpus.adding import add_recording  # noqa: E402
from mneme.corpus.container import is_compressed, zstd_module  # noqa: E402
from mneme.corpus.labels import Labels  # noqa: E402
from mneme.corpus.packing import pack  # noqa: E402
from mneme.corpus.replaying import replay  # noqa: E402
from mneme.devices import choose_device  # noqa: E402
from mneme.errors import MnemeError  # noqa: E402
from mneme.recording.directory import Recording  # noqa: E402
from mneme.recording.files import copy_records  # noqa: E402

LICENCE = "Apache-2.0 WITH LLVM-exception"
SECONDS = 120
REPLAYS_AT_ONCE_ON_CPU = 2


@dataclass(frozen=True, kw_only=True)
class Program:
    """A line of programs.csv."""

    program: str
    file: str
    """Below the build directory, or that of a bundle."""
    cpu: str
    gpu: str
    options: str
    """Of `mneme record`, besides one launch of each kernel."""


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


def verified(folder: Path, device: str, kept: Path) -> tuple[Path, list[str]]:
    """Return a recording of the kernels that replay as recorded, and why others do not."""
    launches = [(one, key) for one in Recording(folder).values() for key in one]
    options = ("--device", device, "--iterations", "1", "--warmup", "0", "--timeout", "20")
    with ThreadPoolExecutor(REPLAYS_AT_ONCE_ON_CPU if device == "cpu" else 1) as pool:
        done = list(pool.map(lambda one: replay(one[0].path, one[1], *options), launches))
    wrong = {
        launch[0].path: f"{launch[0].short_name}: {result.reason}"
        for launch, result in zip(launches, done, strict=True)
        if not result.is_verified
    }
    # What is launched never has no launch that could be replayed.
    good = sorted({launch[0].path for launch in launches} - set(wrong))
    if not wrong:
        return folder, []
    if good:
        copy_records(good, kept)
    return kept, list(wrong.values())


def add(program: Program, options: argparse.Namespace, scratch: Path, state: str) -> dict[str, Any]:
    """Record a program and add it; return a line of results."""
    executable = options.programs / program.file
    arguments = program.cpu if options.device == "cpu" else program.gpu
    row: dict[str, Any] = {"program": program.program, "arguments": arguments}
    if not executable.is_file():
        return {**row, "failed": f"{executable} is not built"}
    folder = scratch / program.program
    problem = record(program, executable, arguments, options.device, folder)
    if problem:
        return {**row, "failed": problem}
    left_out: list[str] = []
    try:
        if not options.unverified:
            folder, left_out = verified(folder, options.device, scratch / "kept")
        labels = Labels(
            program=program.program,
            arguments=arguments,
            commit=state,
            licence=LICENCE,
            more={"source": program.file},
        )
        added = add_recording(options.corpus, folder, labels)
    except MnemeError as error:
        return {**row, "failed": str(error), "left_out": left_out}
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
        "left_out": left_out,
    }


def parsed() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--device", default="")
    parser.add_argument("-o", dest="corpus", type=Path, required=True, metavar="DIR")
    parser.add_argument("--pack", type=Path, metavar="FILE.tar.zst")
    parser.add_argument("--programs", type=Path, default=BUILD, metavar="DIR")
    parser.add_argument("--output", type=Path, metavar="FILE")
    parser.add_argument("--unverified", action="store_true")
    options = parser.parse_args()
    options.device = options.device or choose_device(None)
    return options


def main() -> int:
    """Build the corpus; the result is 1 if a program that is built could not be added."""
    options = parsed()
    try:
        if options.pack and is_compressed(options.pack):
            zstd_module()
    except MnemeError as error:
        sys.exit(str(error))
    programs = [one for one in table() if not options.names or one.program in options.names]
    unknown = set(options.names) - {one.program for one in programs}
    if unknown:
        sys.exit(f"programs.csv has no {', '.join(sorted(unknown))}")
    rows, state = [], commit()
    with tempfile.TemporaryDirectory(prefix="mneme-corpus-") as scratch:
        for program in programs:
            row = add(program, options, Path(scratch), state)
            rows.append(row)
            said = row.get("failed") or f"{row['kernels']} kernels, {row['bytes'] / 1024:.0f} KiB"
            print(f"{row['program']:24} {said}", flush=True)
            for reason in row.get("left_out", ()):
                print(f"{'':24} left out: {reason}", flush=True)
    added = [one for one in rows if "failed" not in one]
    total = {
        "programs": len(added),
        "kernels": sum(one["kernels"] for one in added),
        "bytes": sum(one["bytes"] for one in added),
        "shared_bytes": sum(one["shared_bytes"] for one in added),
    }
    if options.pack and added:
        total["packed_bytes"] = pack(options.corpus, options.pack).packed_bytes
    print(", ".join(f"{key} {value}" for key, value in total.items()))
    if options.output:
        facts = {"total": total}
        what = "a corpus of our own programs"
        write_results(options.output, what, rows, device=options.device, **facts)
    return int(any("is not built" not in one.get("failed", "is not built") for one in rows))


if __name__ == "__main__":
    sys.exit(main())
