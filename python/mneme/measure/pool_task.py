"""The tasks that a `FuturesReplayExecutor` gives to its pool."""

from __future__ import annotations

import contextlib
import time
from concurrent.futures import BrokenExecutor, CancelledError
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mneme.errors import BackendUnavailable, InvalidArgument, MnemeError
from mneme.measure.remote_evaluation import hold
from mneme.mneme_types import ExperimentResult

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from collections.abc import Set as AbstractSet
    from concurrent.futures import Executor, Future

    from mneme.measure.eval_future import EvalFuture
    from mneme.measure.remote_evaluation import RemoteSpec

__all__ = [
    "BrokenPool",
    "PoolTask",
    "SentTasks",
    "broken",
    "connection_of",
    "grouped",
    "handed_to",
    "hold_refused",
    "is_connected",
    "lost_result",
    "seconds_of",
    "why_lost",
]


class BrokenPool(BackendUnavailable):
    """A pool cannot measure any more, whatever launch: its processes or its scheduler are gone."""


@dataclass(slots=True)
class PoolTask:
    """Configurations that one process measures."""

    futures: list[EvalFuture]
    configurations: list[dict[str, Any]]
    ir: bytes
    options: dict[str, Any]
    tries: int = 0
    sent: float = 0.0
    """When the pool got it, as of `time.monotonic`."""
    places: frozenset[str] = frozenset()
    """The workers of a Dask cluster that may take it; empty: the pool chooses among all."""
    connection: object = None
    """The connection by which it went to Dask's scheduler; None: the first that there is then."""

    @property
    def age(self) -> float:
        """The seconds since the pool got it."""
        return time.monotonic() - self.sent

    def fail(self, error: MnemeError) -> None:
        """Let all its futures raise an error."""
        for future in self.futures:
            future.set_error(error)

    def finish(self, found: list[ExperimentResult] | MnemeError) -> None:
        """Give all its futures their results, or the error that there is instead."""
        if isinstance(found, MnemeError):
            self.fail(found)
            return
        for future, result in zip(self.futures, found, strict=True):
            future.set_result(result)

    def is_like(self, other: PoolTask) -> bool:
        """Whether both differ in their configurations only."""
        return self.options == other.options and self.ir == other.ir


def hold_refused(pool: Executor, spec: RemoteSpec, idle: int) -> None:
    """Keep a process busy that has refused a task, so that another one gets what comes next.

    Some pools give that to the process which became free last, others, such as MPI's, to the one
    that waits longest: then all that are idle come before the one that refused.

    Args:
        pool: The pool, in which nobody can choose a process.
        spec: What it measures, and who is not to.
        idle: How many of its processes have nothing to do.
    """
    with contextlib.suppress(Exception):
        for number in range(1 + max(0, idle)):
            pool.submit(hold, spec, number)


class SentTasks:
    """Tasks that the pool has. For one thread at a time."""

    def __init__(self) -> None:
        """Make it empty."""
        self._tasks: dict[Future[dict[str, Any]], PoolTask] = {}

    def add(self, remote: Future[dict[str, Any]], task: PoolTask) -> None:
        """Note that the pool got a task."""
        self._tasks[remote] = task

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self._tasks)

    def remove(self, remote: Future[dict[str, Any]]) -> bool:
        """Note that a task has ended; false if it is none of these any more."""
        return self._tasks.pop(remote, None) is not None

    def take(
        self, remotes: Iterable[Future[dict[str, Any]]]
    ) -> dict[Future[dict[str, Any]], PoolTask]:
        """Remove and return those of these tasks that have not ended."""
        return {one: self._tasks.pop(one) for one in set(remotes) if one in self._tasks}

    def take_stranded(
        self, alive: AbstractSet[str], connection: object = None
    ) -> dict[Future[dict[str, Any]], PoolTask]:
        """Remove and return tasks that only workers could take which are gone, or that are lost.

        Dask drops what a client has at a scheduler when their connection breaks. It does not say so
        of tasks whose results were on their way.

        Args:
            alive: The addresses of all workers.
            connection: As `connection_of` returns it now.
        """
        places = {one.places for one in self._tasks.values()}
        gone = {one for one in places if one and one.isdisjoint(alive)}
        found: dict[Future[dict[str, Any]], PoolTask] = {}
        for one, task in self._tasks.items():
            task.connection = task.connection or connection
            if task.places in gone or (connection and task.connection is not connection):
                found[one] = task
        for one in found:
            del self._tasks[one]
        return found


def grouped(tasks: Iterable[PoolTask], largest: int) -> list[PoolTask]:
    """Return fewer tasks, of at most so many configurations, with those of all."""
    found: list[PoolTask] = []
    for task in tasks:
        last = found[-1] if found else None
        if last and len(last.futures) < largest and last.is_like(task):
            last.futures += task.futures
            last.configurations += task.configurations
        else:
            found.append(task)
    return found


def handed_to(
    pool: Executor, evaluate: Callable[..., dict[str, Any]], spec: RemoteSpec, task: PoolTask
) -> Future[dict[str, Any]]:
    """Submit a task; return the pool's future.

    Raises:
        InvalidArgument: If the pool is shut down.
        BackendUnavailable: If it takes nothing for another reason; `BrokenPool` if it is broken.
    """
    number, task.sent = task.futures[0].job_id, time.monotonic()
    try:
        return pool.submit(evaluate, spec, number, task.configurations, task.ir, task.options)
    except BrokenExecutor as error:
        raise BrokenPool(broken(error)) from error
    except RuntimeError as error:
        raise InvalidArgument(f"the pool takes no configurations: {error}") from error
    except Exception as error:  # such as Dask's own of a scheduler that is gone
        is_gone = getattr(pool, "_client", None) is not None and not is_connected(pool)
        kind = BrokenPool if is_gone else BackendUnavailable
        raise kind(f"the pool takes no configurations: {error}") from error


def seconds_of(remote: Future[dict[str, Any]]) -> float:
    """Return how long a process took for a task that has ended; 0 if it failed."""
    is_right = not remote.cancelled() and remote.exception() is None
    return float(remote.result().get("seconds", 0.0)) if is_right else 0.0


def lost_result(failure: BaseException) -> ExperimentResult:
    """Return the result of a configuration whose process died, or failed in another way."""
    sentence = f"A process of the pool failed ({type(failure).__name__}: {failure})"
    return ExperimentResult(failed=True, error=sentence, result_class="failed", worker_died=True)


def is_connected(pool: Executor) -> bool:
    """Whether a Dask pool reaches its scheduler, or tries to; false for other pools.

    When the connection breaks, Dask drops all that a client has there, and connects again.
    """
    client = getattr(pool, "_client", None)
    return getattr(client, "status", "") in {"running", "connecting"}


def connection_of(pool: Executor) -> object:
    """Return the connection of a Dask pool to its scheduler; None: there is none now."""
    return getattr(getattr(pool, "_client", None), "scheduler_comm", None)


def why_lost(pool: Executor, failure: Exception) -> MnemeError:
    """Return the error of a task that could not be sent again; `BrokenPool` if none can be."""
    if not isinstance(failure, CancelledError):
        return BackendUnavailable(str(failure))
    if getattr(pool, "_client", None) is None or is_connected(pool):
        why = f": {failure}" if str(failure) else ""
        return InvalidArgument(f"the pool dropped this before it was done{why}")
    return BrokenPool("the connection to the scheduler of Dask broke, and it does not answer")


def broken(error: BrokenExecutor) -> str:
    """Return why a pool takes no more configurations."""
    return (
        f"a process of the pool died and broke it: {error}; make a new pool, or use one that "
        "replaces its processes"
    )
