"""Samplers side by side: how good the best configuration is after how many seconds.

    python benchmarks/samplers.py                            # the first GPU
    python benchmarks/samplers.py --device cpu --seconds 10

Each sampler searches the same recorded launch of each program in the space `full`, with several seeds, for the
same time. What counts is the best verified time so far, relative to the best of all samplers, and
the gain of the winner in its last rounds.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
import time
from datetime import datetime
from pathlib import Path
from typing import Any

from common import BUILD, PROGRAMS, RESULTS, machine, stamp
from guests import FAILURES, Guests

from mneme.devices import choose_device

GPU_PROGRAMS = {
    "nbody": ("16384", "4"),
    "heat3d": ("256", "20"),
    "spmv_cg": ("512", "50"),
    "stencil2d": ("4096", "20"),
}
CPU_PROGRAMS: dict[str, tuple[str, ...]] = {"stencil2d": (), "nbody": ()}
SAMPLERS = ("random", "auto", "tpe")
MOMENTS = (0.1, 0.25, 0.5, 1.0)
"""Parts of the time at which the best so far is noted."""


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


def best_at(found: list[tuple[float, float]], seconds: float) -> float | None:
    """Return the best time that was known after so many seconds."""
    known = [metric for moment, metric in found if moment <= seconds]
    return min(known) if known else None


def search(
    guests: Guests, recording: Path, sampler: str, seed: int, seconds: float
) -> dict[str, Any]:
    """Search once."""
    results = guests.folder(f"{recording.name}-{sampler}-{seed}")
    record = next(recording.glob("[0-9]*.json"))
    start = time.monotonic()
    guests.mneme(
        *("tune", "-rdb", record, "--device", guests.device, "--quiet", "--seed", str(seed)),
        *("--space-preset", "full", "--sampler", sampler, "--timeout", f"{seconds:g}"),
        *("--no-proteus-output", "--results-dir", results),
    )
    summary = json.loads((results / "summary.json").read_text())
    found = curve(results)
    return {
        "seed": seed,
        "trials": summary["num_trials_completed"],
        "gain": (summary["gain"] or {}).get("ratio"),
        "baseline_ns": summary["baseline_metric"],
        "best_ns": {f"{part:g}": best_at(found, part * seconds) for part in MOMENTS},
        "seconds": time.monotonic() - start,
    }


def measure(
    guests: Guests, name: str, arguments: tuple[str, ...], options: argparse.Namespace
) -> dict[str, Any]:
    """Measure all samplers on one program."""
    recording = guests.folder(f"samplers-{name}")
    guests.record(recording, name, *arguments, options=["-mr", "1"])
    rows: dict[str, Any] = {sampler: [] for sampler in options.samplers}
    for seed in range(options.seeds):
        for sampler in options.samplers:
            rows[sampler].append(search(guests, recording, sampler, seed, options.seconds))
    return rows


def show(programs: dict[str, Any]) -> None:
    """Print the gain over the baseline that was known at each moment, medians over the seeds."""
    heads = [f"{100 * part:.0f} %" for part in MOMENTS]
    print(
        f"{'program':<12} {'sampler':<8} {'trials':>7}"
        + "".join(f"{one:>9}" for one in heads)
        + "   winner"
    )
    for name, rows in programs.items():
        if "failed" in rows:
            print(f"{name:<12} {rows['failed']}")
            continue
        for sampler, runs in rows.items():
            gains = [
                statistics.median(
                    one["baseline_ns"] / one["best_ns"][f"{part:g}"]
                    if one["best_ns"][f"{part:g}"]
                    else 1.0
                    for one in runs
                )
                for part in MOMENTS
            ]
            winner = statistics.median(one["gain"] or 1.0 for one in runs)
            trials = statistics.median(one["trials"] for one in runs)
            print(
                f"{name:<12} {sampler:<8} {trials:>7.0f}"
                + "".join(f"{one:>9.3f}" for one in gains)
                + f"{winner:>9.3f}"
            )


def main() -> int:
    """Measure every program and write the result."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default=None)
    parser.add_argument("--programs", nargs="*", default=None)
    parser.add_argument("--samplers", nargs="*", default=list(SAMPLERS))
    parser.add_argument("--seconds", type=float, default=30.0, help="of each search")
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--limit", type=float, default=float("inf"), help="seconds for everything")
    parser.add_argument("--output", type=Path, default=RESULTS / "samplers.json")
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
        programs: dict[str, Any] = {}
        for name, arguments in (GPU_PROGRAMS if guests.is_gpu else CPU_PROGRAMS).items():
            if options.programs and name not in options.programs:
                continue
            try:
                programs[name] = measure(guests, name, arguments, options)
            except FAILURES as error:
                programs[name] = {"failed": str(error)}
            print(f"  {name}: {programs[name].get('failed', 'measured')}", file=sys.stderr)
            result = {"what": "samplers side by side", "seconds": options.seconds}
            facts = {**stamp(), "machine": machine(device)}
            content = {**facts, **result, "programs": programs}
            options.output.write_text(json.dumps(content, indent=2) + "\n")
    show(programs)
    return 0


if __name__ == "__main__":
    sys.exit(main())
