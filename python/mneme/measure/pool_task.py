"""The tasks that a `FuturesReplayExecutor` gives to its pool."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mneme.mneme_types import ExperimentResult

if TYPE_CHECKING:
    from collections.abc import Iterable
    from collections.abc import Set as AbstractSet
    from concurrent.futures import BrokenExecutor, Future

    from mneme.measure.eval_future import EvalFuture

__all__ = ["PoolTask", "SentTasks", "broken", "grouped", "lost_result"]


@dataclass(slots=True)
class PoolTask:
    """Configurations that one process measures."""

    futures: list[EvalFuture]
    configurations: list[dict[str, Any]]
    ir: bytes
    options: dict[str, Any]
    tries: int = 0
    places: frozenset[str] = frozenset()
    """The workers of a Dask cluster that may take it; empty: the pool chooses among all."""

    def is_like(self, other: PoolTask) -> bool:
        """Whether both differ in their configurations only."""
        return self.options == other.options and self.ir == other.ir


class SentTasks:
    """Tasks that the pool has. For one thread at a time."""

    def __init__(self) -> None:
        """Make it empty."""
        self._tasks: dict[Future[dict[str, Any]], PoolTask] = {}

    def add(self, remote: Future[dict[str, Any]], task: PoolTask) -> None:
        """Note that the pool got a task."""
        self._tasks[remote] = task

    def remove(self, remote: Future[dict[str, Any]]) -> bool:
        """Note that a task has ended; false if it is none of these any more."""
        return self._tasks.pop(remote, None) is not None

    def take_stranded(self, alive: AbstractSet[str]) -> dict[Future[dict[str, Any]], PoolTask]:
        """Remove and return tasks that only workers could take which are gone.

        Args:
            alive: The addresses of all workers.
        """
        places = {one.places for one in self._tasks.values()}
        gone = {one for one in places if one and one.isdisjoint(alive)}
        found = {one: task for one, task in self._tasks.items() if task.places in gone}
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


def lost_result(failure: BaseException) -> ExperimentResult:
    """Return the result of a configuration whose process died, or failed in another way."""
    sentence = f"A process of the pool failed ({type(failure).__name__}: {failure})"
    return ExperimentResult(failed=True, error=sentence, result_class="failed", worker_died=True)


def broken(error: BrokenExecutor) -> str:
    """Return why a pool takes no more configurations."""
    return (
        f"a process of the pool died and broke it: {error}; make a new pool, or use one that "
        "replaces its processes"
    )
