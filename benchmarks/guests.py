"""Programs run plain, recorded and replayed, each timed; for the benchmarks on GPUs."""

from __future__ import annotations

import json
import math
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from mneme import _native
from mneme.errors import MnemeError
from mneme.programs.guest import run_environment

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

PAGE_BYTES = 65536
PIECE_BYTES = 64 * PAGE_BYTES


class BenchmarkError(Exception):
    """Something that was to be measured did not work; the message is the result."""


FAILURES = (BenchmarkError, MnemeError)
"""What one row of a table may fail with while the others go on."""


@dataclass(frozen=True, kw_only=True)
class Run:
    """One process that ended well."""

    seconds: float
    """Wall time from start to exit."""

    stdout: str
    stderr: str

    ended: float
    """`time.monotonic()` when it was gone."""

    peak_rss_bytes: int
    """Largest resident set of this process."""


@dataclass(frozen=True, kw_only=True)
class Guests:
    """Where programs are, where recordings go, and the device of all of them."""

    device: str
    examples: Path
    programs: Path
    scratch: Path
    repeats: int = 3
    timeout_seconds: float = 300.0
    deadline: float = math.inf
    """`time.monotonic()` after which nothing is started and what runs is ended."""

    environment: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))

    @property
    def is_gpu(self) -> bool:
        """Whether this is about a GPU; the CPU device gets smaller problems."""
        return self.device != "cpu"

    def program(self, name: str) -> Path:
        """Return an example or a program of the benchmarks by name.

        Raises:
            BenchmarkError: If it is not built.
        """
        for folder in (self.examples, self.programs):
            if (folder / name).is_file():
                return folder / name
        raise BenchmarkError(f"'{name}' is neither in '{self.examples}' nor in '{self.programs}'")

    def folder(self, name: str) -> Path:
        """Return an empty directory for a recording; it does not exist yet."""
        path = self.scratch / name
        shutil.rmtree(path, ignore_errors=True)
        path.parent.mkdir(parents=True, exist_ok=True)
        return path

    def execute(self, command: Sequence[str | Path], environment: Mapping[str, str]) -> Run:
        """Run a command to its end.

        Raises:
            BenchmarkError: If it fails, takes longer than `timeout_seconds`, or time is up.
        """
        words = [str(word) for word in command]
        allowed = min(self.timeout_seconds, self.deadline - time.monotonic())
        if allowed <= 0:
            raise BenchmarkError("not measured: the time given to the benchmark is up")
        with tempfile.TemporaryFile("w+") as stdout, tempfile.TemporaryFile("w+") as stderr:
            start = time.monotonic()
            process = subprocess.Popen(words, stdout=stdout, stderr=stderr, env=dict(environment))
            watchdog = threading.Timer(allowed, process.kill)
            watchdog.start()
            # wait4 tells the peak memory of this process, not of the largest so far.
            _, status, usage = os.wait4(process.pid, 0)
            ended = time.monotonic()
            watchdog.cancel()
            process.returncode = os.waitstatus_to_exitcode(status)
            stdout.seek(0)
            stderr.seek(0)
            texts = stdout.read(), stderr.read()
        if process.returncode != 0:
            last = (texts[1] or texts[0]).strip().splitlines()[-1:] or [""]
            raise BenchmarkError(
                f"'{' '.join(words)}' gave {process.returncode} after {ended - start:.1f} s: {last[0]}"
            )
        return Run(
            seconds=ended - start,
            stdout=texts[0],
            stderr=texts[1],
            ended=ended,
            peak_rss_bytes=usage.ru_maxrss * 1024,
        )

    def plain(self, name: str, *arguments: str) -> Run:
        """Run a program unrecorded, without any mneme process around it."""
        environment = run_environment(self.environment, self.device)
        return self.execute([self.program(name), *arguments], environment)

    def mneme(self, *arguments: str | Path, **variables: str) -> Run:
        """Run one mneme command."""
        command = [sys.executable, "-m", "mneme", *arguments]
        return self.execute(command, {**self.environment, **variables})

    def record(
        self,
        folder: Path,
        name: str,
        *arguments: str,
        options: Sequence[str] = (),
        **variables: str,
    ) -> Run:
        """Run `mneme record` on a program."""
        where = ["-rdb", folder, "--device", self.device]
        return self.mneme(
            "record", *where, *options, "--", self.program(name), *arguments, **variables
        )

    def replay(self, record: Path, record_id: str, *options: str, **variables: str) -> Run:
        """Run `mneme replay` on one recorded launch, with the pipeline default<O3>."""
        where = ["-rdb", record, "-rid", record_id, "--device", self.device]
        return self.mneme("replay", *where, *options, "default<O3>", **variables)


def spread(values: Sequence[float]) -> dict[str, float | int]:
    """Median, smallest and largest of several measurements."""
    return {
        "median": statistics.median(values),
        "min": min(values),
        "max": max(values),
        "runs": len(values),
    }


def repeated(count: int, action: Callable[[], float]) -> dict[str, float | int]:
    """Spread of what `action` returns."""
    return spread([action() for _ in range(count)])


def launches_of(folder: Path) -> list[tuple[Path, str]]:
    """Record file and record id of every recorded launch, those of one kernel together."""
    found = []
    for path in sorted(folder.glob("*.json")):
        instances = json.loads(path.read_text())["instances"]
        found.extend((path, record_id) for record_id in instances)
    return found


def snapshots(record: Path, record_id: str) -> tuple[Path, Path]:
    """Return the files of prologue and epilogue."""
    instance = json.loads(record.read_text())["instances"][record_id]
    return record.parent / instance["Prologue"], record.parent / instance["Epilogue"]


def sizes_of(folder: Path) -> dict[str, int]:
    """Bytes of a recording: described, of the largest prologue, unique, on disk."""
    described = live = unique = 0
    for record, record_id in launches_of(folder):
        prologue, epilogue = (
            _native.Snapshot(path).sizes() for path in snapshots(record, record_id)
        )
        described += prologue["raw"] + epilogue["raw"]
        unique += prologue["unique"] + epilogue["unique"]
        live = max(live, prologue["raw"])
    stored = sum(path.stat().st_size for path in folder.iterdir() if path.is_file())
    return {"live": live, "described": described, "unique": unique, "stored": stored}


def different_bytes(first: bytes, second: bytes) -> int:
    """Bytes of the pages in which two contents differ."""
    if first == second:
        return 0
    pages = (
        (first[i : i + PAGE_BYTES], second[i : i + PAGE_BYTES])
        for i in range(0, len(first), PAGE_BYTES)
    )
    return sum(len(one) for one, other in pages if one != other)


def changed_bytes(record: Path, record_id: str) -> int:
    """Bytes of the 64 KiB pages in which prologue and epilogue differ."""
    before, after = (_native.Snapshot(path) for path in snapshots(record, record_id))
    later = {region["address"]: i for i, region in enumerate(after.regions())}
    total = 0
    for index, region in enumerate(before.regions()):
        other = later.get(region["address"])
        if other is None:
            continue
        for offset in range(0, region["size"], PIECE_BYTES):
            size = min(PIECE_BYTES, region["size"] - offset)
            total += different_bytes(
                before.read(index, offset, size), after.read(other, offset, size)
            )
    return total


def last_json(text: str) -> dict[str, Any]:
    """Read the JSON object a program printed as its last line."""
    try:
        return dict(json.loads(text.strip().splitlines()[-1]))
    except (IndexError, ValueError) as error:
        raise BenchmarkError(f"no JSON at the end of '{text[-200:]}'") from error
