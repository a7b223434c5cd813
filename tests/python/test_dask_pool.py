"""Dask's executor as searches need it."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from concurrent.futures import CancelledError
from pathlib import Path
from typing import Any

import pytest

from cluster_parts import CPU, PROGRAM, mneme
from mneme.devices import device_limits
from mneme.measure.futures_executor import FuturesReplayExecutor
from mneme.measure.late_processes import LateProcesses
from mneme.measure.pool_processes import PoolProcess, PoolProcesses, only, sure_pool
from mneme.measure.pool_task import why_lost
from mneme.mneme_types import ExperimentConfiguration, ExperimentResult
from mneme.recording.inventory import find_record
from native_parts import needs_native

distributed = pytest.importorskip("distributed")


class Call:
    """A future of Dask."""

    def __init__(self) -> None:
        self.status = "pending"
        self.outcome: Any = None

    def end(self, status: str, outcome: Any) -> None:
        self.status, self.outcome = status, outcome

    def cancel(self) -> None:
        self.end("cancelled", CancelledError())

    async def _result(self, **_: Any) -> Any:
        if isinstance(self.outcome, BaseException):
            raise self.outcome
        return self.outcome


class Client:
    """As Dask's: equal calls are one, unless it is told otherwise, also if that was cancelled."""

    status = "running"
    scheduler_comm = "a connection"

    def __init__(self) -> None:
        self.loop = self
        self.calls: dict[str, Call] = {}
        self._waiting: list[tuple[Callable[..., Any], Call, Any]] = []

    def nthreads(self) -> dict[str, int]:
        return {"here": 1}

    def submit(self, *call: Any, pure: bool = True, **_: Any) -> Call:
        return self.calls.setdefault(repr(call) if pure else str(len(self.calls)), Call())

    def add_callback(self, *waiting: Any) -> None:
        self._waiting.append(waiting)

    def tell(self) -> None:
        """Let those know that wait for calls which have ended."""
        ended = [one for one in self._waiting if one[1].status != "pending"]
        self._waiting = [one for one in self._waiting if one not in ended]
        for function, call, future in ended:
            asyncio.run(awaited(function, call, future))


async def awaited(function: Callable[..., Any], *given: Any) -> None:
    with contextlib.suppress(Exception):  # as loops do, which only log them
        await function(*given)


def pool_of(client: Client) -> Any:
    return sure_pool(distributed.cfexecutor.ClientExecutor(client))


@pytest.mark.parametrize("status", ["finished", "lost"])
def test_a_result_that_arrived_is_there_whatever_becomes_of_its_worker(status: str) -> None:
    client = Client()
    future = pool_of(client).submit(int)
    client.calls["0"].end(status, {"of": "four", "names": 1, "not": 2, "three": 3})
    client.tell()
    assert len(future.result(0)) == 4


def test_a_call_that_fails_is_an_error() -> None:
    client = Client()
    future = pool_of(client).submit(int)
    client.calls["0"].end("error", ValueError("its own"))
    client.tell()
    with pytest.raises(ValueError, match="its own"):
        future.result(0)


@pytest.mark.parametrize("status", ["finished", "lost"])
def test_a_result_that_is_lost_on_its_way_is_cancelled_and_says_why(status: str) -> None:
    client = Client()
    pool = pool_of(client)
    future = pool.submit(int)
    client.calls["0"].end(status, OSError("nobody has it"))
    client.tell()
    with pytest.raises(CancelledError) as raised:
        future.result(0)
    dropped = "the pool dropped this before it was done"
    assert str(why_lost(pool, raised.value)) == f"{dropped}: OSError: nobody has it"
    assert str(why_lost(pool, CancelledError())) == dropped


def test_what_dask_cancels_is_cancelled() -> None:
    client = Client()
    future = pool_of(client).submit(int)
    client.calls["0"].cancel()
    client.tell()
    assert future.cancelled()


def test_what_its_owner_cancels_is_cancelled_and_its_end_is_no_error() -> None:
    client = Client()
    future = pool_of(client).submit(int)
    assert future.cancel()
    assert client.calls["0"].status == "cancelled"
    client.tell()
    late = pool_of(client).submit(int)
    client.calls["1"].end("finished", 3)
    late.cancel()
    client.calls["1"].end("finished", 3)
    client.tell()
    assert late.cancelled()


@pytest.mark.compile
@needs_native
def test_what_was_cancelled_is_sent_again_as_another_call(tmp_path: Path) -> None:
    done = mneme("record", "-rdb", tmp_path, *CPU, "--", PROGRAM, "4096")
    assert done.returncode == 0, done.stderr
    client = Client()
    pool: Any = distributed.cfexecutor.ClientExecutor(client)
    executor = FuturesReplayExecutor(pool, find_record(tmp_path).path, None, 1, device="cpu")
    executor._late = late = LateProcesses(executor._pool, executor._spec, "", lambda *_: None)
    late.stop()
    executor._pool = only(executor._pool, ["gone"])
    future = executor.submit(ExperimentConfiguration())
    executor._pool = only(executor._pool, ["here"])
    node = PoolProcess(host="b", pid=1, limits=device_limits("cpu"))
    executor._add_late({"here"}, PoolProcesses(pool=executor._pool, by_address={"here": node}))
    client.tell()
    assert not future.done()
    first, second = client.calls.values()
    assert first.status == "cancelled"
    result = ExperimentResult(verified=True)
    answer = {"host": "b", "results": [result.to_dict()], "seconds": 1.0}
    second.end("finished", answer)
    client.tell()
    assert future.result(0) == result
