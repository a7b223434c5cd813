"""The second half of scripts/demo: tune recorded kernels, deploy what was found, run the programs."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rich.box import SIMPLE
from rich.markup import escape
from rich.table import Table

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from rich.console import Console

TRIALS = 60
REPEATS = 3
# Columns that whole tables need.
WIDTH = 132
# Pairs of runs, as built and as tuned: of so many, two may be disturbed to either side.
PAIRS = 12


@dataclass(frozen=True)
class Gain:
    """How many times as fast something is in the program, and the interval of 95 %."""

    ratio: float
    low: float
    high: float

    def sentence_part(self) -> str:
        """`1.8 times as fast in the program (95 %: 1.6 to 2.0)`."""
        numbers = f"95 %: {self.low:.2f} to {self.high:.2f}"
        return f"{self.ratio:.2f} times as fast in the program ({numbers})"


@dataclass
class TunedKernel:
    """What tuning found for one kernel of a program, and what the program showed of it."""

    name: str
    symbol: str
    baseline_us: float
    best_us: float
    gain: Gain | None = None
    """In the program; None: it shows none."""


@dataclass
class TunedProgram:
    """A program run as it was built, and tuned."""

    example: str
    kernels: list[TunedKernel]
    plain_ms: float
    first_ms: float | None = None
    cached_ms: float | None = None
    is_same: bool = True
    arguments: tuple[str, ...] = field(default_factory=tuple)

    def sentence(self) -> str:
        """What came of it, as the program itself showed it."""
        gained = [
            f"the kernel {one.name} runs {one.gain.sentence_part()}"
            for one in self.kernels
            if one.gain is not None
        ]
        if not gained:
            return (
                f"{self.example}: nothing that was found is certainly faster in the program: it "
                f"stays as it is{busy_machine()}"
            )
        return f"{self.example}: {', and '.join(gained)}"


def busy_machine() -> str:
    """Say that other work hides gains, where there is much of it; else nothing."""
    load, cores = os.getloadavg()[0], os.cpu_count() or 1
    return (
        f" ({load:.0f} processes share {cores} cores, which hides gains)"
        if load > 2 * cores
        else ""
    )


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


def fastest_run(command: tuple[str, ...], **variables: str) -> tuple[float, str]:
    """Milliseconds of the fastest of some runs, and what the program printed."""
    times, output = [], ""
    for _ in range(REPEATS):
        start = time.perf_counter()
        output = mneme("run", "--device", "cpu", "--", *command, **variables).stdout
        times.append((time.perf_counter() - start) * 1000)
    return min(times), output


def kernels_of(results: Path) -> list[TunedKernel]:
    """Read what `mneme tune --all` left."""
    kernels = []
    for file in sorted(results.glob("**/best.json")):
        best = json.loads(file.read_text())
        gain = best["gain"]
        baseline = float(best["as_built_metric"])
        kernels.append(
            TunedKernel(
                name=best["facts"]["demangled_name"].split("(")[0].rsplit(" ", 1)[-1],
                symbol=best["record"]["kernel_name"],
                baseline_us=baseline / 1000,
                best_us=baseline / gain["ratio"] / 1000,
            )
        )
    return kernels


def deploy(
    results: Path, tuned: Path, command: tuple[str, ...], kernels: list[TunedKernel]
) -> None:
    """Deploy what is faster in the program, which runs as built and as tuned in turn."""
    where = (str(results), "-o", str(tuned), "--launch", "--device", "cpu", "--json")
    measured = ("--measure", "--pairs", str(PAIRS), "--", *command)
    done = mneme("deploy", *where, *measured, accepted=(0, 1))
    if done.returncode != 0:  # nothing is
        return
    for shown in json.loads(done.stdout)["measured"]["kernels"]:
        gain = shown["production"]
        for kernel in kernels:
            if shown["is_kept"] and gain and kernel.symbol == shown["name"]:
                kernel.gain = Gain(gain["ratio"], gain["low"], gain["high"])


def tune_and_run(program: Path, arguments: tuple[str, ...], folder: Path) -> TunedProgram:
    """Record a program, tune its kernels, deploy the winners, and run it."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    results, tuned, cache = folder / "results", folder / "tuned.json", folder / "cache"
    command, recording = (str(program), *arguments), folder / "recording"
    # A launch stands for the others, which have the same dimensions.
    mneme("record", "-rdb", str(recording), "-mr", "1", "--device", "cpu", "--", *command)
    mneme(
        *("tune", "-rdb", str(recording), "--all", "--device", "cpu", "--quiet"),
        *("--trials", str(TRIALS), "--seed", "1"),
        *("--results-dir", str(results)),
    )
    kernels = kernels_of(results)
    plain_ms, plain = fastest_run(command)
    deploy(results, tuned, command, kernels)
    if not tuned.is_file():
        return TunedProgram(program.name, kernels, plain_ms, arguments=arguments)
    variables = {"PROTEUS_TUNED_KERNELS": str(tuned), "PROTEUS_CACHE_DIR": str(cache)}
    start = time.perf_counter()
    first = mneme("run", "--device", "cpu", "--", *command, **variables).stdout
    first_ms = (time.perf_counter() - start) * 1000
    cached_ms, cached = fastest_run(command, **variables)
    is_same = plain == first == cached
    return TunedProgram(
        program.name, kernels, plain_ms, first_ms, cached_ms, is_same, arguments=arguments
    )


def table_for(console: Console, title: str) -> Table:
    """Start a table, without lines between its columns where the terminal is narrow."""
    if console.width >= WIDTH:
        return Table(title=title)
    return Table(
        title=title, title_justify="left", box=SIMPLE, padding=(0, 1, 0, 0), pad_edge=False
    )


def show(programs: list[TunedProgram], console: Console) -> None:
    """Print the closing table."""
    table = table_for(console, "Tuned kernels in production runs on the CPU device")
    for heading in ("example", "kernel"):
        table.add_column(heading)
    for heading in ("as built µs", "tuned µs", "plain ms", "first ms", "cached ms"):
        table.add_column(heading, justify="right")
    table.add_column("output")
    for program in programs:
        runs = [
            "-" if number is None else f"{number:.0f}"
            for number in (program.plain_ms, program.first_ms, program.cached_ms)
        ]
        verdict = "[green]same[/]" if program.is_same else "[red]DIFFERENT[/]"
        for index, kernel in enumerate(program.kernels):
            cells = [f"{kernel.baseline_us:.1f}", f"{kernel.best_us:.1f}"]
            whole = [*runs, verdict] if index == 0 else [""] * 4
            name = " ".join((program.example, *program.arguments)) if index == 0 else ""
            table.add_row(name, kernel.name, *cells, *whole)
    console.print(table)
    console.print(
        "µs: a replayed launch; ms: the program as built, as tuned with kernels compiled at their "
        "first launch, and in later runs. What shows no gain in the program is not deployed.",
        style="dim",
    )
    for program in programs:
        is_faster = any(one.gain for one in program.kernels)
        console.print(
            escape(program.sentence()),
            style="bold green" if is_faster else "",
            highlight=False,
            soft_wrap=True,
        )


def tune_examples(
    chosen: Mapping[str, tuple[str, ...]], examples: Path, output: Path, console: Console
) -> bool:
    """Tune, deploy and run examples with their arguments; True if every output stayed the same."""
    if not chosen:
        return True
    programs = []
    for name, arguments in chosen.items():
        console.print(f"[bold]{name}[/]: tuning with {TRIALS} trials")
        programs.append(tune_and_run(examples / name, arguments, output / name))
    show(programs, console)
    return all(program.is_same for program in programs)
