"""Whether production shows what `mneme tune` states, and whether it claims anything where nothing is.

    python benchmarks/coverage.py                                  # the first GPU
    python benchmarks/coverage.py --device cpu --seeds 1 --programs stencil2d

Each program is recorded once and tuned with several seeds. After each tuning the program runs as built and
tuned, in turn, in processes of its own; `covered` says whether the gain of a kernel there lies in the
interval that was stated.

A against A: a baseline is compared with itself by the rounds that state gains.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from common import BUILD, PROGRAMS, RESULTS, write_results
from guests import FAILURES, Guests
from production import CPU_PROGRAMS, GPU_PROGRAMS, Program
from tables import show

from mneme.deploy import DeployOptions, plan_deployment, write_deployment
from mneme.devices import choose_device
from mneme.measure.async_executor import AsyncReplayExecutor
from mneme.measure.measuring import Measuring
from mneme.mneme_types import ExperimentConfiguration, ExperimentResult
from mneme.optimize.application import Application
from mneme.optimize.production import ratio_of
from mneme.optimize.profile import read_profile
from mneme.session.final_round import FinalRound
from mneme.session.trials import Candidate, CompletedCandidate

if TYPE_CHECKING:
    from collections.abc import Callable

MORE_PROGRAMS = (
    Program(name="vector_add", arguments=(str(1 << 20),)),
    Program(name="stencil2d", arguments=("1024", "50")),
    Program(name="nbody", arguments=("4096", "20")),
    Program(name="heat3d", arguments=("128", "50")),
    Program(name="spmv_cg", arguments=("128", "200")),
    Program(name="tuning_kernels", arguments=("forces", "64")),
    Program(name="tuning_kernels", arguments=("lattice", "16")),
    Program(name="tuning_kernels", arguments=("reactions", "8")),
)
"""Others than those from which the width of intervals was learned."""
PAIRS = 6
ROUND_NS = 1e6
MOST_OF_A_ROUND = 50


def claims_of_nothing(record: Path, device: str, baseline: dict[str, Any], tries: int) -> int:
    """Return how often a configuration is said to be faster than itself."""
    config = ExperimentConfiguration.from_dict(baseline["config"])
    launches = max(1, min(MOST_OF_A_ROUND, int(ROUND_NS / baseline["metric"]) + 1))
    itself = CompletedCandidate(
        candidate=Candidate(trial=0, config=config),
        status="verified",
        result=ExperimentResult(),
        metric=None,
    )
    with (
        tempfile.TemporaryDirectory() as logs,
        AsyncReplayExecutor(record, None, launches, logs, 1, device=device) as pool,
    ):

        def measure(
            config: ExperimentConfiguration, *, is_cold: bool
        ) -> Callable[[], ExperimentResult]:
            done = pool.submit(config, fresh=True, measuring=Measuring(cold_cache=is_cold))
            wait: Callable[[], ExperimentResult] = done.result
            return wait

        gains = [FinalRound(measure, config).gain(itself) for _ in range(tries)]
    return sum(one is not None and one.significant for one in gains)


def in_production(application: Application, tuned: Path, folder: Path) -> dict[str, Any]:
    """Return the gain of each kernel in runs of the program as built and tuned, in turn."""
    cache, profile = folder / "cache", folder / "profile"
    application.run(tuned=tuned, cache=cache)
    times: dict[str, tuple[list[float], list[float]]] = {}
    for number in range(PAIRS):
        order = (None, tuned) if number % 2 == 0 else (tuned, None)
        for file in order:
            application.run(tuned=file, cache=cache, profile=profile)
            for kernel in read_profile(profile).kernels.values():
                side = times.setdefault(kernel.name, ([], []))[0 if file is None else 1]
                side.append(kernel.total_ns / kernel.launches)
    ratios = {name: ratio_of(*both) for name, both in times.items()}
    return {
        name: {**asdict(one), "built_ns": times[name][0], "tuned_ns": times[name][1]}
        for name, one in ratios.items()
        if one is not None
    }


def tune(
    guests: Guests, program: Program, recording: Path, seed: int, seconds: float
) -> list[dict[str, Any]]:
    """Tune every kernel of a recording once; return what was stated and what production showed."""
    folder = guests.folder(f"coverage-{program.name}-{seed}")
    results, tuned = folder / "results", folder / "tuned.json"
    guests.mneme(
        *("tune", "-rdb", recording, "--all", "--device", guests.device, "--quiet"),
        *("--timeout", str(seconds), "--seed", str(seed), "--results-dir", results),
    )
    stated = []
    for file in sorted(results.glob("**/best.json")):
        best = json.loads(file.read_text())
        gain = best.get("gain")
        if gain and gain["replayed_low"] > 1:
            baseline = json.loads(file.with_name("baseline.json").read_text())
            stated.append((best, baseline))
    if not stated:
        return []
    # What replays show and production need not is of interest, too.
    options = DeployOptions(use_launch=True, takes_unproven=True)
    write_deployment(plan_deployment([results], options), tuned)
    command = (str(guests.program(program.name)), *program.arguments)
    application = Application(command, guests.device, folder)
    shown = in_production(application, tuned, folder)
    rows = []
    for best, baseline in stated:
        name, claim = best["record"]["kernel_name"], best["gain"]
        if name not in shown:
            continue
        rows.append(
            {
                "program": " ".join([program.name, *program.arguments]),
                "kernel": name,
                "seed": seed,
                "baseline_ns": baseline["metric"],
                "stated": claim,
                "production": shown[name],
                "covered": claim["low"] <= shown[name]["ratio"] <= claim["high"],
            }
        )
    return rows


def alike(guests: Guests, recording: Path, tries: int) -> dict[str, Any]:
    """Compare the baseline of a recording's first kernel with itself."""
    record = min(recording.glob("[0-9]*.json"))
    results = guests.folder("alike")
    guests.mneme(
        *("tune", "-rdb", record, "--device", guests.device, "--quiet", "--baseline-only"),
        *("--results-dir", results),
    )
    baseline = json.loads((results / "baseline.json").read_text())
    return {
        "tries": tries,
        "claims": claims_of_nothing(record, guests.device, baseline, tries),
    }


def main() -> int:
    """Measure every program and write the result."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default=None)
    parser.add_argument("--programs", nargs="*", default=None)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--first-seed", type=int, default=0, help="to add to earlier results")
    parser.add_argument("--seconds", type=float, default=4.0, help="for each tuning of a kernel")
    parser.add_argument("--alike", type=int, default=15, help="A against A, for each program")
    parser.add_argument("--limit", type=float, default=float("inf"), help="starts none after that")
    parser.add_argument("--output", type=Path, default=RESULTS / "coverage.jsonl")
    options = parser.parse_args()
    device = choose_device(options.device)
    end = time.monotonic() + options.limit
    results: list[dict[str, Any]] = []
    failed: set[Program] = set()
    with tempfile.TemporaryDirectory(prefix="mneme-coverage-") as scratch:
        guests = Guests(
            device=device, examples=BUILD / "examples", programs=PROGRAMS, scratch=Path(scratch)
        )
        listed = [
            one
            for one in ((*MORE_PROGRAMS, *GPU_PROGRAMS) if guests.is_gpu else CPU_PROGRAMS)
            if not options.programs or one.name in options.programs
        ]
        recordings: dict[Program, Path] = {}
        for seed in range(options.first_seed, options.seeds):
            for program in listed:
                title = {"program": " ".join([program.name, *program.arguments])}
                if time.monotonic() > end or program in failed:
                    continue
                try:
                    if program not in recordings:
                        recording = guests.folder(f"recording-{len(recordings)}")
                        guests.record(
                            recording, program.name, *program.arguments, options=["-mr", "1"]
                        )
                        recordings[program] = recording
                        if options.alike:
                            itself = alike(guests, recording, options.alike)
                            results.append({**title, "alike": itself})
                    results += tune(guests, program, recordings[program], seed, options.seconds)
                except FAILURES as error:
                    failed.add(program)
                    results.append({**title, "failed": str(error)})
                print(f"  {program.name} {seed}: {len(results)}", file=sys.stderr)
                write_results(
                    options.output,
                    "intervals in production",
                    results,
                    device=device,
                    seconds_of_a_tuning=options.seconds,
                )
    show("coverage", options.output)
    return 0


if __name__ == "__main__":
    sys.exit(main())
