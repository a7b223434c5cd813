"""However tuning ends, what was measured is kept and nothing is left running."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from executor_parts import BOUND_SECONDS, FOREVER, Make, different, is_gone, results_of
from mneme.errors import InvalidArgument
from mneme.mneme_types import ExperimentConfiguration
from mneme.recording.recorded_execution import RecordedExecution
from native_parts import needs_native

pytest_plugins = ["executor_fixtures"]
pytestmark = [pytest.mark.compile, needs_native]


def test_shutdown_finishes_what_is_queued(make: Make, config: ExperimentConfiguration) -> None:
    executor = make(compilers=1, workers=2)
    futures = [executor.submit(one) for one in different(config, 20)]
    executor.shutdown()
    executor.shutdown()
    assert all(future.done() for future in futures)
    assert all(result.verified for result in results_of(futures))
    with pytest.raises(InvalidArgument, match="shut down"):
        executor.submit(config)


def test_processes_start_before_there_is_work_and_end_behind_the_caller_s_back(
    make: Make, config: ExperimentConfiguration
) -> None:
    executor = make(compilers=1, workers=1)
    executor.prepare()
    deadline = time.monotonic() + BOUND_SECONDS
    while not executor.workers[0].is_ready and time.monotonic() < deadline:
        time.sleep(0.01)
    assert executor.workers[0].is_ready
    queued = executor.submit(config)
    executor.shutdown(wait=False)
    result = queued.result(BOUND_SECONDS)
    assert result is not None
    assert result.verified
    with pytest.raises(InvalidArgument, match="shut down"):
        executor.submit(config)
    executor.shutdown()
    assert not executor.compiler_pids
    assert executor.workers[0].pid is None


def test_cancelling_while_busy_ends_soon_and_keeps_results(
    make: Make, config: ExperimentConfiguration
) -> None:
    executor = make(workers=2)
    done = executor.submit(config)
    assert done.result(BOUND_SECONDS) is not None
    futures = [executor.submit(one, iterations=FOREVER) for one in different(config, 6)]
    while not any(worker.load for worker in executor.workers):
        time.sleep(0.01)
    pids = [worker.pid or 0 for worker in executor.workers]
    start = time.monotonic()
    executor.shutdown(cancel=True)
    assert time.monotonic() - start < BOUND_SECONDS
    kept = done.result(0)
    assert kept is not None
    assert kept.verified
    assert all(future.done() for future in futures)
    with pytest.raises(InvalidArgument, match="shut down before this ran"):
        futures[-1].result(0)
    assert all(is_gone(pid) for pid in pids)


def test_interrupt_of_the_terminal_keeps_results(record: RecordedExecution, tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(f"""
import sys
sys.path.insert(0, {str(Path(__file__).parent)!r})
from executor_parts import FOREVER, different
from mneme.measure.async_executor import AsyncReplayExecutor
from mneme.mneme_types import ExperimentConfiguration
from mneme.recording.recorded_execution import RecordedExecution

record = RecordedExecution.from_json({str(record.path)!r})
(one,) = record.values()
config = ExperimentConfiguration(grid=one.grid_dim, block=one.block_dim)
futures = []
try:
    with AsyncReplayExecutor(record.path, None, 1, {str(tmp_path)!r}, 1, 0, device="cpu") as pool:
        futures = [pool.submit(one) for one in different(config, 5)]
        for future in futures:
            future.result()
        print(pool.workers[0].pid, flush=True)
        futures += [pool.submit(one, iterations=FOREVER) for one in different(config, 5)]
        futures[-1].result()
except KeyboardInterrupt:
    done = [future.result(0) for future in futures[:5]]
    print(sum(result.verified for result in done), flush=True)
""")
    with subprocess.Popen(
        [sys.executable, str(script)], stdout=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        assert process.stdout is not None
        pid = int(process.stdout.readline())
        os.killpg(process.pid, signal.SIGINT)  # as the terminal does
        start = time.monotonic()
        assert process.stdout.readline() == "5\n"
        assert process.wait(BOUND_SECONDS) == 0
    assert time.monotonic() - start < BOUND_SECONDS
    assert is_gone(pid)
