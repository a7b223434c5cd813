"""Processes of somebody else's pool that cannot measure: found, named, and left out."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from mneme.errors import BackendUnavailable, InvalidArgument
from mneme.measure import remote_evaluation
from mneme.measure.futures_executor import FuturesReplayExecutor
from mneme.measure.measuring import Measuring
from mneme.mneme_types import ExperimentConfiguration
from mneme.session.session import TuneOptions, TuningSession
from native_parts import needs_native
from tune_parts import Levels, measured, recorded_launch, recording

__all__ = ["recording"]

pytestmark = [pytest.mark.compile, needs_native]


class TwoNodes(Executor):
    """Gives every other task to a node of another kind, which changes what it is asked to do."""

    _max_workers = 2

    def __init__(self, otherwise: Callable[..., tuple[Any, ...]]) -> None:
        self._otherwise = otherwise
        self._pool = ThreadPoolExecutor(1)
        self._count = 0

    def submit(self, call: Callable[..., Any], /, *given: Any, **_: Any) -> Future[Any]:
        self._count += 1
        return self._pool.submit(call, *(self._otherwise(*given) if self._count % 2 else given))


def without_recording(spec: Any, *more: Any) -> tuple[Any, ...]:
    return (replace(spec, record_db="/nowhere/1.json"), *more)


def configurations(count: int) -> list[ExperimentConfiguration]:
    return [
        ExperimentConfiguration(**recorded_launch(), passes="default<O1>", codegen_opt=level % 4)
        for level in range(count)
    ]


@pytest.fixture(autouse=True)
def no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote_evaluation, "_PAUSE_SECONDS", 0.0)


def test_a_node_without_the_recording_eats_no_configuration(recording: Path) -> None:
    pool = TwoNodes(without_recording)
    with FuturesReplayExecutor(pool, recording, None, 2, device="cpu") as executor:
        with pytest.warns(RuntimeWarning, match=r"is left out: .*nowhere"):
            executor.prepare()
        assert [one.device for one in executor.workers] == ["cpu"]
        results = [executor.submit(one).result(60) for one in configurations(4)]
        assert all(one is not None and one.verified for one in results)
        assert "/nowhere/1.json" in next(iter(executor.left_out.values()))


def test_without_a_node_that_can_measure_nothing_begins(recording: Path) -> None:
    class Same(ThreadPoolExecutor):
        def submit(self, call: Callable[..., Any], /, *given: Any, **_: Any) -> Future[Any]:
            return super().submit(call, *without_recording(*given))

    with Same(2) as pool, FuturesReplayExecutor(pool, recording, None, 2) as executor:
        with pytest.raises(BackendUnavailable, match="no process of the pool can measure: .*nowh"):
            executor.prepare()
        # Without `prepare` the first configuration says so.
        with pytest.raises(BackendUnavailable, match="nowhere"):
            executor.evaluate(configurations(1)[0])


def test_another_version_is_named(recording: Path) -> None:
    pool = TwoNodes(lambda spec, _version, *more: (spec, "9.9", *more))
    with FuturesReplayExecutor(pool, recording, None, 2, device="cpu") as executor:
        with pytest.warns(RuntimeWarning, match=r"is left out: has mneme .*, not 9\.9"):
            executor.prepare()
        assert len(executor.workers) == 1


def test_a_worker_without_mneme_is_named(recording: Path) -> None:
    class Bare(TwoNodes):
        def submit(self, call: Callable[..., Any], /, *given: Any, **more: Any) -> Future[Any]:
            if (self._count + 1) % 2:
                self._count += 1
                task: Future[Any] = Future()
                task.set_exception(ModuleNotFoundError("No module named 'mneme'"))
                return task
            return super().submit(call, *given, **more)

    with FuturesReplayExecutor(Bare(tuple), recording, None, 2, device="cpu") as executor:
        with pytest.warns(RuntimeWarning, match="mneme cannot be imported there"):
            executor.prepare()
        pool = executor._pool
        pool._otherwise = lambda *given: given  # type: ignore[attr-defined]
        found = executor.submit(configurations(1)[0]).result(60)
        assert found is not None
        assert found.verified


def test_a_session_takes_it_with_the_arguments_of_the_local_executor(
    recording: Path, tmp_path: Path
) -> None:
    options = TuneOptions(
        record_database=recording,
        results_dir=tmp_path / "results",
        device="cpu",
        sampler="random",
        trials=4,
        final_rounds=6,
        top=1,
        confidence=0,
    )
    with ThreadPoolExecutor(2) as pool:
        tuning = TuningSession(
            options,
            space=Levels(),
            make_executor=lambda *given, **named: FuturesReplayExecutor(pool, *given, **named),
        )
        assert tuning.run() == 0, tuning.error
    assert (tmp_path / "results" / "best.json").is_file()


def test_a_lower_limit_holds_for_what_is_submitted_later(recording: Path) -> None:
    limits: list[int] = []

    class Noting(Executor):
        def submit(self, _: Callable[..., Any], /, *given: Any, **__: Any) -> Future[Any]:
            limits.append(given[4]["measuring"].stop_above_ns)
            task: Future[Any] = Future()
            config = ExperimentConfiguration.from_dict(given[2][0])
            task.set_result([measured(config, [1] * 5).to_dict()])
            return task

    executor = FuturesReplayExecutor(Noting(), recording, None, 5)
    (config,) = configurations(1)
    for limit in (0, 700):
        executor.tighten(limit)
        for asked in (1000, 500, 0):
            executor.submit(config, measuring=Measuring(stop_above_ns=asked))
    assert limits == [1000, 500, 0, 700, 500, 0]


class Silent(Executor):
    """Keeps tasks, and ends none by itself."""

    _max_workers = 1

    def __init__(self) -> None:
        self.specs: list[Any] = []
        self.tasks: list[Future[Any]] = []

    def submit(self, _: Callable[..., Any], /, *given: Any, **__: Any) -> Future[Any]:
        self.specs.append(given[0])
        task: Future[Any] = Future()
        task.set_running_or_notify_cancel()
        self.tasks.append(task)
        return task

    def answer(self, config: ExperimentConfiguration) -> None:
        plain = measured(config, [1] * 5).to_dict()
        self.tasks[-1].set_result({"host": "node", "results": [plain]})


class Thread:
    """Stands for a thread that watches the pool."""

    stops = 0

    def stop(self) -> None:
        self.stops += 1


def test_until_all_has_ended_the_pool_is_watched_and_tasks_are_sent_again(recording: Path) -> None:
    pool, watch = Silent(), Thread()
    (config,) = configurations(1)
    executor = FuturesReplayExecutor(pool, recording, None, 5)
    executor._watch = watch  # type: ignore[assignment]
    found = executor.submit(config)
    executor.shutdown(wait=False)
    assert watch.stops == 0
    pool.tasks[0].set_exception(remote_evaluation.UnknownProcess("node: was not looked at"))
    assert len(pool.tasks) == 2
    assert watch.stops == 0
    pool.answer(config)
    assert found.result(60)
    assert watch.stops > 0
    with FuturesReplayExecutor(pool, recording, None, 5) as executor:
        executor._watch = watch = Thread()  # type: ignore[assignment]
        executor.submit(config)
        executor.shutdown(cancel=True)
        assert watch.stops > 0


def test_what_a_renewal_drops_is_counted_once_and_sent_no_more(recording: Path) -> None:
    pool = Silent()
    config, *more = configurations(3)
    executor = FuturesReplayExecutor(pool, recording, None, 5)
    sent = executor.submit(config)
    executor._batches.resize(1, 1, whole=2)
    waiting = executor.submit(more[0])
    executor.renew(cancel=True)
    for one in (sent, waiting):
        with pytest.raises(InvalidArgument, match="renewed"):
            one.result(0)
    assert (executor.statistics.submitted, executor.statistics.finished) == (2, 2)
    pool.answer(config)
    executor._batches.resize(1, 1)
    last = executor.submit(more[1])
    pool.answer(more[1])
    assert last.result(60)
    executor.shutdown()
    assert [one.generation for one in pool.specs] == [0, 1]
    assert (executor.statistics.submitted, executor.statistics.finished) == (3, 3)
