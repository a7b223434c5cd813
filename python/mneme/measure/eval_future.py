"""The result of one configuration, now or later."""

from __future__ import annotations

import logging
import queue
import threading
import time
from typing import TYPE_CHECKING

from mneme.errors import MnemeError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from mneme.mneme_types import ExperimentConfiguration, ExperimentResult

__all__ = ["EvalFuture", "EvaluationFailed", "as_completed", "results_of"]


class EvaluationFailed(MnemeError, RuntimeError):  # noqa: N818 - like the other errors
    """A configuration could not be evaluated, for the reason given to `set_error`."""


class EvalFuture:
    """The result of one configuration, now or later. Thread-safe."""

    def __init__(
        self, job_id: int, config: ExperimentConfiguration, ir: bytes | None = None
    ) -> None:
        """Make a future without result."""
        self.job_id = job_id
        self.config = config
        self.ir = ir
        self._done = threading.Event()
        self._lock = threading.Lock()
        self._callbacks: list[Callable[[EvalFuture], object]] = []
        self._result: ExperimentResult | None = None
        self._error: BaseException | None = None

    def set_result(self, result: ExperimentResult) -> None:
        """Set the result, unless there is one already."""
        self._finish(result, None)

    def set_error(self, error: BaseException | str) -> None:
        """Make `result` raise, unless there is a result already.

        Args:
            error: The exception, or the message of an `EvaluationFailed`.
        """
        self._finish(None, EvaluationFailed(error) if isinstance(error, str) else error)

    def done(self) -> bool:
        """Whether there is a result or an error."""
        return self._done.is_set()

    def result(self, timeout: float | None = None) -> ExperimentResult | None:
        """Wait for the result.

        Args:
            timeout: Seconds to wait; None: no limit.

        Returns:
            The result, or None if it is not available in time.

        Raises:
            MnemeError: If the configuration could not be evaluated at all.
        """
        if not self._done.wait(timeout):
            return None
        if self._error is not None:
            raise self._error
        return self._result

    def add_done_callback(self, function: Callable[[EvalFuture], object]) -> None:
        """Call `function` with this future once it is done, or at once if it is.

        A thread of the executor makes the call, and does nothing else meanwhile. Exceptions are
        logged and dropped.
        """
        with self._lock:
            if not self._done.is_set():
                self._callbacks.append(function)
                return
        self._call(function)

    def _finish(self, result: ExperimentResult | None, error: BaseException | None) -> None:
        with self._lock:
            if self._done.is_set():
                return
            self._result, self._error = result, error
            callbacks, self._callbacks = self._callbacks, []
            self._done.set()
        for function in callbacks:
            self._call(function)

    def _call(self, function: Callable[[EvalFuture], object]) -> None:
        try:
            function(self)
        except Exception:  # the executor goes on
            logging.getLogger("mneme").exception("a callback of configuration %d", self.job_id)


def as_completed(
    futures: Iterable[EvalFuture], timeout: float | None = None
) -> Iterator[EvalFuture]:
    """Yield futures as they are done.

    Args:
        futures: Futures of any executor; a repeated one is yielded once.
        timeout: Seconds for all of them; None: no limit.

    Raises:
        TimeoutError: If not all are done in time.
    """
    end = None if timeout is None else time.monotonic() + timeout
    done: queue.SimpleQueue[EvalFuture] = queue.SimpleQueue()
    waiting = set(futures)
    for future in waiting:
        future.add_done_callback(done.put)
    for left in range(len(waiting), 0, -1):
        try:
            yield done.get(timeout=None if end is None else max(0.0, end - time.monotonic()))
        except queue.Empty:
            raise TimeoutError(f"{left} of {len(waiting)} configurations are not done") from None


def results_of(futures: Sequence[EvalFuture]) -> list[ExperimentResult]:
    """Wait for all futures, and return their results.

    The waiting thread wakes once, at the end: the executor's own thread loses its turn each time.

    Raises:
        MnemeError: If a configuration could not be evaluated at all.
    """
    lock, is_over = threading.Lock(), threading.Event()
    left = len(futures)

    def count(_: EvalFuture) -> None:
        nonlocal left
        with lock:
            left -= 1
            if left == 0:
                is_over.set()

    for future in futures:
        future.add_done_callback(count)
    if futures:
        is_over.wait()
    return [result for future in futures if (result := future.result()) is not None]
