"""What goes wrong while tuning costs the configuration it happens to, and no other."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from pathlib import Path

import pytest

from mneme.async_executor import AsyncReplayExecutor, EvalFuture, as_completed
from mneme.errors import InvalidArgument
from mneme.inventory import find_record
from mneme.mneme_types import ExperimentConfiguration, ExperimentResult
from mneme.recorded_execution import RecordedExecution
from native_parts import needs_native

PROGRAM = Path(os.environ.get("MNEME_BUILD_DIR", "build")) / "examples" / "vector_add"
# What LLVM survives.
ABORT = "default<O1>,trigger-crash-module"
# What the processes of this test do not survive.
CRASH = "default<O1>,sink,adce,sink"
CRASHING = f"""
import os, signal
from mneme import _native
def crashing(native):
    def call(self, text, *rest, **more):
        if {CRASH!r} in text:
            os.kill(os.getpid(), signal.SIGSEGV)
        return native(self, text, *rest, **more)
    return call
_native.RecordedCode.compile = crashing(_native.RecordedCode.compile)
_native.ReplaySession.build = crashing(_native.ReplaySession.build)
"""
LOSING = f"""
import json
from mneme import _native
def losing(native):
    def call(self, text, *rest):
        result, *others = native(self, text, *rest)
        if {CRASH!r} in text:
            result = json.dumps(json.loads(result) | {{"failed": True, "device_usable": False}})
        return (result, *others)
    return call
_native.ReplaySession.run = losing(_native.ReplaySession.run)
"""
# Minutes of work.
ENDLESS = ",".join(["default<O3>"] * 5000)
FOREVER = 1_000_000_000  # launches
BOUND_SECONDS = 60.0

pytestmark = [pytest.mark.compile, needs_native]
Make = Callable[..., AsyncReplayExecutor]


@pytest.fixture(scope="module")
def record(tmp_path_factory: pytest.TempPathFactory) -> RecordedExecution:
    path = tmp_path_factory.mktemp("recording")
    line = ("record", "-rdb", path, "--device", "cpu", "--", PROGRAM, "4096")
    subprocess.run([sys.executable, "-m", "mneme", *map(str, line)], check=True, timeout=60)
    return find_record(path)


@pytest.fixture(scope="module")
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


@pytest.fixture
def crashing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let processes crash on one pipeline."""
    for module in ("_worker_process", "_compile_pool"):
        command = getattr(import_module(f"mneme.{module}"), "_COMMAND")  # noqa: B009
        monkeypatch.setattr(f"mneme.{module}._COMMAND", CRASHING + command)


@pytest.fixture
def losing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let one pipeline make kernels that cost a process its device."""
    command = getattr(import_module("mneme._worker_process"), "_COMMAND")  # noqa: B009
    monkeypatch.setattr("mneme._worker_process._COMMAND", LOSING + command)


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


@pytest.mark.parametrize(
    ("compilers", "says"),
    [(1, "The compiler crashed (signal 11)"), (0, "Worker crashed (exit code: -11)")],
)
def test_passes_that_crash_the_compiler_cost_themselves(
    compilers: int, says: str, crashing: None, make: Make, config: ExperimentConfiguration
) -> None:
    configs = different(config, 12)
    for number in range(0, 12, 2):
        configs[number] = replace(configs[number], passes=CRASH + ",dse" * number)
    with make(compilers=compilers) as executor:
        results = results_of([executor.submit(one) for one in configs])
        statistics = executor.statistics
    assert [result.verified for result in results] == [False, True] * 6
    assert all(result.error.startswith(says) for result in results[::2])
    assert all(result.worker_died == (compilers == 0) for result in results[::2])
    assert statistics.worker_restarts + statistics.compile_restarts == 6
    assert (statistics.finished, statistics.failures) == (12, 6)


@pytest.mark.parametrize("compilers", [0, 1])
def test_passes_that_abort_cost_no_process(
    compilers: int, make: Make, config: ExperimentConfiguration
) -> None:
    with make(compilers=compilers) as executor:
        results = results_of(
            [executor.submit(replace(config, passes=ABORT)), executor.submit(config)]
        )
        statistics = executor.statistics
    assert [result.verified for result in results] == [False, True]
    assert "aborted" in results[0].error
    assert (statistics.worker_restarts, statistics.compile_restarts) == (0, 0)


@pytest.mark.parametrize("compilers", [0, 1])
def test_passes_without_end_cost_themselves(
    compilers: int, make: Make, config: ExperimentConfiguration
) -> None:
    with make(compilers=compilers, timeout=1.0, compile_timeout=1.0) as executor:
        late = executor.submit(replace(config, passes=ENDLESS))
        results = results_of([late, *(executor.submit(one) for one in different(config, 3))])
    assert [result.verified for result in results] == [False, True, True, True]
    assert "longer than 1 s" in results[0].error or "timed out after 1.0 s" in results[0].error


@pytest.mark.parametrize("fault", ["trap", "infinite loop", "illegal address"])
def test_kernels_that_fail_cost_themselves(
    fault: str, make: Make, config: ExperimentConfiguration, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).resolve().parents[1]))
    from gpu.fault_kernels import FAULTS  # noqa: PLC0415 - beside this directory

    with make(timeout=1.0) as executor:
        before = executor.submit(config)
        executor.set_ir(FAULTS[fault])
        failing = [executor.submit(config), executor.submit(config)]
        executor.set_ir(None)
        after = executor.submit(replace(config, shared_mem=16))
        results = results_of([before, *failing, after])
    assert [result.verified for result in results] == [True, False, False, True]
    assert all(result.failed and result.error for result in results[1:3])
    assert not results[2].reused  # failures are not


@pytest.mark.parametrize("compilers", [0, 1])
def test_who_waits_for_a_measurement_that_fails_is_measured(
    compilers: int, make: Make, config: ExperimentConfiguration
) -> None:
    with make(compilers=compilers, timeout=1.0) as executor:
        assert executor.evaluate(config).verified
        # Equal binaries: while the first hangs, the others wait for it, and one follows it.
        futures = [
            executor.submit(replace(config, passes=passes), iterations=FOREVER)
            for passes in ("default<O2>", "default<O2>,adce")
        ]
        after = executor.submit(config)
        results = results_of([*futures, after])
    assert [result.worker_died for result in results] == [True, True, False]
    assert results[2].verified


def test_a_worker_that_stands_still_is_replaced(
    make: Make, config: ExperimentConfiguration
) -> None:
    with make(timeout=1.0) as executor:
        assert executor.evaluate(config).verified
        pid = executor.workers[0].pid
        os.kill(pid or 0, signal.SIGSTOP)
        results = results_of([executor.submit(one, fresh=True) for one in different(config, 3)])
        assert executor.workers[0].pid != pid
    assert [result.verified for result in results] == [False, True, True]
    assert results[0].worker_died


@pytest.mark.parametrize("compilers", [0, 2])
def test_processes_killed_at_random_cost_what_they_do(
    compilers: int, make: Make, config: ExperimentConfiguration
) -> None:
    source = random.Random(7)
    kills = 0
    pipelines = [f"default<O{1 + number % 3}>" + ",adce" * (number // 3) for number in range(60)]
    configs = [
        replace(config, passes=passes, shared_mem=16 * number)
        for number, passes in enumerate(pipelines)
    ]
    start = time.monotonic()
    with make(compilers=compilers, workers=2) as executor:
        futures = [executor.submit(one) for one in configs]
        done = threading.Event()
        futures[-1].add_done_callback(lambda _: done.set())
        for future in futures[:40:5]:
            future.result(BOUND_SECONDS)
            pids = [*executor.compiler_pids, *(worker.pid or 0 for worker in executor.workers)]
            pid = source.choice(pids)
            if pid:
                os.kill(pid, signal.SIGKILL)
                kills += 1
        results = results_of(futures)
    assert time.monotonic() - start < BOUND_SECONDS
    failed = [result for result in results if not result.verified]
    assert kills > 0
    assert len(results) == 60
    assert len(failed) <= kills
    assert all("crashed" in result.error for result in failed)


def test_many_crashes_in_a_row_are_gone_through(
    crashing: None, make: Make, config: ExperimentConfiguration
) -> None:
    configs = [replace(one, passes=CRASH) for one in different(config, 12)]
    start = time.monotonic()
    with make() as executor:
        futures = [executor.submit(one) for one in configs]
        last = executor.submit(config)
        results = results_of([*futures, last])
        assert executor.statistics.worker_restarts == 12
    assert time.monotonic() - start < BOUND_SECONDS
    assert [result.worker_died for result in results] == [True] * 12 + [False]
    assert results[-1].verified


def test_after_a_crash_a_spare_process_is_there_for_the_next(
    crashing: None, make: Make, config: ExperimentConfiguration
) -> None:
    configs = [replace(one, passes=CRASH) for one in different(config, 2)]
    with make(workers=1) as executor:
        (worker,) = executor.workers
        assert executor.evaluate(config).verified
        assert worker.spare_pid is None
        assert executor.evaluate(configs[0]).worker_died
        assert executor.evaluate(replace(config, passes="default<O1>")).verified
        spare = worker.spare_pid
        assert spare is not None
        assert spare != worker.pid
        assert executor.evaluate(configs[1]).worker_died
        assert executor.evaluate(replace(config, passes="default<O2>")).verified
        assert worker.pid == spare
        last = worker.spare_pid
    assert is_gone(spare)
    assert last is None or is_gone(last)


def test_a_process_whose_device_is_lost_is_replaced_at_once(
    losing: None, make: Make, config: ExperimentConfiguration
) -> None:
    configs = [replace(one, passes=CRASH) for one in different(config, 4)]
    with make(workers=1) as executor:
        (worker,) = executor.workers
        futures = [executor.submit(one) for one in (*configs, config)]
        results = results_of(futures)
        assert executor.statistics.worker_restarts == 4
        pid = worker.pid
    assert [result.device_usable for result in results] == [False] * 4 + [True]
    assert [result.worker_died for result in results] == [False] * 5
    assert results[-1].verified
    assert pid is None or is_gone(pid)


def test_a_worker_that_never_starts_fails_everything_soon(
    make: Make, config: ExperimentConfiguration, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mneme._worker_process._COMMAND", "raise SystemExit(3)")
    start = time.monotonic()
    with make(workers=2) as executor:
        futures = [executor.submit(one) for one in different(config, 200)]
        for future in futures:
            with pytest.raises(Exception, match="cannot start: it ended with exit code 3"):
                future.result(BOUND_SECONDS)
        monkeypatch.undo()
        assert executor.evaluate(config).verified  # whatever it was may have passed
    assert time.monotonic() - start < BOUND_SECONDS


def test_shutdown_finishes_what_is_queued(make: Make, config: ExperimentConfiguration) -> None:
    executor = make(compilers=1, workers=2)
    futures = [executor.submit(one) for one in different(config, 20)]
    executor.shutdown()
    executor.shutdown()
    assert all(future.done() for future in futures)
    assert all(result.verified for result in results_of(futures))
    with pytest.raises(InvalidArgument, match="shut down"):
        executor.submit(config)


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
    assert time.monotonic() - start < 10
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
from test_tuning_faults import FOREVER, different
from mneme.async_executor import AsyncReplayExecutor
from mneme.mneme_types import ExperimentConfiguration
from mneme.recorded_execution import RecordedExecution

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
    assert time.monotonic() - start < 10
    assert is_gone(pid)


def test_a_mistake_of_ours_leaves_nobody_waiting(
    make: Make, config: ExperimentConfiguration, monkeypatch: pytest.MonkeyPatch
) -> None:
    with make() as executor:
        assert executor.evaluate(config).verified
        monkeypatch.setattr(executor._engine, "_finish", None)
        future = executor.submit(replace(config, passes="default<O2>"))
        with pytest.raises(Exception, match="the executor failed"):
            future.result(BOUND_SECONDS)
