"""Kernels whose arguments are packed into a structure, beside the same kernels with separate arguments.

    python benchmarks/structs.py                     # the CPU device
    python benchmarks/structs.py --device cuda:0     # a GPU

Each kernel of programs/structs.cu and programs/structs_examples.cu is recorded in both forms and replayed as it
was built, with its scalars as constants, and with its dimensions as constants, too, the forms in turn. Goal: what
constants gain is the same for both forms, within 2 %.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path
from statistics import median
from typing import Any

from common import PROGRAMS, mneme, publish

from mneme.recording.recorded_execution import RecordedExecution

# By program: a part of the name of each form.
KERNELS = {
    "structs": {
        "smooth": ("loop<", "smoothApart"),
        "multiply": ("ParallelFor<(anonymous namespace)::Multiply>", "multiplyApart"),
        "polynomial": ("forall<", "polynomialApart"),
        "relax": ("ParallelFor<main", "relaxApart"),
    },
    "structs_examples": {
        "vector_add": ("::VectorAdd>", "vectorAddApart"),
        "stencil2d": ("::Diffuse2>", "diffuse2Apart"),
        "heat3d": ("::Diffuse3>", "diffuse3Apart"),
        "nbody": ("::Integrate>", "integrateApart"),
        "spmv": ("::Spmv>", "spmvApart"),
        "axpby": ("::Axpby>", "axpbyApart"),
    },
}
CONFIGURATIONS = {
    "as built": (),
    "constants": ("--specialize",),
    "constants and dimensions": ("--specialize", "--specialize-dims", "--set-launch-bounds"),
}
TIMES = ("--iterations", "100", "--confidence", "0.005", "--max-iterations", "5000")


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


def pair(
    forms: list[RecordedExecution], device: str, options: tuple[str, ...], rounds: int
) -> dict[str, float]:
    """Return medians of both forms, measured in turn, and of the ratios of a round."""
    times = [[time_of(one, device, options) for one in forms] for _ in range(rounds)]
    return {
        "packed_ns": median(packed for packed, _ in times),
        "apart_ns": median(apart for _, apart in times),
        "packed_over_apart": round(median(packed / apart for packed, apart in times), 4),
    }


def main() -> None:
    """Measure and write `structs.jsonl`."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--count", default=str(1 << 20), help="elements of structs")
    parser.add_argument("--edge", default="512", help="of the grids of structs_examples")
    parser.add_argument("--rounds", type=int, default=3)
    told = parser.parse_args()
    numbers: dict[str, Any] = {}
    for program, kernels in KERNELS.items():
        size = told.count if program == "structs" else told.edge
        with tempfile.TemporaryDirectory() as database:
            mneme(
                *("record", "--device", told.device, "-rdb", database, "--"),
                *(PROGRAMS / program, size),
            )
            records = [
                RecordedExecution.from_json(path) for path in Path(database).glob("[0-9]*.json")
            ]
            for kernel, parts in kernels.items():
                forms = [
                    next(one for one in records if part in one.demangled_name) for part in parts
                ]
                for name, options in CONFIGURATIONS.items():
                    found = pair(forms, told.device, options, told.rounds)
                    numbers[f"{kernel}, {name}"] = found
                    print(
                        f"{kernel:11} {name:25} {found['packed_ns']:12.0f} "
                        f"{found['apart_ns']:12.0f} {found['packed_over_apart']:7.3f}",
                        flush=True,
                    )
    what = "kernels with one structure beside the same with separate arguments"
    publish("structs", what, numbers, device=told.device)


if __name__ == "__main__":
    main()
