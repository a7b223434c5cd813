"""Kernels whose arguments are packed into a structure, beside the same kernels with separate arguments.

    python benchmarks/structs.py                     # the CPU device
    python benchmarks/structs.py --device cuda:0     # a GPU

Each kernel of programs/structs.cu is recorded in both forms and replayed as it was built, with its scalars
as constants, and with its dimensions as constants, too. Goal: what constants gain is the same for both
forms, within 2 %.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path
from typing import Any

from common import PROGRAMS, mneme, publish

from mneme.recording.recorded_execution import RecordedExecution

# A part of the name of each form.
KERNELS = {
    "smooth": ("loop<", "smoothApart"),
    "multiply": ("ParallelFor<(anonymous namespace)::Multiply>", "multiplyApart"),
    "polynomial": ("forall<", "polynomialApart"),
    "relax": ("ParallelFor<main", "relaxApart"),
}
CONFIGURATIONS = {
    "as built": (),
    "constants": ("--specialize",),
    "constants and dimensions": ("--specialize", "--specialize-dims", "--set-launch-bounds"),
}
TIMES = ("--iterations", "50", "--confidence", "0.01", "--max-iterations", "2000")


def time_of(record: RecordedExecution, device: str, options: tuple[str, ...]) -> float:
    """Return nanoseconds of a verified replay."""
    done = mneme(
        *("replay", "--device", device, "-rdb", str(record.path), "-rid", next(iter(record))),
        *(*options, *TIMES, "default<O3>"),
    )
    result: dict[str, Any] = json.loads(done.stdout)["Result"]
    if not result["verified"]:
        raise SystemExit(f"{record.demangled_name}: {done.stderr}")
    return float(result["median_ns"])


def main() -> None:
    """Measure and write `structs.jsonl`."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--count", default=str(1 << 20))
    told = parser.parse_args()
    numbers: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder:
        database = Path(folder) / "db"
        mneme(
            "record",
            "--device",
            told.device,
            "-rdb",
            str(database),
            "--",
            PROGRAMS / "structs",
            told.count,
        )
        records = [RecordedExecution.from_json(path) for path in database.glob("[0-9]*.json")]
        for kernel, parts in KERNELS.items():
            forms = [next(one for one in records if part in one.demangled_name) for part in parts]
            for name, options in CONFIGURATIONS.items():
                packed, apart = (time_of(one, told.device, options) for one in forms)
                numbers[f"{kernel}, {name}"] = {
                    "packed_ns": packed,
                    "apart_ns": apart,
                    "packed_over_apart": round(packed / apart, 4),
                }
                print(f"{kernel:11} {name:25} {packed:12.0f} {apart:12.0f} {packed / apart:7.3f}")
    publish(
        "structs", "kernels with one structure beside the same with separate arguments", numbers
    )


if __name__ == "__main__":
    main()
