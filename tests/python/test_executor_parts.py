"""What is compiled once, measured once, and who is next."""

from __future__ import annotations

import gc
import json
import sys
import threading
from dataclasses import replace

import pytest

from mneme.measure.compile_pool import CodeTarget, CompileRequest
from mneme.measure.content import Content
from mneme.measure.eval_future import EvalFuture, as_completed
from mneme.measure.interpreter_settings import _Shared, _switch_quickly, rare_collections
from mneme.measure.job import Job, Known
from mneme.measure.measuring import Measuring
from mneme.measure.ready import ReadyJobs
from mneme.measure.statistics import ExecutorStatistics
from mneme.mneme_types import ExperimentConfiguration, ExperimentResult, dim3

TARGET: CodeTarget = ("sm_90", ())
OTHER: CodeTarget = ("sm_90", (("counter", 4096),))


def job_of(number: int = 0, *, image: str = "a", block: int = 1, **options: object) -> Job:
    config = ExperimentConfiguration(block=dim3(block))
    values = {"iterations": 5, "measuring": Measuring(), "options": "{}", **options}
    job = Job(future=EvalFuture(number, config), text="{}", **values)  # type: ignore[arg-type]
    job.identify(json.dumps({"image_hash": image, "opt_time": float(number), "ir_hash": "i"}))
    return job


def test_the_oldest_job_that_fits_a_worker_is_next() -> None:
    ready = ReadyJobs()
    jobs = [job_of(0, worker=1), job_of(1), job_of(2), job_of(3, worker=0)]
    for job in reversed(jobs):
        ready.add(job, TARGET)
    assert ready.count(TARGET) == 2
    assert ready.take(0, OTHER) is None
    assert [ready.take(0, TARGET) for _ in range(4)] == [jobs[1], jobs[2], jobs[3], None]
    assert ready.take(1, TARGET) is jobs[0]


def test_what_was_compiled_for_another_device_is_compiled_again() -> None:
    ready = ReadyJobs()
    jobs = [job_of(number) for number in range(4)]
    for job in jobs:
        ready.add(job, TARGET)
    ready.expect(OTHER)
    assert ready.steal(OTHER) is None
    ready.arrived(OTHER)
    assert ready.steal(OTHER) is jobs[0]
    assert ready.take_others({0: OTHER, 1: TARGET}) == []
    assert ready.take_others({1: OTHER}) == [jobs[3], jobs[2], jobs[1]]


def test_what_one_worker_has_to_take_is_judged_by_that_worker() -> None:
    ready = ReadyJobs()
    pinned, free = job_of(0, worker=0), job_of(1)
    for job in (pinned, free):
        ready.add(job, TARGET)
    # Worker 0 was replaced, and has its variables elsewhere now; worker 1 has not.
    assert ready.take_others({0: OTHER, 1: TARGET}) == [pinned]
    assert ready.take(1, TARGET) is free


def test_equal_code_has_one_key_and_other_code_another() -> None:
    def key(target: CodeTarget = TARGET, ir: bytes = b"", **changes: object) -> object:
        config = ExperimentConfiguration(**changes)  # type: ignore[arg-type]
        content = Content.of(ir) if ir else None
        return CompileRequest(configuration=config, text="", target=target, ir=content).key()

    wide = dim3(64)
    assert key() == key(grid=wide, block=wide, shared_mem=4, max_threads=7, min_blocks_per_sm=3)
    assert key(ir=b"one") == key(ir=bytes(bytearray(b"one")))
    bounds = key(set_launch_bounds=True)
    assert bounds == key(set_launch_bounds=True, grid=wide)
    fixed = key(specialize_dims=True)
    others = {
        key(passes="default<O1>"),
        key(codegen_opt=2),
        key(specialize=True),
        key(ir=b"one"),
        key(OTHER),
        bounds,
        key(set_launch_bounds=True, block=wide),
        fixed,
        key(specialize_dims=True, grid=wide),
    }
    assert key() not in others
    assert len(others) == 9


def test_an_equal_binary_and_launch_is_measured_once() -> None:
    known = Known()
    first, second = job_of(1), job_of(2)
    result = ExperimentResult(verified=True, median_ns=7, opt_time=1.0, launches=6, launched_ns=60)
    assert known.claim(first) is True
    assert known.claim(second) is False  # it waits for the first
    assert known.settle(first, result) == [second]
    copy = known.claim(second)
    assert isinstance(copy, ExperimentResult)
    assert (copy.reused, copy.verified, copy.median_ns) == (True, True, 7)
    assert (copy.opt_time, copy.ir_hash) == (2.0, "i")
    assert (copy.launches, copy.launched_ns) == (0, 0)
    assert not result.reused


@pytest.mark.parametrize(
    "other",
    [
        {"image": "b"},
        {"block": 2},
        {"iterations": 6},
        {"measuring": Measuring(cold_cache=True)},
        {"worker": 0},
        {"fresh": True},
    ],
)
def test_another_binary_launch_or_measurement_is_not_reused(other: dict[str, object]) -> None:
    known = Known()
    first = job_of(1)
    known.claim(first)
    known.settle(first, ExperimentResult(verified=True))
    assert known.claim(job_of(2, **other)) is True  # type: ignore[arg-type]
    assert known.claim(job_of(3)) is not True


def test_a_job_never_waits_for_itself() -> None:
    known = Known()
    first, second = job_of(1), job_of(2)
    assert [known.claim(job) for job in (first, second)] == [True, False]
    assert known.settle(first, ExperimentResult(failed=True)) == [second]
    assert known.claim(second) is True
    second.identify(json.dumps({"image_hash": "compiled again for another device"}))
    assert known.claim(second) is True
    assert known.claim(job_of(3)) is False  # it is found by what it was


def test_failures_are_not_reused() -> None:
    known = Known()
    first, second, third = (job_of(number) for number in range(3))
    assert [known.claim(job) for job in (first, second, third)] == [True, False, False]
    assert known.settle(first, ExperimentResult(failed=True, worker_died=True)) == [second, third]
    assert [known.claim(job) for job in (second, third)] == [True, False]


def test_a_measurement_that_was_stopped_serves_jobs_that_would_stop_as_early() -> None:
    known = Known()
    first = job_of(1, measuring=Measuring(stop_above_ns=100))
    known.claim(first)
    known.settle(first, ExperimentResult(stopped_early=True))
    assert known.claim(job_of(2, measuring=Measuring(stop_above_ns=90))) is not True
    assert known.claim(job_of(3, measuring=Measuring(stop_above_ns=110))) is True
    known = Known()
    known.claim(first)
    known.settle(first, ExperimentResult())
    assert known.claim(job_of(4, measuring=Measuring())) is not True


def test_what_is_queued_is_stopped_earlier_when_better_is_known() -> None:
    job = job_of(1, measuring=Measuring(stop_above_ns=100), options='{"iterations": 5}')
    job.tighten(0)
    job.tighten(110)
    assert (job.measuring.stop_above_ns, job.options) == (100, '{"iterations": 5}')
    key = job.key
    job.tighten(60)
    assert (job.measuring.stop_above_ns, job.key) == (60, key)
    assert json.loads(job.options) == {"iterations": 5, "stop_above_ns": 60}
    whole = job_of(2)
    whole.tighten(60)
    assert (whole.measuring.stop_above_ns, whole.options) == (0, "{}")


def test_futures_are_yielded_as_they_are_done() -> None:
    futures = [EvalFuture(number, ExperimentConfiguration()) for number in range(3)]
    futures[1].set_result(ExperimentResult())
    seen = as_completed([*futures, futures[1]], timeout=5)
    assert next(seen) is futures[1]
    timer = threading.Timer(0.0, futures[2].set_error, [ValueError("no")])
    timer.start()
    assert next(seen) is futures[2]
    with pytest.raises(ValueError, match="no"):
        futures[2].result()
    with pytest.raises(TimeoutError, match="1 of 2"):
        list(as_completed([futures[0], futures[1], futures[0]], timeout=0))


def test_callbacks_come_once_and_may_fail() -> None:
    future, seen = EvalFuture(0, ExperimentConfiguration()), list[EvalFuture]()
    future.add_done_callback(lambda _: 1 / 0)
    future.add_done_callback(seen.append)
    future.set_result(ExperimentResult(median_ns=1))
    future.set_result(ExperimentResult(median_ns=2))
    result = future.result()
    assert result is not None
    assert result.median_ns == 1
    future.add_done_callback(seen.append)
    assert seen == [future, future]


def test_configurations_are_copied_whole() -> None:
    config = ExperimentConfiguration(grid=dim3(3), passes="default<O1>")
    copy = config.copy()
    assert copy == config
    config.grid.x = 4
    config.passes = "default<O2>"
    assert copy == ExperimentConfiguration(grid=dim3(3), passes="default<O1>")


def test_threads_take_turns_quickly_as_long_as_anybody_needs_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Apart from threads of earlier tests that may not have ended.
    now = {"seconds": 0.005}
    monkeypatch.setattr("sys.getswitchinterval", lambda: now["seconds"])
    monkeypatch.setattr("sys.setswitchinterval", lambda seconds: now.update(seconds=seconds))
    quick_switches = _Shared(_switch_quickly).used
    usual = sys.getswitchinterval()
    first, second = quick_switches(), quick_switches()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert sys.getswitchinterval() < usual
    second.__exit__(None, None, None)
    assert sys.getswitchinterval() == usual


def test_garbage_is_collected_rarely_as_long_as_anybody_needs_it() -> None:
    usual = gc.get_threshold()
    first, second = rare_collections(), rare_collections()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert gc.get_threshold()[0] > usual[0]
    second.__exit__(None, None, None)
    assert gc.get_threshold() == usual
    assert gc.get_freeze_count() == 0


def test_busy_share_is_launches_by_wall() -> None:
    statistics = ExecutorStatistics(device_busy_seconds=3.0, wall_seconds=2.0)
    assert statistics.busy_share == 1.5
    assert replace(statistics, wall_seconds=0.0).busy_share == 0.0
