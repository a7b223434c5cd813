"""Ways to search side by side: how good the best configuration is after how many seconds.

    python benchmarks/samplers.py                            # the first GPU
    python benchmarks/samplers.py --device cpu --seconds 10

Each way searches the same recorded launch of each program, with several seeds, for the same time. What
counts is the best verified time so far, relative to the best that any of them found. `area` is
that part, averaged over the time of the search.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
import time
from datetime import datetime
from pathlib import Path
from typing import Any

from common import BUILD, PROGRAMS, RESULTS, write_results
from guests import FAILURES, Guests
from tables import show

from mneme.devices import choose_device
from mneme.pipelines.pipeline import PipelineManager

GPU_PROGRAMS = {
    "bezier_surface": ("3", "8192", "1"),
    "column_physics": ("1024", "1"),
    "sparse_product": ("200000", "32", "1"),
    "nbody": ("16384", "4"),
    "heat3d": ("256", "20"),
    "spmv_cg": ("512", "2000"),
    "stencil2d": ("4096", "20"),
    "reduction": (),
    "fe_cg": (),
    "linked_list": (),
    "multi_unit": (),
    "vector_add": (str(32 << 20),),
    "tuning_kernels forces": ("64",),
    "tuning_kernels lattice": ("16",),
    "tuning_kernels reactions": ("8",),
}
"""Programs with their arguments; what follows the name of a program is its first one."""
FIRST = {"heat3d": "10", "stencil2d": "10"}
"""Launches that pass before the one that is recorded, of programs whose first ones find nothing."""
CPU_PROGRAMS: dict[str, tuple[str, ...]] = {"stencil2d": (), "nbody": (), "bezier_surface": ()}
WAYS = {
    "random": ("--sampler", "random"),
    "random-full": ("--sampler", "random", "--space-preset", "full"),
    "auto": ("--sampler", "auto"),
    "auto-standard": ("--sampler", "auto", "--space-preset", "standard"),
    "auto-full": ("--sampler", "auto", "--space-preset", "full"),
    "tpe": ("--sampler", "tpe", "--space-preset", "full"),
    "sequences": (
        *("--sampler", "exhaustive", "--space-preset", "quick", "--specialize-space", "off"),
        *("--specialize-dims-space", "off", "--launch-bounds-space", "off"),
    ),
}
"""Options of `mneme tune`; `sequences` are random passes at the recorded launch, as it was built."""
USUAL_WAYS = ("random", "auto", "tpe", "sequences")
SEQUENCES = 2000
PASSES, SPREAD = 120, 20
"""How many passes a sequence has: mean and standard deviation."""


def curve(results: Path) -> list[tuple[float, float]]:
    """Return seconds since the first trial began, and the best time so far, where it changes."""
    trials = [json.loads(line) for line in (results / "trials.jsonl").read_text().splitlines()]
    ended = [
        (datetime.fromisoformat(one["result"]["end_time"]).timestamp(), one["metric"])
        for one in trials
        if one["status"] == "verified" and one["metric"] and one["result"].get("end_time")
    ]
    if not ended:
        return []
    starts = [one["result"].get("start_time") for one in trials]
    began = min(datetime.fromisoformat(one).timestamp() for one in starts if one)
    best, found = float("inf"), []
    for moment, metric in sorted(ended):
        if metric < best:
            best = metric
            found.append((moment - began, metric))
    return found


def sequences(folder: Path, seed: int) -> Path:
    """Return a file of random pass sequences."""
    file = folder / f"sequences-{seed}.txt"
    found = PipelineManager().generate(SEQUENCES, PASSES, SPREAD, seed=seed)
    file.write_text("".join(f"{one}\n" for one in found))
    return file


def search(guests: Guests, recording: Path, way: str, seed: int, seconds: float) -> dict[str, Any]:
    """Search once."""
    results = guests.folder(f"{recording.name}-{way}-{seed}")
    record = min(recording.glob("[0-9]*.json"))
    options: tuple[str | Path, ...] = WAYS[way]
    if way == "sequences":
        options = (*options, "--pipeline-file", sequences(results.parent, seed))
    start = time.monotonic()
    guests.mneme(
        *("tune", "-rdb", record, "--device", guests.device, "--quiet", "--seed", str(seed)),
        *("--timeout", f"{seconds:g}", "--no-proteus-output", "--no-knowledge"),
        *("--top", "1", "--final-rounds", "6", "--results-dir", results, *options),
    )
    summary = json.loads((results / "summary.json").read_text())
    return {
        "seed": seed,
        "trials": summary["num_trials_completed"],
        "gain": (summary["gain"] or {}).get("ratio"),
        "baseline_ns": summary["baseline_metric"],
        "best_ns": [[round(at, 3), metric] for at, metric in curve(results)],
        "seconds": time.monotonic() - start,
    }


def measure(
    guests: Guests, name: str, arguments: tuple[str, ...], options: argparse.Namespace
) -> list[dict[str, Any]]:
    """Search one program in all ways; those of one seed come one after the other."""
    recording = guests.folder(f"samplers-{name.replace(' ', '-')}")
    passing = ["-sr", FIRST.get(name, "0")]
    guests.record(recording, *name.split(), *arguments, options=["-mr", "1", *passing])
    rows: list[dict[str, Any]] = []
    for seed in range(options.first_seed, options.seeds):
        # In another order each time, so that none is always first.
        for way in random.Random(seed).sample(options.ways, len(options.ways)):
            if way != options.ways[0] and seed >= options.other_seeds:
                continue
            try:
                found = search(guests, recording, way, seed, options.seconds)
            except FAILURES as error:
                found = {"seed": seed, "failed": str(error)}
            rows.append({"program": name, "seconds_each": options.seconds, "way": way, **found})
    return rows


def main() -> int:
    """Measure every program and write the result."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default=None)
    parser.add_argument("--programs", nargs="*", default=None)
    parser.add_argument("--ways", nargs="*", default=list(USUAL_WAYS), choices=list(WAYS))
    parser.add_argument(
        "--known",
        type=lambda text: json.loads(Path(text).read_text()),
        default={},
        help="file with the best nanoseconds that are known of programs, by name",
    )
    parser.add_argument("--seconds", type=float, default=30.0, help="of each search")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--first-seed", type=int, default=0, help="to add to earlier results")
    parser.add_argument(
        "--other-seeds", type=int, default=10**6, help="at most, of all ways but the first"
    )
    parser.add_argument("--limit", type=float, default=float("inf"), help="seconds for everything")
    parser.add_argument("--output", type=Path, default=RESULTS / "samplers.jsonl.xz")
    options = parser.parse_args()
    device = choose_device(options.device)
    with tempfile.TemporaryDirectory(prefix="mneme-samplers-") as scratch:
        guests = Guests(
            device=device,
            examples=BUILD / "examples",
            programs=PROGRAMS,
            scratch=Path(scratch),
            deadline=time.monotonic() + options.limit,
        )
        results: list[dict[str, Any]] = []
        for name, arguments in (GPU_PROGRAMS if guests.is_gpu else CPU_PROGRAMS).items():
            if options.programs and name not in options.programs:
                continue
            try:
                results += measure(guests, name, arguments, options)
                print(f"  {name}: measured", file=sys.stderr)
            except FAILURES as error:
                results.append({"program": name, "failed": str(error)})
                print(f"  {name}: {error}", file=sys.stderr)
            facts = {"device": device, "known_ns": options.known, "options": WAYS}
            write_results(options.output, "ways to search side by side", results, **facts)
    show("samplers", options.output)
    return 0


if __name__ == "__main__":
    sys.exit(main())
