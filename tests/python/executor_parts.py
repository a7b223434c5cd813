"""What tests of the executor of replays share beside fixtures."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from mneme.measure.async_executor import AsyncReplayExecutor, EvalFuture, as_completed
from mneme.mneme_types import ExperimentConfiguration, ExperimentResult

PROGRAM = Path(os.environ.get("MNEME_BUILD_DIR", "build")) / "examples" / "vector_add"
FOREVER = 1_000_000_000  # launches
BOUND_SECONDS = 60.0
Make = Callable[..., AsyncReplayExecutor]


def different(config: ExperimentConfiguration, count: int) -> list[ExperimentConfiguration]:
    """Configurations of which each has another launch, so that each has to be measured."""
    return [replace(config, shared_mem=16 * number) for number in range(count)]


def results_of(futures: list[EvalFuture]) -> list[ExperimentResult]:
    for _ in as_completed(futures, BOUND_SECONDS):
        pass
    results = [future.result() for future in futures]
    return [result for result in results if result is not None]


def is_gone(pid: int) -> bool:
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        try:
            if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
                return True
        except FileNotFoundError:
            return True
        time.sleep(0.02)
    return False
