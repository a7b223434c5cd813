"""Configurations per second while tuning, and the numbers of the existing tool beside ours."""

from __future__ import annotations

import os
import subprocess
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gpu_examples import measure_launch
from guests import FAILURES, BenchmarkError, launches_of, repeated, sizes_of, spread
from replay_loop import pipelines

from mneme.measure.async_executor import AsyncReplayExecutor
from mneme.measure.measuring import Measuring
from mneme.measure.replay_executor import BaseExecutor
from mneme.measure.tolerance import Tolerance
from mneme.mneme_types import ExperimentConfiguration

if TYPE_CHECKING:
    from guests import Guests


# Measured with the existing tool on an H200 node with CUDA 13.0: two compiles and eight launches for
# each configuration.
REFERENCE: dict[str, Any] = {
    "configurations_per_second": {"57 us": 6.3, "14 ms": 3.8, "262 ms": 0.37},
    "replay_command_seconds": [1.2, 1.4],
    "help_seconds": 0.42,
    "vector_add": {"recording_adds_seconds": 0.66, "stored_bytes": 359e6},
    "finite_elements": {"recording_adds_seconds": 1.26, "stored_bytes": 704e6},
}

# Pipelines may contract floating-point operations in other places than the recorded program did.
TOLERANCES = {
    "forces": "force=rel:1e-3:f32",
    "lattice": "out=rel:1e-9:f64",
    "reactions": "species=rel:1e-9:f64",
}

POOL_WORKERS = max(1, len(os.sched_getaffinity(0)) - 1)

# Kernel, duration in microseconds, configurations to try.
GPU_KERNELS = (("forces", 57, 100), ("lattice", 14_000, 60), ("reactions", 262_000, 4))
CPU_KERNELS = (("forces", 2_000, 12), ("lattice", 5_000, 8), ("reactions", 10_000, 4))


@dataclass(frozen=True, kw_only=True)
class RunPlan:
    """One way to evaluate the configurations."""

    title: str
    iterations: int

    warmup: int
    """The launch that is verified is one of them."""

    compilers: int
    """Processes that compile beside the one that owns the device."""

    is_tuning: bool = False
    """Measured as tuning does: as many launches as it takes, nothing more for what is slower than
    the first configuration, identical binaries once."""


RUNS = (
    RunPlan(title="executor_8_launches", iterations=6, warmup=2, compilers=0),
    RunPlan(title="executor_2_launches", iterations=1, warmup=1, compilers=0),
    RunPlan(title="pool_8_launches", iterations=6, warmup=2, compilers=POOL_WORKERS),
    RunPlan(title="pool_2_launches", iterations=1, warmup=1, compilers=POOL_WORKERS),
    RunPlan(title="pool_tuning", iterations=5, warmup=1, compilers=POOL_WORKERS, is_tuning=True),
)


def measure_tuning(guests: Guests) -> dict[str, Any]:
    """Measure three kernels of chosen duration."""
    rows: dict[str, Any] = {}
    for name, microseconds, count in GPU_KERNELS if guests.is_gpu else CPU_KERNELS:
        try:
            rows[name] = measure_kernel(guests, name, microseconds, count)
        except FAILURES as error:
            rows[name] = {"failed": str(error)}
    return rows


def measure_kernel(guests: Guests, name: str, microseconds: int, count: int) -> dict[str, Any]:
    """Calibrate, record and tune one kernel."""
    work = guests.plain("tuning_kernels", "calibrate", name, str(microseconds)).stdout.strip()
    folder = guests.folder(f"tuning/{name}")
    guests.record(folder, "tuning_kernels", name, work, options=["-mr", "1"])
    found = launches_of(folder)
    if not found:
        raise BenchmarkError(f"the kernel '{name}' was not recorded")
    record, record_id = found[0]
    instance = BaseExecutor(record, record_id).instance
    recorded = ExperimentConfiguration(
        grid=instance.grid_dim, block=instance.block_dim, shared_mem=instance.shared_mem
    )
    configurations = [replace(recorded, passes=text) for text in pipelines(count)]
    serial = measure_launch(
        guests,
        record,
        record_id,
        "--pipelines",
        str(max(2, count // 4)),
        MNEME_CACHE_DIR=str(guests.folder(f"caches/serial-{name}")),
    )
    return {
        "microseconds_wanted": microseconds,
        "work": int(work),
        "one_process": serial,
        **{plan.title: attempt(guests, name, configurations, plan) for plan in RUNS},
    }


def attempt(
    guests: Guests, name: str, configurations: list[ExperimentConfiguration], plan: RunPlan
) -> dict[str, Any]:
    """Run the executor; what fails says why."""
    try:
        return run_executor(guests, name, configurations, plan)
    except (*FAILURES, OSError, subprocess.SubprocessError) as error:
        return {"failed": f"{type(error).__name__}: {error}"}


def run_executor(
    guests: Guests, name: str, configurations: list[ExperimentConfiguration], plan: RunPlan
) -> dict[str, Any]:
    """Evaluate configurations with AsyncReplayExecutor, nothing compiled before."""
    if time.monotonic() > guests.deadline:
        raise BenchmarkError("not measured: the time given to the benchmark is up")
    record, record_id = launches_of(guests.scratch / "tuning" / name)[0]
    tolerances = [Tolerance.parse(TOLERANCES[name])]
    logs = guests.folder("tuning/logs")
    logs.mkdir(parents=True)
    before = os.environ.get("MNEME_CACHE_DIR")
    os.environ["MNEME_CACHE_DIR"] = str(guests.folder("caches/executor"))
    try:
        start = time.perf_counter()
        with AsyncReplayExecutor(
            record,
            record_id,
            plan.iterations,
            logs,
            1,
            plan.warmup,
            device=guests.device,
            timeout=60.0,
            tolerances=tolerances,
            compile_workers=plan.compilers,
        ) as executor:
            first = executor.evaluate(replace(configurations[0], passes="default<O1>"))
            started = time.perf_counter()
            measuring = tuning_measuring(first.median_ns) if plan.is_tuning else None
            # Each is measured, whatever binary it gives, unless this is tuning.
            futures = [
                executor.submit(configuration, measuring=measuring, fresh=not plan.is_tuning)
                for configuration in configurations
            ]
            results = [result for future in futures if (result := future.result()) is not None]
            wall = time.perf_counter() - started
            statistics = executor.statistics
        images = cached_images()
    finally:
        os.environ.pop("MNEME_CACHE_DIR")
        if before is not None:
            os.environ["MNEME_CACHE_DIR"] = before
    if first.failed:
        raise BenchmarkError(f"the first configuration failed: {first.error}")
    busy = sum(result.launched_ns for result in results) * 1e-9
    good = [result for result in results if not result.failed]
    kernel = [min(result.exec_time) * 1e-3 for result in good if result.exec_time]
    return {
        "compile_processes": plan.compilers,
        # One for each configuration and the one before; more where a replay did not find its image.
        "images_compiled": images,
        "launches_per_configuration": sum(r.launches for r in results) / max(1, len(results)),
        "configurations": len(results),
        "per_second": len(results) / wall,
        "until_first_result_seconds": started - start,
        "verified": sum(result.verified for result in good),
        "exact": sum(result.result_class == "exact" for result in good),
        "largest_relative_distance": max((result.max_relative for result in good), default=0.0),
        "failures": len(results) - len(good),
        "first_failure": next((result.error for result in results if result.failed), ""),
        "distinct_binaries": len({result.image_hash for result in good}),
        "kernel_microseconds": spread(kernel) if kernel else None,
        "share_of_wall_in_kernels": busy / wall,
        "reused": statistics.reused,
        "stopped_early": sum(result.stopped_early for result in good),
        "worker_restarts": statistics.worker_restarts,
        "compile_restarts": statistics.compile_restarts,
        "compile_seconds": spread(
            [r.preprocess_ir_time + r.opt_time + r.codegen_time for r in good] or [0.0]
        ),
    }


def tuning_measuring(best_ns: int) -> Measuring:
    """How a tuning session measures: up to 2 %, and no more than it takes to see it is slower."""
    return Measuring(
        confidence=0.02,
        min_iterations=3,
        max_iterations=20,
        stop_above_ns=best_ns,
        classify_wrong=False,
    )


def measure_reference(guests: Guests) -> dict[str, Any]:
    """Record what the existing tool was measured on, or programs of the same size."""
    # Three float arrays, stored raw once and the result twice, are the 359 MB of the other tool. The
    # content of the example is periodic; the random one cannot be compressed.
    elements = 22_437_500 if guests.is_gpu else 1 << 20
    edge = "64" if guests.is_gpu else "16"
    rows: dict[str, Any] = {"existing_tool": REFERENCE}
    rows["help_seconds"] = repeated(5, lambda: guests.mneme("--help").seconds)
    for title, name, *arguments in (
        ("vector_add", "vector_add", str(elements)),
        ("vector_add_random", "vector_add_random", str(elements)),
        ("finite_elements", "fe_cg", edge, "50"),
    ):
        try:
            rows[title] = measure_recording(guests, name, arguments)
        except FAILURES as error:
            rows[title] = {"failed": str(error)}
    return rows


def measure_recording(guests: Guests, name: str, arguments: list[str]) -> dict[str, Any]:
    """What recording adds to the wall time of a program, and what it stores."""
    plain = repeated(guests.repeats, lambda: guests.plain(name, *arguments).seconds)
    folder = guests.folder(f"reference/{name}")
    recorded, summary = [], ""
    for _ in range(guests.repeats):
        folder = guests.folder(f"reference/{name}")
        run = guests.record(folder, name, *arguments)
        recorded.append(run.seconds)
        summary = run.stderr.strip()
    record, record_id = launches_of(folder)[0]
    replays = repeated(guests.repeats, lambda: guests.replay(record, record_id).seconds)
    return {
        "arguments": arguments,
        "plain_seconds": plain,
        "recorded_seconds": spread(recorded),
        "recording_adds_seconds": spread(recorded)["median"] - plain["median"],
        "bytes": sizes_of(folder),
        "recorder_says": summary.splitlines(),
        "replay_command_seconds": replays,
    }


def cached_images() -> int:
    """Entries of the compile cache."""
    return sum(1 for _ in Path(os.environ["MNEME_CACHE_DIR"]).glob("*.mnemec"))
