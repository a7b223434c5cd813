"""How many configurations a second are tried on the CPU device, and what the executor costs.

    python benchmarks/tuning_throughput.py

Measures a tiny, a medium and a long kernel with 0, 1 and 2 compile workers, nothing compiled before and then
once more with the cache full; how fast a killed worker is replaced; and, with processes that answer
at once, how many configurations the one Python process of an executor can hand out.
"""

from __future__ import annotations

import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import stub_processes
from common import BUILD, publish
from replay_loop import pipelines

from mneme.measure.async_executor import AsyncReplayExecutor
from mneme.mneme_types import ExperimentConfiguration
from mneme.recording.inventory import find_record

if TYPE_CHECKING:
    from mneme.mneme_types import ExperimentResult
    from mneme.recording.recorded_execution import RecordedExecution

# Example with its arguments, configurations.
KERNELS = {
    "tiny": (("vector_add", "4096"), 120),
    "medium": (("stencil2d",), 120),
    "long": (("nbody", "4096", "1"), 30),
}
COMPILERS = (0, 1, 2)
ITERATIONS, WARMUP = 5, 2
KILLS = 5
# Workers, compile workers, configurations.
IRS = (b"1" * (64 << 10), b"2" * (64 << 10))
STUBS = ((1, 0, 4000), (1, 2, 4000), (2, 2, 4000), (4, 4, 4000))


def recorded(scratch: Path, name: str, program: tuple[str, ...]) -> RecordedExecution:
    """Record an example on the CPU device."""
    folder = scratch / name
    guest = [str(BUILD / "examples" / program[0]), *program[1:]]
    line = [sys.executable, "-m", "mneme", "record", "-rdb", str(folder), "-mr", "1"]
    subprocess.run(
        [*line, "--device", "cpu", "--", *guest], check=True, stdout=subprocess.DEVNULL, timeout=120
    )
    return find_record(folder)


def configuration_of(record: RecordedExecution) -> ExperimentConfiguration:
    """Return the recorded launch's configuration."""
    instance = next(iter(record.values()))
    return ExperimentConfiguration(
        grid=instance.grid_dim, block=instance.block_dim, shared_mem=instance.shared_mem
    )


def open_executor(
    record: RecordedExecution, logs: Path, compilers: int, workers: int = 1
) -> AsyncReplayExecutor:
    """Make the executor that is measured."""
    return AsyncReplayExecutor(
        record.path,
        next(iter(record)),
        ITERATIONS,
        logs,
        workers,
        WARMUP,
        device="cpu",
        compile_workers=compilers,
    )


def images(cache: Path) -> int:
    """Return how many compiled images there are."""
    return sum(1 for _ in cache.glob("*.mnemec"))


def middle_time(results: list[ExperimentResult]) -> float:
    """Return the median of the kernel's times, in microseconds."""
    return median(result.median_ns for result in results if result.verified) * 1e-3


def measure(
    record: RecordedExecution, count: int, compilers: int, cache: Path, logs: Path
) -> dict[str, Any]:
    """Evaluate configurations; the first, which opens everything, is not counted."""
    os.environ["MNEME_CACHE_DIR"] = str(cache)
    first = configuration_of(record)
    with open_executor(record, logs, compilers) as executor:
        executor.evaluate(replace(first, passes="default<O1>"))
        before = images(cache)
        busy = executor.statistics.device_busy_seconds
        start = time.perf_counter()
        futures = [executor.submit(replace(first, passes=text)) for text in pipelines(count)]
        results = [result for future in futures if (result := future.result()) is not None]
        wall = time.perf_counter() - start
        statistics = executor.statistics
    return {
        "configurations": len(results),
        "per_second": len(results) / wall,
        "verified": sum(result.verified for result in results),
        "kernel_microseconds": middle_time(results),
        "measured": statistics.measured - 1,
        "reused": statistics.reused,
        "cache_hits": len(results) - (images(cache) - before),
        "share_of_wall_in_kernels": (statistics.device_busy_seconds - busy) / wall,
    }


def measure_kernel(scratch: Path, name: str) -> dict[str, Any]:
    """Measure one kernel with an empty and with a full cache."""
    program, count = KERNELS[name]
    record = recorded(scratch, name, program)
    rows: dict[str, Any] = {"program": " ".join(program)}
    for compilers in COMPILERS:
        cache = scratch / f"cache-{name}-{compilers}"
        for state in ("cache_empty", "cache_full"):
            title = f"compile_workers_{compilers}_{state}"
            rows[title] = measure(record, count, compilers, cache, scratch)
    return rows


def measure_replacement(record: RecordedExecution, logs: Path) -> dict[str, float]:
    """Kill an idle worker, and see when the next result comes."""
    first = configuration_of(record)
    seconds: list[float] = []
    with open_executor(record, logs, 0) as executor:
        executor.evaluate(first)
        start = time.perf_counter()
        executor.evaluate(first, fresh=True)
        alone = time.perf_counter() - start
        for _ in range(KILLS):
            os.kill(executor.workers[0].pid or 0, signal.SIGKILL)
            # What meets the dead process is lost with it; what comes after that is not.
            start = time.perf_counter()
            while executor.evaluate(first, fresh=True).failed:
                pass
            seconds.append(time.perf_counter() - start - alone)
    return {"median": sorted(seconds)[len(seconds) // 2], "largest": max(seconds)}


def measure_parent(
    record: RecordedExecution, logs: Path, irs: tuple[bytes | None, ...]
) -> dict[str, Any]:
    """Configurations per second, and processor time of each in the process of the executor."""
    rows = {}
    first = configuration_of(record)
    for workers, compilers, count in STUBS:
        with open_executor(record, logs, compilers, workers) as executor:
            executor.evaluate(first)
            before = resource.getrusage(resource.RUSAGE_SELF)
            start = time.perf_counter()
            futures = []
            for number in range(count):
                executor.set_ir(irs[number % len(irs)])
                futures.append(executor.submit(replace(first, passes=f"default<O3>,pass{number}")))
            for future in futures:
                future.result()
            wall = time.perf_counter() - start
            after = resource.getrusage(resource.RUSAGE_SELF)
        used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        rows[f"workers_{workers}_compile_workers_{compilers}"] = {
            "per_second": count / wall,
            "parent_microseconds_each": used / count * 1e6,
        }
    return rows


def main() -> None:
    """Measure and write the result."""
    scratch = Path(tempfile.mkdtemp(prefix="mneme-throughput-"))
    numbers: dict[str, Any] = {"load_before": os.getloadavg()}
    for name in KERNELS:
        numbers |= {f"{name}, {key}": row for key, row in measure_kernel(scratch, name).items()}
    record = find_record(scratch / "tiny")
    numbers["seconds_to_replace_a_killed_worker"] = measure_replacement(record, scratch)
    with (
        patch("mneme.measure.worker_process._COMMAND", stub_processes.WORKER),
        patch("mneme.measure.compile_pool._COMMAND", stub_processes.COMPILER),
    ):
        for name, irs in (("stub_processes", (None,)), ("stub_processes_other_ir_each", IRS)):
            rows = measure_parent(record, scratch, irs)
            numbers |= {f"{name}, {key}": row for key, row in rows.items()}
    numbers["load_after"] = os.getloadavg()
    publish(
        "tuning_throughput",
        "AsyncReplayExecutor on the CPU device: configurations per second of different pass "
        f"pipelines, {WARMUP} warm-ups and {ITERATIONS} measured launches each. cache_hits: "
        "configurations whose image was in the compile cache. reused: the binary was measured "
        "already. stub_processes: workers and compile workers that answer at once; other_ir_each: two "
        "other IRs of 64 KiB in turn",
        numbers,
    )
    shutil.rmtree(scratch, ignore_errors=True)


if __name__ == "__main__":
    main()
