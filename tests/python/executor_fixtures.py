"""Fixtures of tests of the executor of replays: a recording, and executors of it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from executor_parts import BOUND_SECONDS, PROGRAM, Make
from mneme.measure.async_executor import AsyncReplayExecutor
from mneme.mneme_types import ExperimentConfiguration
from mneme.recording.inventory import find_record
from mneme.recording.recorded_execution import RecordedExecution


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
