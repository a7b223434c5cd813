"""`mneme optimize` on the examples: what it claims, and whether other runs of the program show it.

    python benchmarks/optimize.py                            # the first GPU
    python benchmarks/optimize.py --device cpu --budget 20
    python benchmarks/optimize.py --commands FILE            # other programs, built with mneme

A line of FILE is `NAME: COMMAND`; commands run in the current directory. After each optimization
the program is run as built and as tuned again, in turn, in processes of its own. `covered` says
whether the median gain of these runs lies in the interval that was claimed.
"""

from __future__ import annotations

import argparse
import shlex
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from common import BUILD, PROGRAMS, RESULTS, write_results
from guests import FAILURES, Guests
from production import CPU_PROGRAMS, GPU_PROGRAMS, Program
from tables import show

from mneme.devices import choose_device
from mneme.optimize.application import Application
from mneme.optimize.options import OptimizeOptions
from mneme.optimize.production import ratio_of
from mneme.optimize.profile import read_profile
from mneme.optimize.session import OptimizeSession


def again(
    application: Application, session: OptimizeSession, folder: Path, pairs: int
) -> tuple[float | None, dict[str, float]]:
    """Return gains of the program and of its kernels in further pairs of runs."""
    tuned, cache = session.result.tuned_file, folder / "runs" / "cache"
    times: dict[str, tuple[list[float], list[float]]] = {}
    walls: tuple[list[float], list[float]] = ([], [])
    for number in range(pairs):
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
    kernels = {name: one.ratio for name, one in found.items() if one is not None}
    return wall.ratio if wall else None, kernels


def measure(
    guests: Guests, title: str, command: tuple[str, ...], budget: float, pairs: int
) -> list[dict[str, Any]]:
    """Optimize one program; return what is said of it and of each of its kernels."""
    folder = guests.folder(f"optimize-{title.partition(' ')[0]}")
    options = OptimizeOptions(
        command=command, directory=folder, budget=budget, device=guests.device, seed=1
    )
    began = time.monotonic()
    session = OptimizeSession(options)
    code = session.run()
    row: dict[str, Any] = {"program": title, "code": code, "seconds": time.monotonic() - began}
    result = session.result.to_dict()
    row |= {name: result[name] for name in ("verdict", "application", "kernel_share")}
    kernels = [
        {"program": title, "kernel": one.pop("demangled_name"), **one} for one in result["kernels"]
    ]
    if code == 0:
        application = Application(command, guests.device, folder / "runs")
        row["again"], shown = again(application, session, folder, pairs)
        for kernel in kernels:
            claim = kernel["production"]
            kernel["again"] = shown.get(kernel["name"])
            if kernel["is_kept"] and claim and kernel["again"]:
                kernel["covered"] = claim["low"] <= kernel["again"] <= claim["high"]
    return [row, *kernels]


def listed(file: Path) -> dict[str, tuple[str, ...]]:
    """Return the commands of a file by their names."""
    lines = (line.partition(":") for line in file.read_text().splitlines() if line.strip())
    return {name.strip(): tuple(shlex.split(command)) for name, _, command in lines}


def our_commands(guests: Guests) -> dict[str, tuple[str, ...]]:
    """Return those of our own programs."""
    programs: tuple[Program, ...] = GPU_PROGRAMS if guests.is_gpu else CPU_PROGRAMS
    return {
        " ".join([one.name, *one.arguments]): (str(guests.program(one.name)), *one.arguments)
        for one in programs
    }


def main() -> int:
    """Measure every program and write the result."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default=None)
    parser.add_argument("--programs", nargs="*", default=None)
    parser.add_argument("--commands", type=Path, default=None, help="in place of our own programs")
    parser.add_argument("--pairs", type=int, default=10, help="further pairs of runs")
    parser.add_argument("--budget", type=float, default=60.0, help="seconds for each program")
    parser.add_argument("--limit", type=float, default=float("inf"), help="starts none after that")
    parser.add_argument("--output", type=Path, default=RESULTS / "optimize.jsonl")
    options = parser.parse_args()
    device = choose_device(options.device)
    end = time.monotonic() + options.limit
    results: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory(prefix="mneme-optimize-") as scratch:
        guests = Guests(
            device=device, examples=BUILD / "examples", programs=PROGRAMS, scratch=Path(scratch)
        )
        commands = listed(options.commands) if options.commands else our_commands(guests)
        for title, command in commands.items():
            if options.programs and title.partition(" ")[0] not in options.programs:
                continue
            if time.monotonic() > end:
                break
            try:
                found = measure(guests, title, command, options.budget, options.pairs)
            except FAILURES as error:
                found = [{"program": title, "failed": str(error)}]
            print(f"  {title}: {found[0].get('verdict', 'failed')}", file=sys.stderr)
            results += found
            facts = {"device": device, "budget_seconds": options.budget}
            write_results(options.output, "mneme optimize", results, **facts)
    show("optimize", options.output)
    return 0


if __name__ == "__main__":
    sys.exit(main())
