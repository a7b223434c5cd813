"""What tests of the executor of replays share: a recording, executors of it, what they wait for."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from mneme.async_executor import AsyncReplayExecutor, EvalFuture, as_completed
from mneme.inventory import find_record
from mneme.mneme_types import ExperimentConfiguration, ExperimentResult
from mneme.recorded_execution import RecordedExecution

PROGRAM = Path(os.environ.get("MNEME_BUILD_DIR", "build")) / "examples" / "vector_add"
FOREVER = 1_000_000_000  # launches
BOUND_SECONDS = 60.0
Make = Callable[..., AsyncReplayExecutor]


@pytest.fixture(scope="session")
def record(tmp_path_factory: pytest.TempPathFactory) -> RecordedExecution:
    path = tmp_path_factory.mktemp("recording")
    line = ("record", "-rdb", path, "--device", "cpu", "--", PROGRAM, "4096")
    subprocess.run([sys.executable, "-m", "mneme", *map(str, line)], check=True, timeout=60)
    return find_record(path)


@pytest.fixture(scope="session")
def config(record: RecordedExecution) -> ExperimentConfiguration:
    (instance,) = record.values()
    return ExperimentConfiguration(
        grid=instance.grid_dim, block=instance.block_dim, passes="default<O1>"
    )


@pytest.fixture
def make(record: RecordedExecution, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Make:
    monkeypatch.setenv("MNEME_CACHE_DIR", str(tmp_path / "cache"))

    def executor(
        *,
        compilers: int = 0,
        workers: int = 1,
        timeout: float | None = None,
        compile_timeout: float = BOUND_SECONDS,
        startup: int = 3,
    ) -> AsyncReplayExecutor:
        return AsyncReplayExecutor(
            record.path,
            None,
            1,
            tmp_path,
            workers,
            0,
            startup,
            device="cpu",
            timeout=timeout,
            compile_workers=compilers,
            compile_timeout=compile_timeout,
        )

    return executor


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
