"""How small recordings become: recorded, trimmed, and replayed from what is left.

usage: trimming.py FILE [--device cuda:0] [--output FILE]

Each line of FILE is a name, a tab, the kernels to record (a pattern of `mneme record --kernels`, `*` for all), a tab, and a
command. The program is recorded, one launch of each kernel. Each such launch is trimmed, and what is left is replayed in
a process of its own.
"""

from __future__ import annotations

import argparse
import json
import shlex
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from common import RESULTS, write_results

from mneme.devices import choose_device

if TYPE_CHECKING:
    from collections.abc import Iterator

SECONDS = 500


def mneme(*words: str | Path) -> subprocess.CompletedProcess[str]:
    """Run one mneme command; a failure is the caller's to see."""
    command = [sys.executable, "-m", "mneme", *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=SECONDS)


def last_line(done: subprocess.CompletedProcess[str]) -> str:
    """Return what a command said last."""
    return (done.stderr.strip().splitlines() or [""])[-1]


def size_of(folder: Path) -> int:
    """Bytes of all files of a recording."""
    return sum(one.stat().st_size for one in folder.iterdir())


def examine(name: str, kernel: str, command: str, device: str) -> Iterator[dict[str, Any]]:
    """Record a program and trim its launches; return a line of results for each."""
    with tempfile.TemporaryDirectory() as folder:
        recording = Path(folder) / "recording"
        start = time.perf_counter()
        options = ("-mr", "1", "--device", device, "-rdb", recording)
        filters = ("--kernels", kernel) if kernel != "*" else ()
        done = mneme("record", *options, *filters, "--", *shlex.split(command))
        seconds = time.perf_counter() - start
        if done.returncode != 0:
            yield {"program": name, "failed": last_line(done)}
            return
        for number, path in enumerate(sorted(recording.glob("[0-9]*.json"))):
            content = json.loads(path.read_text(encoding="utf-8"))
            small = Path(folder) / f"small-{number}"
            row = {"program": name, "kernel": content["DemangledName"][:80]}
            row |= {"record_seconds": seconds, "recording": size_of(recording)}
            trimmed = mneme("trim", path, "-o", small, "--device", device, "--json")
            if trimmed.returncode != 0:
                yield row | {"refused": last_line(trimmed)}
                continue
            replayed = mneme("replay", small, "--device", device)
            result = json.loads(trimmed.stdout)
            del result["record"]
            yield row | result | {"replay": last_line(replayed)}


def main() -> None:
    """Examine all programs; print and write a line for each launch."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", type=Path, metavar="FILE")
    parser.add_argument("--device", default="")
    parser.add_argument("--output", type=Path, default=RESULTS / "trimming.jsonl", metavar="FILE")
    options = parser.parse_args()
    device = choose_device(options.device)
    rows = []
    for line in options.file.read_text(encoding="utf-8").splitlines():
        name, kernel, command = line.split("\t")
        for row in examine(name, kernel, command, device):
            rows.append(row)
            print(row, flush=True)
    write_results(
        options.output, "recordings before and after they were trimmed", rows, device=device
    )


if __name__ == "__main__":
    main()
