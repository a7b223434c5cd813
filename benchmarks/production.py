"""From a recording to a faster production run: each example recorded, tuned, deployed and run.

    python benchmarks/production.py                    # the first GPU
    python benchmarks/production.py --device cpu       # the same on the CPU device, smaller

Per program: wall time plain, tuned with an empty cache (first) and with a full one (cached), the
device time of each kernel in plain and tuned runs (on GPUs, by CUPTI), and what `mneme tune` said.
Programs that fail say so in the result and the others go on.
"""

from __future__ import annotations

import argparse
import json
import math
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from common import BUILD, PROGRAMS, RESULTS, write_results
from guests import FAILURES, BenchmarkError, Guests, Run, launches_of, spread
from tables import show

from mneme.devices import choose_device
from mneme.programs.guest import run_environment

TRACER = Path(__file__).with_name("kernel_times.cpp")


@dataclass(frozen=True, kw_only=True)
class Program:
    """One program and how it is tuned."""

    name: str
    arguments: tuple[str, ...] = ()
    tuning: tuple[str, ...] = ()
    """Further options of `mneme tune`."""


GPU_PROGRAMS = (
    Program(name="vector_add", arguments=(str(32 << 20),)),
    Program(name="stencil2d", arguments=("4096", "200")),
    Program(name="reduction"),
    Program(name="spmv_cg", arguments=("512", "800")),
    Program(name="nbody", arguments=("65536", "10")),
    Program(name="heat3d", arguments=("512", "100")),
    Program(name="linked_list"),
    Program(name="multi_unit"),
)
CPU_PROGRAMS = tuple(
    Program(name=name)
    for name in ("vector_add", "stencil2d", "reduction", "spmv_cg", "nbody", "heat3d")
)


def build_tracer(folder: Path) -> Path | None:
    """Compile the library that measures kernels in any program; None where there is no CUPTI."""
    home = Path("/usr/local/cuda")
    library = folder / "libkernel_times.so"
    folders = [f"-I{home}/include", f"-I{home}/extras/CUPTI/include"]
    link = [f"-L{home}/extras/CUPTI/lib64", f"-L{home}/lib64", "-lcupti"]
    command = ["g++", "-std=c++17", "-O2", "-shared", "-fPIC", str(TRACER), "-o", str(library)]
    try:
        subprocess.run([*command, *folders, *link], check=True, capture_output=True, text=True)
    except (OSError, subprocess.CalledProcessError) as error:
        print(f"  kernels are not traced: {error}", file=sys.stderr)
        return None
    return library


def run(guests: Guests, program: Program, **variables: str) -> Run:
    """Run the program once with further environment variables."""
    environment = run_environment({**guests.environment, **variables}, guests.device)
    return guests.execute([guests.program(program.name), *program.arguments], environment)


def kernel_medians(
    guests: Guests, tracer: Path | None, program: Program, **variables: str
) -> dict[str, dict[str, float]]:
    """Return per kernel the number of launches and the median device time in microseconds."""
    if tracer is None:
        return {}
    file = guests.scratch / "kernel_times.json"
    file.unlink(missing_ok=True)
    traced = {"CUDA_INJECTION64_PATH": str(tracer), "KERNEL_TIMES_FILE": str(file)}
    run(guests, program, **traced, **variables)
    return {
        name: {"launches": len(times), "median_us": statistics.median(times) / 1000}
        for name, times in json.loads(file.read_text()).items()
    }


def tune(guests: Guests, program: Program, trials: int, folder: Path) -> tuple[Path, float]:
    """Record and tune; return the results directory and the seconds tuning took."""
    recording = guests.folder(f"production/{program.name}")
    guests.record(recording, program.name, *program.arguments, options=["-mr", "1"])
    if not launches_of(recording):
        raise BenchmarkError(f"'{program.name}' recorded nothing")
    results = folder / "results"
    start = time.monotonic()
    guests.mneme(
        *("tune", "-rdb", recording, "--all", "--device", guests.device, "--quiet"),
        *("--space-preset", "full", "--sampler", "random"),
        *("--trials", str(trials), "--seed", "1"),
        *("--results-dir", results, *program.tuning),
    )
    return results, time.monotonic() - start


def gains(results: Path) -> dict[str, Any]:
    """Return what tuning said about each kernel."""
    found = {}
    for file in sorted(results.glob("**/best.json")):
        best = json.loads(file.read_text())
        summary = json.loads(file.with_name("summary.json").read_text())
        found[best["record"]["kernel_name"]] = {
            "gain": best.get("gain"),
            "same_launch_gain": (best.get("same_launch") or {}).get("gain"),
            "launch_rule": best.get("launch_rule"),
            "config": best.get("config"),
            "trials": summary["num_trials_completed"],
            "verified": summary["num_verified"],
        }
    return found


def measure(
    guests: Guests, tracer: Path | None, program: Program, trials: int
) -> list[dict[str, Any]]:
    """Measure one program; return what is said of it and of each of its kernels."""
    folder = guests.folder(f"production/{program.name}-tuned")
    folder.mkdir(parents=True)
    results, tuning_seconds = tune(guests, program, trials, folder)
    row: dict[str, Any] = {"tuning_seconds": tuning_seconds}
    kernels = gains(results)
    tuned_file = folder / "tuned.json"
    try:
        guests.mneme("deploy", results, "-o", tuned_file, "--launch")
    except BenchmarkError as error:
        row["not_deployed"] = str(error)
        return [row, *({"kernel": name, **one} for name, one in kernels.items())]
    cache = folder / "cache"
    tuned = {"PROTEUS_TUNED_KERNELS": str(tuned_file), "PROTEUS_CACHE_DIR": str(cache)}
    run(guests, program)  # the vendor's own caches are filled
    plain, first, cached = [], [], []
    for _ in range(guests.repeats):
        plain.append(run(guests, program))
        shutil.rmtree(cache, ignore_errors=True)
        first.append(run(guests, program, **tuned))
        cached.append(run(guests, program, **tuned))
    row |= {
        "plain_seconds": spread([each.seconds for each in plain]),
        "first_seconds": spread([each.seconds for each in first]),
        "cached_seconds": spread([each.seconds for each in cached]),
        "is_same_output": len({each.stdout for each in [*plain, *first, *cached]}) == 1,
    }
    for key, variables in (("plain_us", {}), ("tuned_us", tuned)):
        traced = kernel_medians(guests, tracer, program, **variables)
        for name, one in kernels.items():
            one[key] = traced.get(name, {}).get("median_us")
    return [row, *({"kernel": name, **one} for name, one in kernels.items())]


def main() -> int:
    """Measure every program and write the result."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default=None)
    parser.add_argument("--programs", nargs="*", default=None, help="names of examples")
    parser.add_argument("--trials", type=int, default=None)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=math.inf, help="time for everything")
    parser.add_argument("--output", type=Path, default=RESULTS / "production.jsonl")
    options = parser.parse_args()
    device = choose_device(options.device)
    scratch = Path(tempfile.mkdtemp(prefix="mneme-production-"))
    guests = Guests(
        device=device,
        examples=BUILD / "examples",
        programs=PROGRAMS,
        scratch=scratch,
        repeats=options.repeats,
        deadline=time.monotonic() + options.seconds,
    )
    guests = replace(
        guests, environment={**guests.environment, "MNEME_CACHE_DIR": str(scratch / "images")}
    )
    trials = options.trials or (600 if guests.is_gpu else 20)
    tracer = build_tracer(scratch) if guests.is_gpu else None
    rows: list[dict[str, Any]] = []
    for program in GPU_PROGRAMS if guests.is_gpu else CPU_PROGRAMS:
        if options.programs and program.name not in options.programs:
            continue
        title = " ".join([program.name, *program.arguments])
        try:
            found = measure(guests, tracer, program, trials)
        except FAILURES as error:
            found = [{"failed": str(error)}]
        rows += [{"program": title, **one} for one in found]
        facts = {"device": device, "trials": trials}
        write_results(options.output, "tuned production runs", rows, **facts)
        print(f"  {title}: {found[0].get('failed', 'measured')}", file=sys.stderr)
    show("production", options.output)
    shutil.rmtree(scratch, ignore_errors=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
