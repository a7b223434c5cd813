"""Searches in the processes of a Ray cluster."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import BrokenExecutor, Future
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from mneme.measure.cluster import open_cluster
from mneme.measure.ray_pool import RayPool
from mneme.session.events import TuneListener
from mneme.session.options import TuneOptions
from mneme.session.result_store import read_trials
from mneme.session.session import TuningSession
from native_parts import needs_native
from slurm_node import free_port, wait_for

PROGRAM = Path(os.environ.get("MNEME_BUILD_DIR", "build")) / "examples" / "vector_add"

pytestmark = [pytest.mark.compile, needs_native]


def is_open(port: int) -> bool:
    with socket.socket() as one:
        return one.connect_ex(("127.0.0.1", port)) == 0


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("ray") / "recording"
    line = ("record", "-rdb", path, "--device", "cpu", "--", PROGRAM, "4096")
    subprocess.run([sys.executable, "-m", "mneme", *map(str, line)], check=True, timeout=120)
    return path


@pytest.fixture(scope="module")
def cluster() -> Iterator[str]:
    pytest.importorskip("ray")
    program = shutil.which("ray", path=f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    if program is None:
        pytest.skip("the command ray is not installed")
    # Ray's sockets need a short name.
    folder = Path(f"/tmp/mneme-ray-{os.getpid()}")
    port = free_port()
    options = ["--head", "--block", "--port", str(free_port()), "--num-cpus", "2"]
    options += ["--ray-client-server-port", str(port), "--include-dashboard=false"]
    options += ["--temp-dir", str(folder), "--disable-usage-stats"]
    options += ["--min-worker-port", "0", "--max-worker-port", "0"]
    process = subprocess.Popen(
        [program, "start", *options], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    wait_for(lambda: is_open(port) or process.poll() is not None, "Ray", 120)
    address = f"ray://127.0.0.1:{port}"
    try:
        if process.poll() is not None or not serves(address):
            pytest.skip("Ray does not start here")
        yield address
    finally:
        process.terminate()
        process.wait(60)
        shutil.rmtree(folder, ignore_errors=True)


def serves(address: str) -> bool:
    """Whether Ray starts a server for a client within the half minute that it allows itself."""
    line = [sys.executable, "-c", f"import ray; ray.init({address!r})"]
    return subprocess.run(line, capture_output=True, check=False, timeout=180).returncode == 0


@pytest.mark.slow
@pytest.mark.alone
def test_processes_of_ray_measure_and_may_die(
    cluster: str, recording: Path, tmp_path: Path
) -> None:
    """One of two processes is killed: the other one measures what it had."""
    options = TuneOptions(
        record_database=recording,
        device="cpu",
        trials=30,
        seed=1,
        knowledge=False,
        results_dir=tmp_path / "results",
    )
    with open_cluster(cluster, device="cpu") as pool:
        assert isinstance(pool, RayPool)
        other = RayPool(pool._ray, "cpu")
        pool._loads.update(other._loads)
        pool._max_workers = 2
        killed: list[int] = []

        class Listener(TuneListener):
            def progress(self, *_: Any) -> None:
                if not killed and len(read_trials(tmp_path / "results")) >= 5:
                    killed.append(pool.submit(os.getpid).result(30))
                    os.kill(killed[0], signal.SIGKILL)

        from mneme.measure.futures_executor import FuturesReplayExecutor  # noqa: PLC0415

        def make(*arguments: Any, **keywords: Any) -> FuturesReplayExecutor:
            return FuturesReplayExecutor(pool, *arguments, **keywords)

        session = TuningSession(options, Listener(), make_executor=make)
        assert session.run() == 0, session.error
        assert killed
        assert len(pool._loads) == 1
    trials = read_trials(tmp_path / "results")
    assert len(trials) == 30
    assert not [one for one in trials if one.result.worker_died]


@pytest.mark.slow
@pytest.mark.alone
def test_the_command_of_the_page(cluster: str, recording: Path, tmp_path: Path) -> None:
    page = Path(__file__).parents[2] / "docs" / "clusters.md"
    (command,) = (
        one for one in page.read_text().splitlines() if one.endswith("ray://head-node:10001")
    )
    (tmp_path / "recording").symlink_to(recording)
    line = command.replace("ray://head-node:10001", cluster).replace("400", "4").split()
    done = subprocess.run(
        [sys.executable, "-m", *line, "--device", "cpu", "--results-dir", "results"],
        capture_output=True,
        text=True,
        check=False,
        timeout=200,
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    assert len(read_trials(tmp_path / "results")) == 4


def test_a_cluster_that_does_not_answer_is_named(recording: Path) -> None:
    pytest.importorskip("ray")
    line = [sys.executable, "-m", "mneme", "tune", "-rdb", str(recording), "--trials", "1"]
    on = f"ray://127.0.0.1:{free_port()}"
    done = subprocess.run(
        [*line, "--on", on], capture_output=True, text=True, check=False, timeout=150
    )
    assert done.returncode == 6
    assert f"no Ray cluster can be used at '{on}'" in done.stderr
    assert len(done.stderr.splitlines()) == 1


class FakeActor:
    """An actor that dies after so many calls."""

    def __init__(self, calls: int, error: str = "the actor died") -> None:
        self.left, self.error = calls, error
        self.call = SimpleNamespace(remote=self.remote)

    def remote(self, function: Any, *arguments: Any) -> Any:
        future: Future[Any] = Future()
        if self.left:
            self.left -= 1
            try:
                future.set_result((True, function(*arguments)))
            except ValueError as error:
                future.set_result((False, error))
        else:
            future.set_exception(RuntimeError(self.error))
        return SimpleNamespace(future=lambda: future)


def pool_of(*actors: FakeActor, gpus: int = 0) -> tuple[RayPool, list[dict[str, Any]]]:
    asked: list[dict[str, Any]] = []
    waiting = iter(actors)

    def options(**given: Any) -> Any:
        asked.append(given)
        return SimpleNamespace(remote=lambda: next(waiting))

    ray = SimpleNamespace(
        cluster_resources=lambda: {"CPU": 8.0, "GPU": float(gpus)},
        nodes=lambda: [{"Alive": True}] * len(actors) + [{"Alive": False}],
        remote=lambda _: SimpleNamespace(options=options),
        kill=lambda _: None,
    )
    return RayPool(ray, None), asked


def test_what_a_dead_process_had_another_one_gets() -> None:
    pool, asked = pool_of(FakeActor(1), FakeActor(9))
    assert asked[0]["num_gpus"] == 0
    assert [pool.submit(abs, -number).result(1) for number in range(6)] == list(range(6))
    assert len(pool._loads) == 1


def test_a_pool_without_processes_is_broken() -> None:
    pool, asked = pool_of(FakeActor(1), gpus=1)
    assert asked[0]["num_gpus"] == 1
    assert pool.submit(int, "7").result(1) == 7
    with pytest.raises(ValueError, match="seven"):
        pool_of(FakeActor(1))[0].submit(int, "seven").result(1)
    with pytest.raises(BrokenExecutor, match="the actor died"):
        pool.submit(int, "7").result(1)
    with pytest.raises(BrokenExecutor, match="no process of the Ray cluster is left"):
        pool.submit(int, "7")


def test_a_slow_process_is_ended() -> None:
    slow, fast = FakeActor(9), FakeActor(9)
    pool, _ = pool_of(slow, fast)
    ended: list[Any] = []
    pool._ray.kill = ended.append
    slow.remote = lambda *_: SimpleNamespace(future=lambda: Done((True, "node1:7")))  # type: ignore[method-assign]
    slow.call = SimpleNamespace(remote=slow.remote)
    assert pool.count() == 2
    pool.leave_out({"node1:7"})
    assert ended == [slow]
    assert pool.count() == 1
    assert pool.submit(int, "7").result(1) == 7


def test_a_server_that_is_gone_breaks_the_pool() -> None:
    pool, _ = pool_of(FakeActor(0), FakeActor(0))
    first, second = pool._loads

    def refuse(*_: Any) -> Any:
        raise ConnectionError("the server is gone")

    second.call = SimpleNamespace(remote=refuse)
    pool._loads[second] = 1  # the other one is tried first
    with pytest.raises(BrokenExecutor, match="the server is gone"):
        pool.submit(int, "7").result(10)
    assert first not in pool._loads


class Done:
    """A future that has a result."""

    def __init__(self, value: Any) -> None:
        self._value = value

    def result(self, _seconds: float) -> Any:
        return self._value


def test_a_node_without_mneme_is_named() -> None:
    pool, _ = pool_of(FakeActor(0, "it failed\nModuleNotFoundError: No module named 'mneme'"))
    with pytest.raises(ImportError, match="No module named 'mneme'"):
        pool.submit(int, "7").result(1)
