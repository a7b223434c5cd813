"""The second half of scripts/demo: tune recorded kernels, deploy what was found, run the programs."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.table import Table

if TYPE_CHECKING:
    from pathlib import Path

    from rich.console import Console

TRIALS = 60
REPEATS = 3


@dataclass
class TunedKernel:
    """What tuning found for one kernel of a program, and what the program showed of it."""

    name: str
    symbol: str
    baseline_us: float
    best_us: float
    gain: str = "none"
    """In the program."""


@dataclass
class TunedProgram:
    """A program run as it was built, and tuned."""

    example: str
    kernels: list[TunedKernel]
    plain_ms: float
    first_ms: float | None
    cached_ms: float | None
    is_same: bool


class DemoError(Exception):
    """A step of the demo failed; the message says which, and what it printed."""


def mneme(
    *arguments: str, accepted: tuple[int, ...] = (0,), **variables: str
) -> subprocess.CompletedProcess[str]:
    """Run one mneme command, which has to end with an accepted exit code."""
    command = [sys.executable, "-m", "mneme", *arguments]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, env={**os.environ, **variables}
    )
    if done.returncode not in accepted:
        raise DemoError(f"'mneme {' '.join(arguments)}' gave {done.returncode}:\n{done.stderr}")
    return done


def fastest_run(program: Path, **variables: str) -> tuple[float, str]:
    """Milliseconds of the fastest of some runs, and what the program printed."""
    times, output = [], ""
    for _ in range(REPEATS):
        start = time.perf_counter()
        output = mneme("run", "--device", "cpu", "--", str(program), **variables).stdout
        times.append((time.perf_counter() - start) * 1000)
    return min(times), output


def kernels_of(results: Path) -> list[TunedKernel]:
    """Read what `mneme tune --all` left."""
    kernels = []
    for file in sorted(results.glob("**/best.json")):
        best = json.loads(file.read_text())
        gain = best["gain"]
        baseline = float(best["baseline_metric"])
        kernels.append(
            TunedKernel(
                name=best["facts"]["demangled_name"].split("(")[0].rsplit(" ", 1)[-1],
                symbol=best["record"]["kernel_name"],
                baseline_us=baseline / 1000,
                best_us=baseline / gain["ratio"] / 1000,
            )
        )
    return kernels


def deploy(results: Path, tuned: Path, program: Path, kernels: list[TunedKernel]) -> None:
    """Deploy what is faster in the program, which runs as built and as tuned in turn."""
    where = (str(results), "-o", str(tuned), "--launch", "--device", "cpu", "--json")
    done = mneme("deploy", *where, "--measure", "--", str(program), accepted=(0, 1))
    if done.returncode != 0:  # nothing is
        return
    for shown in json.loads(done.stdout)["measured"]["kernels"]:
        gain = shown["production"]
        for kernel in kernels:
            if shown["is_kept"] and gain and kernel.symbol == shown["name"]:
                kernel.gain = f"{gain['ratio']:.2f} ({gain['low']:.2f} to {gain['high']:.2f})"


def tune_and_run(program: Path, recording: Path, folder: Path) -> TunedProgram:
    """Tune every recorded kernel of a program, deploy the winners, and run it."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    results, tuned, cache = folder / "results", folder / "tuned.json", folder / "cache"
    mneme(
        *("tune", "-rdb", str(recording), "--all", "--device", "cpu", "--quiet"),
        *("--sampler", "random", "--trials", str(TRIALS), "--seed", "1"),
        *("--results-dir", str(results)),
    )
    kernels = kernels_of(results)
    plain_ms, plain = fastest_run(program)
    deploy(results, tuned, program, kernels)
    if not tuned.is_file():
        return TunedProgram(program.name, kernels, plain_ms, None, None, is_same=True)
    variables = {"PROTEUS_TUNED_KERNELS": str(tuned), "PROTEUS_CACHE_DIR": str(cache)}
    start = time.perf_counter()
    first = mneme("run", "--device", "cpu", "--", str(program), **variables).stdout
    first_ms = (time.perf_counter() - start) * 1000
    cached_ms, cached = fastest_run(program, **variables)
    is_same = plain == first == cached
    return TunedProgram(program.name, kernels, plain_ms, first_ms, cached_ms, is_same)


def show(programs: list[TunedProgram], console: Console) -> None:
    """Print the closing table."""
    table = Table(title="Tuned kernels in production runs on the CPU device")
    for heading in ("example", "kernel"):
        table.add_column(heading)
    for heading in ("baseline µs", "tuned µs", "gain (95 %)", "plain ms", "first ms", "cached ms"):
        table.add_column(heading, justify="right")
    table.add_column("output")
    for program in programs:
        runs = [
            "-" if number is None else f"{number:.0f}"
            for number in (program.plain_ms, program.first_ms, program.cached_ms)
        ]
        verdict = "[green]same[/]" if program.is_same else "[red]DIFFERENT[/]"
        for index, kernel in enumerate(program.kernels):
            style = "dim" if kernel.gain == "none" else "green"
            cells = [f"{kernel.baseline_us:.1f}", f"{kernel.best_us:.1f}"]
            whole = [*runs, verdict] if index == 0 else [""] * 4
            gain = f"[{style}]{kernel.gain}[/]"
            table.add_row(program.example if index == 0 else "", kernel.name, *cells, gain, *whole)
    console.print(table)
    console.print(
        "plain: as built; first: kernels are compiled at their first launch; cached: in later runs. "
        "What shows no gain in the program is not deployed.",
        style="dim",
    )


def tune_examples(
    names: tuple[str, ...], examples: Path, recordings: Path, output: Path, console: Console
) -> bool:
    """Tune, deploy and run each example; True if every output stayed the same."""
    if not names:
        return True
    programs = []
    for name in names:
        console.print(f"[bold]{name}[/]: tuning with {TRIALS} trials")
        programs.append(tune_and_run(examples / name, recordings / name, output / name))
    show(programs, console)
    return all(program.is_same for program in programs)
