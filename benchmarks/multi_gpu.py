"""How tuning scales with the GPUs of one node.

    python benchmarks/multi_gpu.py               # 1, 2 and 4 GPUs, as many as there are
    python benchmarks/multi_gpu.py --device cpu  # 1 and 2 workers on the CPU device

For each number of GPUs as many more configurations, compiling processes and cores of the machine;
nothing is compiled before. One parent process drives all.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from common import BUILD, PROGRAMS, RESULTS, write_results
from gpu_tuning import TOLERANCES
from guests import BenchmarkError, Guests, launches_of
from replay_loop import pipelines

from mneme.devices import choose_device, list_devices
from mneme.measure.async_executor import AsyncReplayExecutor
from mneme.measure.replay_executor import BaseExecutor
from mneme.measure.tolerance import Tolerance
from mneme.mneme_types import ExperimentConfiguration

# Kernel, duration in microseconds, configurations for each GPU.
GPU_KERNELS = (("forces", 57, 2000), ("lattice", 14_000, 60))
# Cores of a GPU, of which two are for its worker and a share of the parent process.
CORES_PER_GPU = 16
COMPILERS_PER_GPU = CORES_PER_GPU - 2
CPU_KERNELS = (("forces", 500, 12),)


def recorded(guests: Guests, name: str, microseconds: int) -> tuple[Path, str]:
    """Record one launch of about this duration."""
    work = guests.plain("tuning_kernels", "calibrate", name, str(microseconds)).stdout.strip()
    folder = guests.folder(f"multi/{name}")
    guests.record(folder, "tuning_kernels", name, work, options=["-mr", "1"])
    found = launches_of(folder)
    if not found:
        raise BenchmarkError(f"the kernel '{name}' was not recorded")
    return found[0]


def measure(
    guests: Guests, name: str, launch: tuple[Path, str], gpus: int, count: int
) -> dict[str, Any]:
    """Evaluate `count` configurations for each GPU."""
    instance = BaseExecutor(*launch).instance
    first = ExperimentConfiguration(
        grid=instance.grid_dim, block=instance.block_dim, shared_mem=instance.shared_mem
    )
    configurations = [replace(first, passes=text) for text in pipelines(count * gpus)]
    compilers = COMPILERS_PER_GPU * gpus if guests.is_gpu else 0
    # On some machines cores are faster while others are idle.
    cores = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, cores[: CORES_PER_GPU * gpus])
    try:
        return evaluate(guests, name, launch, gpus, configurations, compilers)
    finally:
        os.sched_setaffinity(0, cores)


def evaluate(  # noqa: PLR0913, PLR0917
    guests: Guests,
    name: str,
    launch: tuple[Path, str],
    gpus: int,
    configurations: list[ExperimentConfiguration],
    compilers: int,
) -> dict[str, Any]:
    """Evaluate configurations in fresh processes with a cache of their own."""
    first = configurations[0]
    logs = guests.folder("multi/logs")
    logs.mkdir(parents=True)
    os.environ["MNEME_CACHE_DIR"] = str(guests.folder(f"multi/cache-{name}-{gpus}"))
    options: dict[str, Any] = {} if guests.is_gpu else {"device": "cpu"}
    with AsyncReplayExecutor(
        *(*launch, 5, logs, gpus, 2),
        timeout=60.0,
        tolerances=[Tolerance.parse(TOLERANCES[name])],
        compile_workers=compilers,
        **options,
    ) as executor:
        # Every worker has its device open, and every compiler the module, before the clock starts.
        passes = replace(first, passes="default<O1>")
        warm = [executor.submit(passes, fresh=True, worker=number) for number in range(gpus)]
        others = pipelines(4 * compilers, seed=1)
        warm += [executor.submit(replace(first, passes=text)) for text in others]
        for future in warm:
            future.result()
        begin = time.perf_counter()
        # Each is measured, whatever binary it gives.
        futures = [executor.submit(one, fresh=True) for one in configurations]
        results = [result for future in futures if (result := future.result()) is not None]
        wall = time.perf_counter() - begin
    return {
        "gpus": gpus,
        "compile_processes": compilers,
        "configurations": len(results),
        "per_second": len(results) / wall,
        "device_busy_share": sum(result.launched_ns for result in results) * 1e-9 / wall / gpus,
        "failures": sorted(result.error[:200] for result in results if result.failed),
        "verified": sum(result.verified for result in results),
        "by_gpu": {
            str(gpu): sum(result.gpu_id == gpu for result in results)
            for gpu in sorted({result.gpu_id for result in results})
        },
        "launched_seconds_by_gpu": {
            str(gpu): sum(one.launched_ns for one in results if one.gpu_id == gpu) * 1e-9
            for gpu in sorted({result.gpu_id for result in results})
        },
        "longest_seconds": max(result.launched_ns for result in results) * 1e-9,
    }


def main() -> int:
    """Measure and write the result."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default=None)
    parser.add_argument("--output", type=Path, default=RESULTS / "multi_gpu.jsonl")
    options = parser.parse_args()
    device = choose_device(options.device)
    scratch = Path(tempfile.mkdtemp(prefix="mneme-multi-"))
    guests = Guests(device=device, examples=BUILD / "examples", programs=PROGRAMS, scratch=scratch)
    there = sum(each.is_available and each.id.startswith("cuda:") for each in list_devices())
    numbers = [n for n in (1, 2, 4, 8) if n <= (there if guests.is_gpu else 2)]
    results: list[dict[str, Any]] = []
    for name, microseconds, count in GPU_KERNELS if guests.is_gpu else CPU_KERNELS:
        launch = recorded(guests, name, microseconds)
        rows = [measure(guests, name, launch, gpus, count) for gpus in numbers]
        for row in rows:
            row["speedup"] = row["per_second"] / rows[0]["per_second"]
            print(
                f"{name:10} {row['gpus']} GPU(s): {row['per_second']:8.1f} configurations/s, "
                f"{row['speedup']:.2f} x, {len(row['failures'])} failures, {row['by_gpu']}"
            )
        about = {"kernel": name, "microseconds_wanted": microseconds}
        results += [{**about, **row} for row in rows]
        write_results(options.output, "configurations per second by GPUs", results, device=device)
    shutil.rmtree(scratch, ignore_errors=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
