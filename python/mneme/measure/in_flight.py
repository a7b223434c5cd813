"""Configurations that an executor which has no devices of its own was given."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mneme.measure.statistics import Counts

if TYPE_CHECKING:
    from collections.abc import Iterable
    from concurrent.futures import Future

    from mneme.measure.eval_future import EvalFuture
    from mneme.measure.statistics import ExecutorStatistics
    from mneme.mneme_types import ExperimentResult

__all__ = ["InFlight"]


class InFlight:
    """What is not finished, and counts of everything. For one thread at a time."""

    def __init__(self) -> None:
        """Begin with nothing."""
        # None: not sent yet.
        self._remotes: dict[EvalFuture, Future[dict[str, Any]] | None] = {}
        self._counted: set[EvalFuture] = set()
        self._counts = Counts()

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self._remotes)

    @property
    def statistics(self) -> ExecutorStatistics:
        """Statistics so far, as far as results contain them."""
        return self._counts.summary()

    def has_any(self, futures: Iterable[EvalFuture]) -> bool:
        """Whether one of these is not finished, nor dropped."""
        return not self._remotes.keys().isdisjoint(futures)

    def begin(self, futures: list[EvalFuture]) -> None:
        """Note that configurations were submitted."""
        self._counts.begin(len(futures))
        self._remotes.update(dict.fromkeys(futures))

    def send(self, futures: Iterable[EvalFuture], remote: Future[dict[str, Any]]) -> None:
        """Note that the pool has got them."""
        self._remotes.update(dict.fromkeys(self._remotes.keys() & futures, remote))

    def count(self, futures: list[EvalFuture], results: list[ExperimentResult] | None) -> None:
        """Count them as finished, unless they were dropped; None: without results."""
        found = [None] * len(futures) if results is None else results
        for future, result in zip(futures, found, strict=True):
            if future in self._remotes and future not in self._counted:
                self._counted.add(future)
                self._counts.end(result)

    def forget(self, futures: list[EvalFuture]) -> None:
        """Note that they are finished."""
        self.count(futures, None)
        self._counted.difference_update(futures)
        for future in futures:
            self._remotes.pop(future, None)

    def drop(self) -> dict[EvalFuture, Future[dict[str, Any]] | None]:
        """Forget all; return them with what the pool has of them."""
        dropped = dict(self._remotes)
        self.forget(list(dropped))
        return dropped
