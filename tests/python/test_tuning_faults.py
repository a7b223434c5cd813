"""What goes wrong while tuning costs the configuration it happens to, and no other."""

from __future__ import annotations

import os
import random
import re
import signal
import threading
import time
from dataclasses import replace
from importlib import import_module
from pathlib import Path

import pytest

from executor_parts import BOUND_SECONDS, FOREVER, Make, different, is_gone, results_of
from mneme.mneme_types import ExperimentConfiguration
from native_parts import needs_native

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

pytest_plugins = ["executor_fixtures"]
pytestmark = [pytest.mark.compile, needs_native]


@pytest.fixture
def crashing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let processes crash on one pipeline."""
    for module in ("worker_process", "compile_pool"):
        command = getattr(import_module(f"mneme.measure.{module}"), "_COMMAND")  # noqa: B009
        monkeypatch.setattr(f"mneme.measure.{module}._COMMAND", CRASHING + command)


@pytest.fixture
def losing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let one pipeline make kernels that cost a process its device."""
    command = getattr(import_module("mneme.measure.worker_process"), "_COMMAND")  # noqa: B009
    monkeypatch.setattr("mneme.measure.worker_process._COMMAND", LOSING + command)


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


@pytest.mark.alone
@pytest.mark.parametrize("compilers", [0, 1])
def test_passes_without_end_cost_themselves(
    compilers: int, make: Make, config: ExperimentConfiguration
) -> None:
    with make(compilers=compilers, timeout=1.0, compile_timeout=1.0) as executor:
        late = executor.submit(replace(config, passes=ENDLESS))
        results = results_of([late, *(executor.submit(one) for one in different(config, 3))])
    assert [result.verified for result in results] == [False, True, True, True]
    assert "longer than 1 s" in results[0].error or "timed out after 1.0 s" in results[0].error


def test_what_takes_much_longer_than_all_before_can_be_ended(
    make: Make, config: ExperimentConfiguration
) -> None:
    with make(compilers=0, timeout=None) as executor:
        (quick,) = results_of([executor.submit(config)])
        late = executor.submit(replace(config, passes=ENDLESS))
        behind = executor.submit(replace(config, shared_mem=16))
        for least, factor in ((FOREVER, 1.0), (0.5, FOREVER), (0.5, 1.0)):
            is_enough = least < FOREVER and factor < FOREVER
            began = time.monotonic()
            while not late.done() and time.monotonic() - began < (60 if is_enough else 1):
                executor.end_hanging(least, factor)
                time.sleep(0.05)
            assert late.done() == is_enough
        results = [quick, *results_of([late, behind])]
    assert [result.verified for result in results] == [True, False, True]
    assert re.search(r"timed out after \d+\.\d s", results[1].error)
    assert results[1].worker_died


@pytest.mark.alone
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


@pytest.mark.alone
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


@pytest.mark.alone
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
    monkeypatch.setattr("mneme.measure.worker_process._COMMAND", "raise SystemExit(3)")
    start = time.monotonic()
    with make(workers=2) as executor:
        futures = [executor.submit(one) for one in different(config, 200)]
        for future in futures:
            with pytest.raises(Exception, match="cannot start: it ended with exit code 3"):
                future.result(BOUND_SECONDS)
        monkeypatch.undo()
        assert executor.evaluate(config).verified  # whatever it was may have passed
    assert time.monotonic() - start < BOUND_SECONDS


def test_a_mistake_of_ours_leaves_nobody_waiting(
    make: Make, config: ExperimentConfiguration, monkeypatch: pytest.MonkeyPatch
) -> None:
    with make() as executor:
        assert executor.evaluate(config).verified
        monkeypatch.setattr(executor._engine, "_finish", None)
        future = executor.submit(replace(config, passes="default<O2>"))
        with pytest.raises(Exception, match="the executor failed"):
            future.result(BOUND_SECONDS)
