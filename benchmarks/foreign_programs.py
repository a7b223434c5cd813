"""What recordings hold of programs that were not built with mneme: unchanged output, exact replays.

usage: foreign_programs.py FILE [--device cuda:0] [--python PYTHON] [--only TEXT] [--keep DIR] [--output FILE]

Each line of FILE is a name, a tab, and a command, in which {python} is PYTHON and {here} the folder of FILE;
foreign/programs.txt has those in Python that are here. With --keep, what recording, `mneme ls` and replays said of
each program is kept. A program runs alone, until it has printed something else or
five times, and once recorded, one launch of each kernel; then everything recorded is replayed. Output is the same if
it is byte for byte what the program prints alone, and the same but for numbers where it prints others each time (its
own times, say).
"""

from __future__ import annotations

import argparse
import re
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
    from collections.abc import Iterable

SECONDS = 120
# How often a program runs alone again that may print something else each time.
ONCE_MORE = 4
NUMBER = re.compile(rb"\d+(\.\d+)?(e[-+]?\d+)?")
VERIFIED = re.compile(r"(\d+) of (\d+) launch")


def run(command: list[str]) -> tuple[int, bytes, str, float]:
    """Run a command; return its exit code, both of its outputs, and its seconds."""
    start = time.perf_counter()
    try:
        done = subprocess.run(command, capture_output=True, check=False, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return 124, b"", f"it did not end within {SECONDS} s", SECONDS
    seconds = time.perf_counter() - start
    return done.returncode, done.stdout, done.stderr.decode(errors="replace"), seconds


def compared(alone: bytes, others: Iterable[bytes], recorded: bytes) -> str:
    """Say how the recorded program's output differs from its own.

    `others` runs the program alone again, as often as is needed.
    """
    if recorded == alone:
        return "same"
    if NUMBER.sub(b"#", recorded) != NUMBER.sub(b"#", alone):
        return "differs"
    varies = any(other != alone for other in others)
    return "same but for numbers" if varies else "differs"


def keep(folder: Path | None, name: str, parts: dict[str, str]) -> None:
    """Write what was said about a program, for people."""
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
        text = "".join(f"== {what}\n{said}\n" for what, said in parts.items())
        (folder / (re.sub(r"\W+", "_", name)[:60] + ".txt")).write_text(text, encoding="utf-8")


def examine(name: str, command: str, device: str, kept: Path | None = None) -> dict[str, Any]:
    """Run, record and replay one program; return a line of results."""
    program = shlex.split(command)
    mneme = [sys.executable, "-m", "mneme"]
    by_itself = [*mneme, "run", "--device", device, "--", *program] if device == "cpu" else program
    status, alone, errors, seconds = run(by_itself)
    said = {"alone": alone.decode(errors="replace") + errors}
    row: dict[str, Any] = {"program": name, "status": status, "seconds": seconds}
    with tempfile.TemporaryDirectory() as folder:
        options = ["-mr", "1", "--device", device, "-rdb", folder]
        recorded, output, errors, row["record_seconds"] = run(
            [*mneme, "record", *options, "--", *program]
        )
        said["recorded"] = output.decode(errors="replace") + errors
        row["recorded_status"] = recorded
        row["output"] = compared(alone, (run(by_itself)[1] for _ in range(ONCE_MORE)), output)
        row["kernels"] = len(list(Path(folder).glob("[0-9]*.json")))
        if row["kernels"]:
            said["ls"] = run([*mneme, "ls", folder])[1].decode(errors="replace")
            said["replays"] = run([*mneme, "replay", folder, "--all", "--device", device])[2]
            found = VERIFIED.search(said["replays"])
            row["verified"], row["launches"] = map(int, found.groups()) if found else (0, None)
            row["nondeterministic"] = said["replays"].count("NOT verified: nondeterministic")
    keep(kept, name, said)
    return row


def main() -> None:
    """Examine all programs; print and write a line for each."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", type=Path, metavar="FILE")
    parser.add_argument("--device", default="")
    parser.add_argument("--python", default=sys.executable, help="what runs programs in Python")
    parser.add_argument(
        "--only", default="", metavar="TEXT", help="programs with it in their names"
    )
    parser.add_argument("--keep", type=Path, metavar="DIR")
    parser.add_argument(
        "--output", type=Path, default=RESULTS / "foreign_programs.jsonl", metavar="FILE"
    )
    options = parser.parse_args()
    device = choose_device(options.device)
    rows, here = [], options.file.resolve().parent
    for line in options.file.read_text(encoding="utf-8").splitlines():
        name, _tab, command = line.partition("\t")
        if options.only.lower() not in name.lower():
            continue
        for word, value in (("{python}", options.python), ("{here}", str(here))):
            command = command.replace(word, shlex.quote(value))
        rows.append(examine(name, command, device, options.keep))
        print(rows[-1], flush=True)
    write_results(options.output, "programs not built with mneme", rows, device=device)


if __name__ == "__main__":
    main()
