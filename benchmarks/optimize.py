"""`mneme optimize` on the examples: what it claims, and whether other runs of the program show it.

    python benchmarks/optimize.py                            # the first GPU
    python benchmarks/optimize.py --device cpu --budget 20

After each optimization the program is run as built and as tuned again, in turn, in processes of
its own. `covered` says whether the median gain of these runs lies in the interval that was claimed.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from common import BUILD, PROGRAMS, RESULTS, machine, stamp
from guests import FAILURES, Guests
from production import CPU_PROGRAMS, GPU_PROGRAMS, Program

from mneme.devices import choose_device
from mneme.optimize.application import Application
from mneme.optimize.options import OptimizeOptions
from mneme.optimize.production import ratio_of
from mneme.optimize.profile import read_profile
from mneme.optimize.session import OptimizeSession

PAIRS = 10


def again(application: Application, session: OptimizeSession, folder: Path) -> dict[str, Any]:
    """Return gains of kernels and of the program in further runs."""
    tuned, cache = session.result.tuned_file, folder / "runs" / "cache"
    times: dict[str, tuple[list[float], list[float]]] = {}
    walls: tuple[list[float], list[float]] = ([], [])
    for number in range(PAIRS):
        order = (None, tuned) if number % 2 == 0 else (tuned, None)
        for file in order:
            side = 0 if file is None else 1
            walls[side].append(application.run(tuned=file, cache=cache).seconds)
            application.run(tuned=file, cache=cache, profile=folder / "again")
            for kernel in read_profile(folder / "again").kernels.values():
                mean = kernel.total_ns / kernel.launches
                times.setdefault(kernel.name, ([], []))[side].append(mean)
    found = {name: ratio_of(*both) for name, both in times.items()}
    wall = ratio_of(*walls)
    return {
        "application": wall.ratio if wall else None,
        "kernels": {name: one.ratio for name, one in found.items() if one is not None},
    }


def measure(guests: Guests, program: Program, budget: float) -> dict[str, Any]:
    """Optimize one program."""
    folder = guests.folder(f"optimize-{program.name}")
    command = (str(guests.program(program.name)), *program.arguments)
    options = OptimizeOptions(
        command=command, directory=folder, budget=budget, device=guests.device, seed=1
    )
    began = time.monotonic()
    session = OptimizeSession(options)
    code = session.run()
    row: dict[str, Any] = {"code": code, "seconds": time.monotonic() - began}
    result = session.result.to_dict()
    row |= {name: result[name] for name in ("verdict", "application", "kernels", "kernel_share")}
    if code != 0:
        return row
    row["again"] = again(Application(command, guests.device, folder / "runs"), session, folder)
    for kernel in row["kernels"]:
        shown = row["again"]["kernels"].get(kernel["name"])
        claim = kernel["production"]
        if kernel["is_kept"] and claim and shown:
            kernel["again"] = shown
            kernel["covered"] = claim["low"] <= shown <= claim["high"]
    return row


def show(rows: dict[str, Any]) -> None:
    """Print one line for each kernel that is kept, and how many claims hold."""
    print(
        f"{'program':<30} {'kernel':<34} {'replay':>8} {'claimed':>8} {'interval':>15} {'again':>8}"
    )
    covered: list[bool] = []
    for title, row in rows.items():
        if "failed" in row:
            print(f"{title:<30} {row['failed']}")
            continue
        for one in row["kernels"]:
            if not one["is_kept"] or "again" not in one:
                print(f"{title:<30} {one['demangled_name'][:34]:<34} {one['reason']}")
                continue
            claim, replay = one["production"], one["replay"] or {"ratio": 0.0}
            covered.append(one["covered"])
            interval = f"{claim['low']:.3f}-{claim['high']:.3f}"
            print(
                f"{title:<30} {one['demangled_name'][:34]:<34} {replay['ratio']:>8.3f} "
                f"{claim['ratio']:>8.3f} {interval:>15} {one['again']:>8.3f}"
            )
    if covered:
        print(f"{sum(covered)} of {len(covered)} claims hold in further runs")


def main() -> int:
    """Measure every program and write the result."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default=None)
    parser.add_argument("--programs", nargs="*", default=None)
    parser.add_argument("--budget", type=float, default=60.0, help="seconds for each program")
    parser.add_argument("--limit", type=float, default=float("inf"), help="starts none after that")
    parser.add_argument("--output", type=Path, default=RESULTS / "optimize.json")
    options = parser.parse_args()
    device = choose_device(options.device)
    end = time.monotonic() + options.limit
    rows: dict[str, Any] = {}
    with tempfile.TemporaryDirectory(prefix="mneme-optimize-") as scratch:
        guests = Guests(
            device=device, examples=BUILD / "examples", programs=PROGRAMS, scratch=Path(scratch)
        )
        for program in GPU_PROGRAMS if guests.is_gpu else CPU_PROGRAMS:
            if options.programs and program.name not in options.programs:
                continue
            if time.monotonic() > end:
                break
            title = " ".join([program.name, *program.arguments])
            try:
                rows[title] = measure(guests, program, options.budget)
            except FAILURES as error:
                rows[title] = {"failed": str(error)}
            print(f"  {title}: {rows[title].get('verdict', 'failed')}", file=sys.stderr)
            facts = {**stamp(), "machine": machine(device), "what": "mneme optimize"}
            content = {**facts, "budget_seconds": options.budget, "programs": rows}
            options.output.write_text(json.dumps(content, indent=2) + "\n")
    show(rows)
    seconds = [row["seconds"] for row in rows.values() if "seconds" in row]
    if seconds:
        print(f"median {statistics.median(seconds):.0f} s of {options.budget:.0f} s each")
    return 0


if __name__ == "__main__":
    sys.exit(main())
