"""A spare takes over when a worker process dies, and gets the memory of its device."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from mneme.measure.child import ChildSpec
from mneme.measure.worker_process import TuneWorkerHandle, WorkerSpec

READY = ("ready", ("sm_90", []))
NO_ROOM = ("broken", "OutOfMemory", "no room")


class FakeProcess:
    """A process that says and does what the test wants."""

    def __init__(self, _loop: Any, _spec: ChildSpec, answered: Any, ended: Any) -> None:
        self.pid = 100 + len(PROCESSES)
        self.is_killed = False
        self._answered, self._ended = answered, ended
        PROCESSES.append(self)

    def says(self, message: tuple[Any, ...]) -> None:
        self._answered(self, message)

    def ends(self, code: int = 0) -> None:
        self._ended(self, code)

    def send(self, message: object) -> None: ...

    def finish(self) -> None: ...

    def kill(self) -> None:
        self.is_killed = True


class Owner:
    """Keeps the names of what it is told."""

    def __init__(self) -> None:
        self.heard: list[str] = []

    def __getattr__(self, name: str) -> Any:
        return lambda *_: self.heard.append(name)


PROCESSES: list[FakeProcess] = []


@pytest.fixture
def owner() -> Owner:
    return Owner()


@pytest.fixture
def worker(owner: Owner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A worker whose first process has opened the recording."""
    PROCESSES.clear()
    monkeypatch.setattr("mneme.measure.worker.ChildProcess", FakeProcess)
    spec = WorkerSpec(
        record_db=Path("record.json"),
        record_id="1",
        results_db_dir=tmp_path,
        max_startup_failures=3,
        timeout=None,
    )
    loop = asyncio.new_event_loop()
    handle = TuneWorkerHandle(0, "cuda:0", spec)
    handle.attach(loop, owner)  # type: ignore[arg-type]
    handle.start()
    PROCESSES[0].says(READY)
    yield handle
    loop.close()


def test_a_spare_is_started_when_the_replacement_has_its_memory(worker: TuneWorkerHandle) -> None:
    PROCESSES[0].ends(-11)
    assert (len(PROCESSES), worker.spare_pid) == (2, None)
    PROCESSES[1].says(READY)
    assert (worker.pid, worker.spare_pid) == (101, 102)
    PROCESSES[2].says(READY)
    PROCESSES[1].ends(-11)
    assert (worker.pid, worker.is_ready, worker.spare_pid) == (102, True, 103)


def test_a_spare_without_room_is_not_tried_again(worker: TuneWorkerHandle, owner: Owner) -> None:
    PROCESSES[0].ends(-11)
    PROCESSES[1].says(READY)
    PROCESSES[2].says(NO_ROOM)
    PROCESSES[1].ends(-11)  # before the end of the spare is noticed
    assert worker.pid == 103
    PROCESSES[2].ends()
    PROCESSES[3].says(READY)
    assert (worker.is_ready, worker.spare_pid, len(PROCESSES)) == (True, None, 4)
    assert "worker_broken" not in owner.heard


def test_a_replacement_without_room_waits_for_what_has_it(
    worker: TuneWorkerHandle, owner: Owner
) -> None:
    worker.replace()  # as when a kernel made the device unusable
    assert PROCESSES[0].is_killed
    PROCESSES[1].says(NO_ROOM)
    PROCESSES[1].ends()
    assert len(PROCESSES) == 2
    PROCESSES[0].ends(-9)
    PROCESSES[2].says(READY)
    assert (worker.pid, worker.is_ready, worker.spare_pid) == (102, True, None)
    assert "worker_broken" not in owner.heard


def test_everything_is_gone_before_the_worker_is(worker: TuneWorkerHandle, owner: Owner) -> None:
    PROCESSES[0].ends(-11)
    PROCESSES[1].says(READY)
    PROCESSES[2].says(READY)
    worker.close(kill=True)
    assert PROCESSES[1].is_killed
    assert PROCESSES[2].is_killed
    PROCESSES[2].ends(-9)
    assert worker.pid == 101
    PROCESSES[1].ends(-9)
    assert worker.pid is None
    assert owner.heard[-1] == "worker_gone"
