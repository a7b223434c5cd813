"""Workers that join a Dask cluster after a search began."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import asdict, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from cluster_parts import CPU, PROGRAM, dask_nodes, late_node, mneme
from mneme.devices import device_limits
from mneme.measure import pool_processes
from mneme.measure.cluster import open_cluster
from mneme.measure.futures_executor import FuturesReplayExecutor
from mneme.measure.late_processes import LateProcesses
from mneme.measure.pool_processes import PoolProcess, PoolProcesses, look_at_late, places_of
from mneme.measure.pool_task import PoolTask, SentTasks
from mneme.mneme_types import ExperimentConfiguration, dim3
from mneme.recording.inventory import find_record
from mneme.session import machines
from mneme.session.events import TuneListener
from mneme.session.result_store import ResultStore
from native_parts import needs_native

pytestmark = [pytest.mark.compile, needs_native]

_SECONDS = 120


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("late") / "recording"
    done = mneme("record", "-rdb", path, *CPU, "--", PROGRAM, "4096")
    assert done.returncode == 0, done.stderr
    return path


def wait_until(is_so: Callable[[], bool]) -> None:
    end = time.monotonic() + _SECONDS
    while not is_so():
        assert time.monotonic() < end
        time.sleep(0.1)


def open_executor(pool: Any, recording: Path) -> FuturesReplayExecutor:
    return FuturesReplayExecutor(pool, find_record(recording).path, None, 1, device="cpu")


class Listener(TuneListener):
    def __init__(self) -> None:
        self.told: list[str] = []

    def note(self, sentence: str) -> None:
        self.told.append(sentence)

    def warn(self, sentence: str) -> None:
        self.told.append(sentence)


def test_late_workers_are_looked_at_before_they_measure(recording: Path, tmp_path: Path) -> None:
    old, scratch = tmp_path / "old" / "mneme", tmp_path / "scratch"
    old.mkdir(parents=True)
    (old / "__init__.py").write_text("__version__ = '0.0.1'")
    scratch.mkdir()
    hidden = f"mount -t tmpfs none {recording}; export TMPDIR={scratch}"
    full = f"{hidden}; mount -t tmpfs -o size=4k none $TMPDIR"
    listener = Listener()
    with (
        dask_nodes(tmp_path, {"node1": ""}) as (on, _),
        open_cluster(on) as pool,
        open_executor(pool, recording) as executor,
    ):
        machines.prepare(executor, ResultStore(tmp_path), listener)
        assert [one.host for one in executor.workers] == ["node1"]
        with (
            late_node(tmp_path, "node2", hidden),
            late_node(tmp_path, "node3", full),
            late_node(tmp_path, "node4", f"export PYTHONPATH={old.parent}"),
        ):
            wait_until(lambda: len(executor.workers) == 2 and len(executor.left_out) == 2)
            configs = [ExperimentConfiguration(block=dim3(32 * one, 1, 1)) for one in range(1, 21)]
            futures = [executor.submit(one, fresh=True) for one in configs]
            results = [one.result(_SECONDS) for one in futures]
        assert sorted(one.host for one in executor.workers) == ["node1", "node2"]
        assert not [one for one in results if one is None or one.worker_died]
        assert set(executor.nodes) == {"node1", "node2"}
        assert executor.nodes["node2"].processes == 1
        assert executor.nodes["node2"].finished > 0
    told = "; ".join(listener.told)
    assert told.count("is left out: ") == 2
    assert "MiB left; set TMPDIR" in told
    assert "mneme cannot be imported there" in told
    assert "another process of node2 joined and can measure" in told


def test_a_late_worker_takes_over_from_one_that_died(recording: Path, tmp_path: Path) -> None:
    with (
        dask_nodes(tmp_path, {"node1": ""}) as (on, pids),
        open_cluster(on) as pool,
        open_executor(pool, recording) as executor,
    ):
        executor.prepare()
        assert not places_of(executor._pool)  # limited tasks cost a scheduler more
        configs = [ExperimentConfiguration(block=dim3(32 * one, 1, 1)) for one in range(1, 21)]
        futures = [executor.submit(one) for one in configs]
        os.kill(pids["node1"], signal.SIGKILL)
        with late_node(tmp_path, "node2"):
            results = [one.result(_SECONDS) for one in futures]
        assert not [one for one in results if one is None or one.worker_died]
        assert [one.host for one in executor.workers] == ["node2"]
        assert not executor.left_out


@pytest.mark.parametrize("is_chosen", [False, True])
def test_late_workers_with_other_models_are_left_out(
    recording: Path, monkeypatch: pytest.MonkeyPatch, *, is_chosen: bool
) -> None:
    """Where the user has chosen a model, nobody needs to be told of others."""
    models = {"a": "A100", "b": "H100"}

    def answer(place: str) -> dict[str, Any]:
        limits = replace(device_limits("cpu"), name=models[place])
        return {"host": f"node {place}", "pid": 1, "limits": asdict(limits)}

    def ask(_client: object, function: Any, *_: Any, workers: list[str]) -> dict[str, Any]:
        is_model = function is pool_processes.model_here
        return {one: models[one] if is_model else answer(one) for one in workers}

    monkeypatch.setattr(pool_processes, "ask_workers", ask)
    client = SimpleNamespace(nthreads=dict)
    pool = SimpleNamespace(_client=client, _kwargs={"workers": ["a"]} if is_chosen else {})
    spec = replace(open_executor(None, recording)._spec, model="A100")
    found = look_at_late(pool, spec, ["a", "b"])
    assert list(found.by_address) == ["a"]
    assert list(found.left_out) == ([] if is_chosen else ["b"])


def test_where_nobody_joined_nobody_is_asked(recording: Path) -> None:
    found = look_at_late(SimpleNamespace(_client=None), open_executor(None, recording)._spec, [])
    assert not found.usable


def test_who_is_gone_is_named_also_when_another_joins(recording: Path) -> None:
    """Both may be seen in the same look."""
    told: list[str] = []
    nodes = {
        place: PoolProcess(host=f"node {place}", pid=1, limits=device_limits("cpu"))
        for place in "ab"
    }
    pool: Any = SimpleNamespace()
    executor = open_executor(pool, recording)
    executor._addresses = {"a": nodes["a"]}
    executor.news.warn = executor.news.note = told.append
    executor._add_late({"b"}, PoolProcesses(pool=pool, by_address={"b": nodes["b"]}))
    executor.tell_news()
    assert told == [
        "node a: a process is gone: dead, or cut off from the network",
        "another process of node b joined and can measure",
    ]
    # The thread looks at it once a second only.
    executor._late = late = LateProcesses(pool, executor._spec, "b", lambda *_: None)
    late.stop()
    pool._client = SimpleNamespace(status="running", nthreads=dict)
    executor.tell_news()
    executor.tell_news()
    assert told[2:] == ["node b: a process is gone: dead, or cut off from the network"]


def test_late_workers_are_listed_once_there_is_news_of_them(
    recording: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another thread that waits for the list can tell the news then."""
    executor = open_executor(None, recording)
    listed: list[tuple[int, int]] = []
    monkeypatch.setattr(
        executor.news,
        "add",
        lambda *_: listed.append((len(executor.workers), len(executor.left_out))),
    )
    found = PoolProcesses(pool=cast("Any", None), left_out={"b": "is too slow"})
    found.by_address["a"] = PoolProcess(host="node", pid=1, limits=device_limits("cpu"))
    executor._add_late({"a", "b"}, found)
    assert listed == [(0, 0)]
    assert (len(executor.workers), len(executor.left_out)) == (1, 1)


def test_only_tasks_that_nobody_can_take_are_stranded() -> None:
    sent = SentTasks()
    places = {"one": {"a"}, "both": {"a", "b"}, "any": set[str]()}
    remotes: dict[str, Future[dict[str, Any]]] = {}
    for name, among in places.items():
        remotes[name] = Future()
        sent.add(remotes[name], PoolTask([], [], b"", {}, places=frozenset(among)))
    assert list(sent.take_stranded({"b", "c"})) == [remotes["one"]]
    assert not sent.remove(remotes["one"])
    assert sent.remove(remotes["both"])


def test_tasks_of_a_broken_connection_are_stranded() -> None:
    """Dask says nothing of those whose results were on their way."""
    sent, old, new = SentTasks(), object(), object()
    first, second, buffered = (Future[dict[str, Any]]() for _ in range(3))
    sent.add(first, PoolTask([], [], b"", {}, connection=old))
    assert not sent.take_stranded({"a"}, old)
    sent.add(second, PoolTask([], [], b"", {}, connection=new))
    sent.add(buffered, PoolTask([], [], b"", {}))
    assert not sent.take_stranded({"a"}, None)
    assert list(sent.take_stranded({"a"}, new)) == [first]
    assert list(sent.take_stranded({"a"}, old)) == [second, buffered]
