"""Configurations evaluated by pools that are not ours."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest

from mneme.devices import DeviceInfo, DeviceLimits, device_limits
from mneme.errors import ArtifactCorrupt, InvalidArgument
from mneme.measure import batches, futures_executor
from mneme.measure import remote_evaluation as _remote_evaluation
from mneme.measure.async_executor import AsyncReplayExecutor, as_completed
from mneme.measure.futures_executor import FuturesReplayExecutor
from mneme.measure.pool_processes import (
    PoolProcess,
    PoolProcesses,
    find_processes,
    helpers_of,
)
from mneme.measure.pool_task import BrokenPool
from mneme.measure.remote_evaluation import RemoteSpec
from mneme.mneme_types import ExperimentConfiguration, ExperimentResult
from mneme.recording.inventory import find_record
from mneme.recording.recorded_execution import RecordedExecution
from native_parts import needs_native

PROGRAM = Path(os.environ.get("MNEME_BUILD_DIR", "build")) / "examples" / "vector_add"
PIPELINES = ["default<O1>", "default<O2>", "no-such-pass", "default<O3>", "default<O1>"]

pytestmark = [pytest.mark.compile, needs_native]


@pytest.fixture(scope="module")
def record(tmp_path_factory: pytest.TempPathFactory) -> RecordedExecution:
    path = tmp_path_factory.mktemp("recording")
    line = ("record", "-rdb", path, "--device", "cpu", "--", PROGRAM, "4096")
    subprocess.run([sys.executable, "-m", "mneme", *map(str, line)], check=True, timeout=60)
    return find_record(path)


@pytest.fixture(scope="module")
def config(record: RecordedExecution) -> ExperimentConfiguration:
    (instance,) = record.values()
    return ExperimentConfiguration(grid=instance.grid_dim, block=instance.block_dim)


@contextmanager
def spawned() -> Iterator[Executor]:
    with ProcessPoolExecutor(2, multiprocessing.get_context("spawn")) as pool:
        yield pool


@contextmanager
def forked() -> Iterator[Executor]:
    with ProcessPoolExecutor(1, multiprocessing.get_context("fork")) as pool:
        yield pool


@contextmanager
def threaded() -> Iterator[Executor]:
    with ThreadPoolExecutor(2) as pool:
        yield pool


@contextmanager
def dask() -> Iterator[Executor]:
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address="127.0.0.1:0"
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client.get_executor()


def executor_of(
    pool: Executor, record: RecordedExecution, iterations: int = 2, timeout: float | None = None
) -> FuturesReplayExecutor:
    return FuturesReplayExecutor(
        pool, record.path, None, iterations, warmup=1, device="cpu", timeout=timeout
    )


@pytest.mark.parametrize("make", [spawned, forked, threaded, dask], ids=lambda make: make.__name__)
def test_results_are_those_of_local_workers(
    make: object, record: RecordedExecution, config: ExperimentConfiguration, tmp_path: Path
) -> None:
    configs = [replace(config, passes=passes) for passes in PIPELINES]
    with AsyncReplayExecutor(record.path, None, 2, tmp_path, 1, 1, device="cpu") as local:
        expected = [local.evaluate(one) for one in configs]
        assert local.can_pin
    with make() as pool, executor_of(pool, record) as executor:  # type: ignore[operator]
        assert not executor.can_pin
        futures = [executor.submit(one) for one in configs]
        assert {future.config.passes for future in as_completed(futures, 60)} == set(PIPELINES)
        results = [future.result() for future in futures]
        again = executor.evaluate(configs[0], iterations=5, fresh=True)
        statistics = executor.statistics
    for result, local_result in zip(results, expected, strict=True):
        assert isinstance(result, ExperimentResult)
        for name in ("verified", "failed", "error", "image_hash", "result_class", "device"):
            assert getattr(result, name) == getattr(local_result, name)
        assert len(result.exec_time) == len(local_result.exec_time)
        assert [item.name for item in fields(result)] == [f.name for f in fields(local_result)]
    assert (again.iterations_used, again.reused) == (5, False)
    assert (statistics.submitted, statistics.finished, statistics.failures) == (6, 6, 1)


def test_other_ir_reaches_the_pool(
    record: RecordedExecution, config: ExperimentConfiguration
) -> None:
    wrong = str(record.link_llvm_modules()).replace("fmul", "fadd")
    with threaded() as pool, executor_of(pool, record) as executor:
        executor.set_ir(wrong)
        assert not executor.evaluate(config).verified
        executor.set_ir(None)
        assert executor.evaluate(config).verified


@pytest.mark.alone
def test_a_kernel_without_end_costs_itself(
    record: RecordedExecution, config: ExperimentConfiguration
) -> None:
    with spawned() as pool, executor_of(pool, record, timeout=1.0) as executor:
        late = executor.submit(config, iterations=1_000_000_000)
        assert executor.evaluate(config).verified
        result = late.result(60)
        assert result is not None
        assert result.worker_died
        assert "timed out after 1.0 s" in result.error
        assert executor.evaluate(config, fresh=True).verified


def test_a_pool_that_is_broken_says_so(
    record: RecordedExecution, config: ExperimentConfiguration
) -> None:
    with spawned() as pool, executor_of(pool, record) as executor:
        done = executor.submit(config)
        assert done.result(60) is not None
        flying = [executor.submit(config, iterations=1_000_000_000) for _ in range(3)]
        for pid in list(pool._processes):  # type: ignore[attr-defined]
            os.kill(pid, signal.SIGKILL)
        lost = [future.result(60) for future in flying]
        assert all(result is not None and result.worker_died for result in lost)
        with pytest.raises(BrokenPool, match="make a new pool"):
            executor.submit(config)
        assert executor.why_broken
        kept = done.result()
        assert kept is not None
        assert kept.verified


def test_a_cluster_goes_on_without_a_process(
    record: RecordedExecution, config: ExperimentConfiguration
) -> None:
    with dask() as pool, executor_of(pool, record) as executor:
        assert executor.evaluate(config).verified
        client = pool._client  # type: ignore[attr-defined]
        (pid, *_) = client.run(os.getpid).values()
        os.kill(pid, signal.SIGKILL)
        configs = [replace(config, passes=passes) for passes in PIPELINES if "<" in passes]
        results = [executor.submit(one, fresh=True).result(60) for one in configs]
    assert [result.verified or result.worker_died for result in results if result] == [True] * 4
    assert results[-1] is not None
    assert results[-1].verified


def test_what_cannot_be_opened_is_an_error(
    record: RecordedExecution, config: ExperimentConfiguration, tmp_path: Path
) -> None:
    line = ("copy", Path(record.path).parent, tmp_path / "copy")
    subprocess.run([sys.executable, "-m", "mneme", *map(str, line)], check=True, timeout=60)
    (snapshot,) = (tmp_path / "copy").glob("DeviceState.prologue.*")
    snapshot.write_bytes(b"")
    damaged = find_record(tmp_path / "copy")
    with (
        spawned() as pool,
        executor_of(pool, damaged) as executor,
        pytest.raises(ArtifactCorrupt, match="prologue"),
    ):
        executor.evaluate(config)


def test_processes_of_a_machine_take_different_devices(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gpus = [
        DeviceInfo(id=name, is_available=True, name="", why_unavailable="")
        for name in ("cpu", "gpu:0", "gpu:1")
    ]
    monkeypatch.delenv("MNEME_DEVICE", raising=False)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr(_remote_evaluation, "list_devices", lambda: gpus)
    monkeypatch.setattr(_remote_evaluation, "device_by_number", lambda number: f"gpu:{number}")
    processes = [_remote_evaluation._Process() for _ in range(3)]
    devices = [_remote_evaluation._claim_device(process) for process in processes]
    assert devices == ["gpu:0", "gpu:1", "gpu:0"]  # the third has to share
    monkeypatch.setenv("MNEME_DEVICE", "gpu:1")
    assert _remote_evaluation._claim_device(_remote_evaluation._Process()) == "gpu:1"
    for process in processes:
        if process.claim is not None:
            process.claim.close()


def test_interrupt_drops_what_is_queued(
    record: RecordedExecution, config: ExperimentConfiguration
) -> None:
    with threaded() as pool:
        with pytest.raises(KeyboardInterrupt), executor_of(pool, record, timeout=1.0) as executor:  # noqa: PT012
            done = executor.submit(config)
            assert done.result(60) is not None
            flying = [executor.submit(config, iterations=1_000_000_000) for _ in range(4)]
            raise KeyboardInterrupt
        for future in flying:
            with pytest.raises(InvalidArgument, match="shut down"):
                future.result(0)
        with pytest.raises(InvalidArgument, match="shut down"):
            executor.submit(config)
        assert done.result() is not None


def test_short_measurements_go_together(
    record: RecordedExecution, config: ExperimentConfiguration, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes: list[int] = []

    def evaluate(
        _spec: object, _number: int, configs: list[dict[str, Any]], *_: object
    ) -> dict[str, Any]:
        sizes.append(len(configs))
        results = [ExperimentResult(error=one["passes"]).to_dict() for one in configs]
        return {"host": "node", "results": results}

    monkeypatch.setattr(futures_executor, "evaluate", evaluate)
    monkeypatch.setattr(batches, "_BATCH_SECONDS", 1e9)  # on a busy machine, too
    configs = [replace(config, passes=str(number)) for number in range(400)]
    with ThreadPoolExecutor(1) as pool, executor_of(pool, record) as executor:
        for one in configs[:40]:  # how long they take is found out
            executor.evaluate(one)
        assert set(sizes) == {1}
        futures = [executor.submit(one) for one in configs[40:]]
        assert [f.result(30).error for f in futures] == [one.passes for one in configs[40:]]  # type: ignore[union-attr]
        assert 1 < max(sizes) <= 16
        last = executor.submit(configs[0])
    assert last.result(0) is not None
    assert executor.nodes["node"].finished == len(configs) + 1


def test_processes_that_take_one_task_at_a_time_get_whole_ones(
    record: RecordedExecution, config: ExperimentConfiguration, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes: list[int] = []
    goes_on = threading.Event()

    def evaluate(
        spec: RemoteSpec, _number: int, configs: list[dict[str, Any]], *_: object
    ) -> dict[str, Any]:
        assert spec.compile_workers == 3
        sizes.append(len(configs))
        goes_on.wait(30)
        results = [ExperimentResult(error=one["passes"]).to_dict() for one in configs]
        return {"host": "node", "results": results}

    gpu = PoolProcess(host="node", pid=1, limits=a_gpu(), cores=(0, 1, 2, 3))
    found = lambda pool, _spec: PoolProcesses(pool=pool, by_address={"node": gpu})  # noqa: E731
    monkeypatch.setattr(futures_executor, "evaluate", evaluate)
    monkeypatch.setattr(futures_executor, "find_processes", found)
    configs = [replace(config, passes=str(number)) for number in range(22)]
    with ThreadPoolExecutor(1) as pool, executor_of(pool, record) as executor:
        executor.prepare()
        assert executor.capacity == 12
        futures = [executor.submit(configs[0])]
        while not sizes:  # it is running by now
            time.sleep(0.01)
        futures += [executor.submit(one) for one in configs[1:]]
        goes_on.set()
        assert [f.result(30).error for f in futures] == [one.passes for one in configs]  # type: ignore[union-attr]
    assert sizes == [1, 6, 6, 6, 3]


def test_processes_with_several_threads_get_enough_to_compile_ahead(
    record: RecordedExecution, monkeypatch: pytest.MonkeyPatch
) -> None:
    distributed = pytest.importorskip("distributed")

    def find(pool: Executor, spec: RemoteSpec) -> PoolProcesses:
        found = find_processes(pool, spec)
        for address, one in found.by_address.items():
            found.by_address[address] = replace(one, limits=a_gpu())
        return found

    with (
        distributed.LocalCluster(
            1, threads_per_worker=3, processes=False, dashboard_address="127.0.0.1:0"
        ) as at,
        distributed.Client(at, set_as_default=False) as client,
        executor_of(client.get_executor(), record) as executor,
    ):
        executor.prepare()
        assert [one.threads for one in executor.workers] == [3]
        slots_of_cpu = executor.capacity
        monkeypatch.setattr(futures_executor, "find_processes", find)
        executor.prepare()
        assert (slots_of_cpu, executor.capacity) == (6, 16)


def a_gpu() -> DeviceLimits:
    return replace(device_limits("cpu"), id="cuda:0")


@pytest.mark.parametrize(
    ("cores", "helpers"),
    [
        ([(0, 1, 2, 3), (0, 1, 2, 3)], 1),  # not bound: all share the host's
        ([(0, 1, 2, 3), (4, 5, 6, 7)], 3),
        ([(0,), (1,)], 0),
        ([(0, 1)], 1),
        ([], 0),
    ],
)
def test_cores_are_shared_by_the_processes_of_a_host(
    cores: list[tuple[int, ...]], helpers: int
) -> None:
    limits = a_gpu()
    processes = [
        PoolProcess(host="node", pid=pid, limits=limits, cores=own) for pid, own in enumerate(cores)
    ]
    assert helpers_of(processes) == helpers
    other = [replace(one, host="other", cores=range(64)) for one in processes[:1]]
    assert helpers_of(processes + other) == helpers
    cpu = [replace(one, limits=device_limits("cpu")) for one in processes]
    assert helpers_of(cpu) == 0


def test_what_waits_to_be_sent_ends_with_the_executor(
    record: RecordedExecution, config: ExperimentConfiguration
) -> None:
    pool = ThreadPoolExecutor(1)
    executor = executor_of(pool, record)
    pool.shutdown()
    with pytest.raises(InvalidArgument, match="takes no configurations"):
        executor.submit(config)
    for _ in range(executor._batches._remembered):
        executor._batches.note_end(1)
    late = executor.submit(config)
    with pytest.raises(InvalidArgument, match="takes no configurations"):
        late.result(30)
    executor.shutdown()


def test_an_executor_that_was_cancelled_waits_for_nothing(
    record: RecordedExecution, config: ExperimentConfiguration
) -> None:
    class Stuck(ThreadPoolExecutor):
        def submit(self, *_: Any, **__: Any) -> Future[Any]:
            running: Future[Any] = Future()
            running.set_running_or_notify_cancel()
            return running

    executor = executor_of(Stuck(1), record)
    lost = executor.submit(config)
    executor.shutdown(cancel=True)
    with pytest.raises(InvalidArgument, match="shut down before"):
        lost.result(0)
    end = threading.Thread(target=executor.shutdown, daemon=True)
    end.start()
    end.join(30)
    assert not end.is_alive()


def test_what_a_killed_search_had_open_is_closed(
    record: RecordedExecution, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_remote_evaluation, "_IDLE_SECONDS", 0.1)
    monkeypatch.setattr(_remote_evaluation, "_IDLE_POLL_SECONDS", 0.05)
    monkeypatch.setattr(_remote_evaluation, "_process", _remote_evaluation._Process())
    spec = FuturesReplayExecutor(ThreadPoolExecutor(1), record.path, None, 1, device="cpu")._spec
    options = {"fresh": False, "iterations": None, "measuring": None}
    config = ExperimentConfiguration().to_dict()
    opened = _remote_evaluation._process.opened
    for number in range(2):  # what is used again is opened again
        assert _remote_evaluation.evaluate(spec, number, [config], b"", options)["results"]
        end = time.monotonic() + 60
        while opened:
            assert time.monotonic() < end
            time.sleep(0.05)


def test_what_cannot_be_submitted_occupies_nothing(
    record: RecordedExecution, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_remote_evaluation, "_process", _remote_evaluation._Process())
    spec = FuturesReplayExecutor(ThreadPoolExecutor(1), record.path, None, 1, device="cpu")._spec
    options = {"fresh": False, "iterations": -1, "measuring": None}
    config = ExperimentConfiguration().to_dict()
    with pytest.raises(InvalidArgument):
        _remote_evaluation.evaluate(spec, 0, [config], b"", options)
    (opened,) = _remote_evaluation._process.opened.values()
    assert opened.users == 0
    opened.close(cancel=True)
