"""Which hosts of a cluster measure: those of a model, and not those that are far too slow."""

from __future__ import annotations

import itertools
import os
import queue
import subprocess
import sys
import threading
import time
import warnings
from collections import deque
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest

from mneme.devices import device_limits
from mneme.errors import BackendUnavailable, InvalidArgument
from mneme.measure import (
    dask_questions,
    futures_executor,
    pool_processes,
    pool_task,
    slow_processes,
)
from mneme.measure.futures_executor import FuturesReplayExecutor
from mneme.measure.remote_evaluation import (
    RefusedProcess,
    RemoteSpec,
    UnknownProcess,
    _plain,
    admit,
    place_here,
)
from mneme.measure.remote_evaluation import evaluate as evaluate_here
from mneme.mneme_types import ExperimentConfiguration, ExperimentResult
from mneme.recording.inventory import find_record
from native_parts import needs_native

PROGRAM = Path(os.environ.get("MNEME_BUILD_DIR", "build")) / "examples" / "vector_add"

pytestmark = [pytest.mark.compile, needs_native]


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("slow") / "recording"
    line = ("record", "-rdb", path, "--device", "cpu", "--", PROGRAM, "4096")
    subprocess.run([sys.executable, "-m", "mneme", *map(str, line)], check=True, timeout=120)
    return path


def test_a_process_of_a_pool_that_chooses_refuses_when_it_is_slow(
    recording: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Pools such as MPI's give a task to whichever process is free."""
    here = threading.local()
    numbers = itertools.count()
    together = threading.Barrier(2)
    measured: list[str] = []

    def place() -> str:
        if not hasattr(here, "place"):
            here.place = f"node{next(numbers)}:1"
        return str(here.place)

    def examine(*_: Any) -> dict[str, Any]:
        together.wait(30)
        limits = asdict(device_limits("cpu"))
        return {"host": place().partition(":")[0], "pid": 1, "limits": limits}

    def evaluate(spec: RemoteSpec, _number: int, configs: Any, *_: Any) -> dict[str, Any]:
        if place() in spec.refused:
            time.sleep(0.01)
            raise RefusedProcess("node1: is not to measure")
        if not spec.refused:  # nothing else runs yet
            together.wait(30)
        measured.append(place())
        took = 4_000_000 if place() == "node1:1" else 1_000_000
        results = [ExperimentResult(exec_time=[took]).to_dict() for _ in configs]
        return {"host": place().partition(":")[0], "place": place(), "results": results}

    def hold(spec: RemoteSpec, _number: int) -> None:
        if place() in spec.refused:
            time.sleep(0.1)

    monkeypatch.setattr(slow_processes, "evaluate", evaluate)
    monkeypatch.setattr(futures_executor, "evaluate", evaluate)
    monkeypatch.setattr(pool_task, "hold", hold)
    monkeypatch.setattr(pool_processes, "examine", examine)
    configs = [ExperimentConfiguration(passes=str(number)) for number in range(60)]
    with (
        ThreadPoolExecutor(2) as pool,
        FuturesReplayExecutor(pool, find_record(recording).path, None, 1, device="cpu") as executor,
    ):
        executor.prepare()
        assert len(executor.workers) == 2
        with pytest.warns(RuntimeWarning, match=r"node1 is left out: it takes 4000.0 µs"):
            executor.leave_out_slow(configs[0])
        assert list(executor.left_out) == ["node1:1"]
        measured.clear()
        futures = [executor.submit(one) for one in configs]
        assert all(one.result(60).exec_time == [1_000_000] for one in futures)  # type: ignore[union-attr]
    assert set(measured) == {"node0:1"}
    assert list(executor.left_out) == ["node1:1"]


class Choosing(Executor):
    """Two processes; the one that is free first, or last, gets the next task."""

    _max_workers = 2

    def __init__(self, *, is_fair: bool) -> None:
        self.here = threading.local()
        self._events: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._workers = [ThreadPoolExecutor(1) for _ in range(2)]
        self._is_fair = is_fair
        threading.Thread(target=self._run, daemon=True).start()

    def submit(self, fn: Any, /, *arguments: Any, **_: Any) -> Future[Any]:
        future: Future[Any] = Future()
        self._events.put((future, fn, arguments))
        return future

    def _run(self) -> None:
        free, tasks = deque([0, 1]), deque[Any]()
        while True:
            event = self._events.get()
            if len(event) == 3:
                tasks.append(event)
            else:
                worker, future, done, _ = event
                free.append(worker)
                if (error := done.exception()) is not None:
                    future.set_exception(error)
                else:
                    future.set_result(done.result())
            while self._events.empty() and free and tasks:
                worker = free.popleft() if self._is_fair else free.pop()
                self._start(worker, *tasks.popleft())

    def _start(self, worker: int, future: Future[Any], fn: Any, arguments: tuple[Any, ...]) -> None:
        def call() -> Any:
            self.here.place = f"node{worker}:1"
            return fn(*arguments)

        future.set_running_or_notify_cancel()
        task = self._workers[worker].submit(call)
        task.add_done_callback(lambda done: self._events.put((worker, future, done, True)))


@pytest.mark.parametrize("is_fair", [True, False])
def test_what_a_refusing_process_gave_back_another_one_measures(
    recording: Path, monkeypatch: pytest.MonkeyPatch, *, is_fair: bool
) -> None:
    """Also if it is all that there is to do, and the other one has waited for longer."""
    pool = Choosing(is_fair=is_fair)
    tries: list[str] = []

    def evaluate(spec: RemoteSpec, *_: Any) -> dict[str, Any]:
        tries.append(pool.here.place)
        if pool.here.place in spec.refused:
            time.sleep(0.1)
            raise RefusedProcess("node: is not to measure")
        results = [ExperimentResult(exec_time=[7]).to_dict()]
        return {"host": "node", "place": pool.here.place, "results": results}

    def hold(spec: RemoteSpec, _number: int) -> None:
        if pool.here.place in spec.refused:
            time.sleep(0.2)

    monkeypatch.setattr(futures_executor, "evaluate", evaluate)
    monkeypatch.setattr(pool_task, "hold", hold)
    with FuturesReplayExecutor(
        pool, find_record(recording).path, None, 1, device="cpu"
    ) as executor:
        executor._spec = replace(executor._spec, refused=frozenset({"node1:1"}))
        for number in range(4):
            config = ExperimentConfiguration(passes=str(number))
            result = executor.submit(config).result(20)
            assert result is not None
            assert result.exec_time == [7]
    assert tries.count("node0:1") == 4
    assert tries.count("node1:1") <= 4


def test_a_refusing_process_measures_nothing(recording: Path) -> None:
    record = find_record(recording)
    with ThreadPoolExecutor(1) as pool:
        executor = FuturesReplayExecutor(pool, record.path, None, 1, device="cpu")
        spec = replace(executor._spec, refused=frozenset({place_here()}))
    assert spec == executor._spec  # what is open stays open
    with pytest.raises(RefusedProcess, match="is not to measure"):
        evaluate_here(spec, 0, [], b"", {})


def test_a_process_measures_once_it_was_looked_at(recording: Path) -> None:
    with ThreadPoolExecutor(1) as pool:
        executor = FuturesReplayExecutor(pool, find_record(recording).path, None, 1, device="cpu")
        spec = replace(executor._spec, sender="a search", is_for_admitted=True)
    with pytest.raises(UnknownProcess, match="was not looked at"):
        evaluate_here(spec, 0, [], b"", {})
    admit("another search")
    with pytest.raises(UnknownProcess, match="was not looked at"):
        evaluate_here(spec, 0, [], b"", {})
    admit("a search")
    assert evaluate_here(spec, 0, [], b"", {})["results"] == []


def sent(microseconds: list[float], number: int) -> dict[str, Any]:
    """What a process sends of a result; without times it is one that failed."""
    times = microseconds[min(number, len(microseconds) - 1) :][:1]
    return _plain(ExperimentResult(exec_time=[int(1000 * one) for one in times]))


@pytest.mark.parametrize(
    ("microseconds", "left_out"),
    [
        ([[1000.0], [1040.0]], []),
        ([[1000.0], [1600.0]], [1]),
        ([[1000.0], [1600.0, 1200.0]], []),  # only for a moment
        ([[1000.0], [4000.0, 3900.0, 4100.0]], [1]),
        ([[4000.0], [1000.0], [1000.0]], [0]),
        ([[1000.0], []], []),  # fails
        ([[10.0], [90.0]], []),  # too short to tell on the CPU device
    ],
)
def test_slow_hosts_are_left_out(
    recording: Path,
    monkeypatch: pytest.MonkeyPatch,
    microseconds: list[list[float]],
    left_out: list[int],
) -> None:
    distributed = pytest.importorskip("distributed")

    def evaluate(_spec: Any, number: int, *_: Any) -> dict[str, Any]:
        times = microseconds[distributed.get_worker().name]
        return {"host": "node", "results": [sent(times, number)]}

    monkeypatch.setattr(slow_processes, "evaluate", evaluate)
    record = find_record(recording)
    with (
        distributed.LocalCluster(
            n_workers=len(microseconds),
            threads_per_worker=1,
            processes=False,
            dashboard_address="127.0.0.1:0",
        ) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
        FuturesReplayExecutor(
            client.get_executor(), record.path, None, 1, device="cpu"
        ) as executor,
    ):
        executor.prepare()
        addresses = {str(one.address): name for name, one in cluster.workers.items()}
        with warnings.catch_warnings(record=True) as given:
            warnings.simplefilter("always")
            executor.leave_out_slow(ExperimentConfiguration())
            told = [str(one.message) for one in given if "is left out" in str(one.message)]
            doubts = [one for one in given if "could not be compared" in str(one.message)]
        assert len(doubts) == microseconds.count([])
        assert sorted(addresses[one] for one in executor.left_out) == left_out
        assert len(told) == len(left_out)
        assert len(executor.workers) == len(microseconds) - len(left_out)
        assert executor.nodes[os.uname().nodename].processes == len(executor.workers)
        if left_out:
            least = min(microseconds[left_out[0]])
            words = f"takes {least:.1f} µs for the baseline, and the fastest 1000.0 µs"
            assert words in told[0]
            assert "workers" in executor._pool._kwargs  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("first", "late", "is_left_out"),
    [
        ([1000.0], [1040.0], False),
        ([1000.0], [4000.0, 3900.0, 4100.0], True),
        ([1000.0], [1600.0, 1200.0], False),  # only for a moment
        ([4000.0], [1000.0], False),  # the first stays: it has measured
        ([1000.0], [], False),  # fails, as it would in the search
    ],
)
def test_a_late_worker_is_compared_on_the_baseline(
    recording: Path,
    monkeypatch: pytest.MonkeyPatch,
    first: list[float],
    late: list[float],
    *,
    is_left_out: bool,
) -> None:
    """With what the first one measured when it was alone."""
    distributed = pytest.importorskip("distributed")
    microseconds = [first, late]
    told: list[str] = []

    def evaluate(_spec: Any, number: int, *_: Any) -> dict[str, Any]:
        times = microseconds[distributed.get_worker().name]
        return {"host": "node", "results": [sent(times, number)]}

    monkeypatch.setattr(slow_processes, "evaluate", evaluate)
    record = find_record(recording)
    with (
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=1, processes=False, dashboard_address="127.0.0.1:0"
        ) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
        FuturesReplayExecutor(
            client.get_executor(), record.path, None, 1, device="cpu"
        ) as executor,
    ):
        executor.prepare()
        executor.news.warn = executor.news.note = told.append
        executor.leave_out_slow(ExperimentConfiguration())
        cluster.scale(2)
        end = time.monotonic() + 120
        while len(executor.workers) + len(executor.left_out) < 2:
            assert time.monotonic() < end
            time.sleep(0.1)
        executor.news.tell()
        assert [str(cluster.workers[1].address)] * is_left_out == list(executor.left_out)
        assert len(executor.workers) == 2 - is_left_out
    *doubts, sentence = told
    assert ["could not be compared" in one for one in doubts] == [True] * (not late)
    words = f"takes {min(late or [0]):.1f} µs for the baseline, and the fastest {first[0]:.1f} µs"
    assert (words in sentence) == is_left_out
    assert ("joined and can measure" in sentence) != is_left_out


class Scheduler:
    """Does what it is told when a task comes, and when it is asked for the workers."""

    def __init__(self, *answers: Any) -> None:
        self.tasks: list[Future[Any]] = []
        self._answers = list(answers)

    def submit(self, *_: Any, **__: Any) -> Future[Any]:
        self.tasks.append(Future())
        return self.tasks[-1]

    def nthreads(self) -> dict[str, int]:
        answer = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
        return dict(answer(self))

    def silent(self) -> dict[str, int]:
        raise OSError("nobody answers")

    def without(self) -> dict[str, int]:
        return {}

    def done(self) -> dict[str, int]:
        found = {"host": "node", "results": [sent([1000.0], 0)]}
        self.tasks[-1].set_result(found)
        return {"a": 1}

    def dropped(self) -> dict[str, int]:
        self.tasks[-1].cancel()
        return {"a": 1}


@pytest.mark.parametrize(
    ("answers", "times"),
    [
        ([Scheduler.silent, Scheduler.silent, Scheduler.done], {"a": 1e6}),
        ([Scheduler.dropped, Scheduler.done], {"a": 1e6}),
        ([Scheduler.without], {}),
        ([Scheduler.silent], None),
    ],
)
def test_a_scheduler_that_does_not_answer_says_nothing_of_its_workers(
    recording: Path,
    monkeypatch: pytest.MonkeyPatch,
    answers: list[Any],
    times: dict[str, float] | None,
) -> None:
    monkeypatch.setattr(slow_processes, "_POLL_SECONDS", 0.01)
    monkeypatch.setattr(dask_questions, "ANSWER_SECONDS", 0.1 if times is None else 60.0)
    spec = FuturesReplayExecutor(Scheduler(), find_record(recording).path, None, 1)._spec  # type: ignore[arg-type]
    asked = (Scheduler(*answers), spec, ["a"], ExperimentConfiguration(), 0)
    if times is None:
        with pytest.raises(BackendUnavailable, match="scheduler of Dask does not answer"):
            slow_processes._times(*asked)
    else:
        assert slow_processes._times(*asked) == times


def test_a_model_of_gpu_can_be_chosen(recording: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    distributed = pytest.importorskip("distributed")
    names = ["NVIDIA A100", "NVIDIA H100", "NVIDIA A100"]

    def model_here(_device: str | None, dask_worker: Any) -> str:
        return names[dask_worker.name]

    monkeypatch.setattr(pool_processes, "model_here", model_here)
    record = find_record(recording)
    with (
        distributed.LocalCluster(
            n_workers=3, threads_per_worker=1, processes=False, dashboard_address="127.0.0.1:0"
        ) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        names_of = {str(one.address): name for name, one in cluster.workers.items()}
        for model, chosen in (("h100", [1]), ("A100", [0, 2])):
            pool = pool_processes.of_model(client.get_executor(), model, "cpu")
            with FuturesReplayExecutor(pool, record.path, None, 1, device="cpu") as executor:
                executor.prepare()
                assert sorted(names_of[one] for one in executor._addresses) == chosen
        with pytest.raises(BackendUnavailable, match="there are: NVIDIA A100, NVIDIA H100"):
            pool_processes.of_model(client.get_executor(), "B200", None)


def test_other_pools_choose_for_themselves() -> None:
    with (
        ThreadPoolExecutor(1) as pool,
        pytest.raises(InvalidArgument, match="Dask clusters and jobs only"),
    ):
        pool_processes.of_model(pool, "H100", None)
