"""Puts measurements together: short ones share a scheduler's time for a task.

Processes that take one task at a time get larger ones, since they compile ahead within a task.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Batches"]

Item = TypeVar("Item")

# A batch takes about this long, which is several times what Dask needs for a task; longer batches
# would leave other processes without work.
_BATCH_SECONDS = 0.02
_LARGEST = 8
# Items that come within this time go together.
_GATHER_SECONDS = 0.001
_REMEMBERED = 32


class Batches(Generic[Item]):
    """Gathers items while they are finished quickly, and sends them on in lists. Thread-safe."""

    def __init__(self, send: Callable[[list[Item]], None]) -> None:
        """Take what sends a list of items; it is called in a thread of this object's own."""
        self._send = send
        self._changed = threading.Condition()
        self._waiting: list[Item] = []
        self._whole, self._processes, self._tasks = 1, 1, 0
        self._ends: deque[float] = deque(maxlen=_REMEMBERED)
        self._thread: threading.Thread | None = None
        self._is_closed = False

    def hold(self, whole: int, processes: int) -> None:
        """From now on, wait for `whole` items as long as each process has a task."""
        with self._changed:
            self._whole, self._processes = whole, processes

    def size(self, processes: int) -> int:
        """Return how many items now go together, by how fast each process finishes them."""
        with self._changed:
            if self._whole > 1:
                return self._whole
            if len(self._ends) < _REMEMBERED:
                return 1
            seconds = (self._ends[-1] - self._ends[0]) / (len(self._ends) - 1)
        fitting = _BATCH_SECONDS / max(1e-9, seconds * max(1, processes))
        return max(1, min(_LARGEST, int(fitting)))

    def note_end(self) -> None:
        """Note that an item is finished."""
        with self._changed:
            self._ends.append(time.monotonic())

    def note_tasks(self, more: int) -> None:
        """Note that the pool has got so many tasks, or, if negative, has finished them."""
        with self._changed:
            self._tasks += more
            self._changed.notify()

    def add(self, item: Item) -> None:
        """Send an item soon, together with others that come now."""
        with self._changed:
            self._waiting.append(item)
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="mneme-batches", daemon=True)
                self._thread.start()
            self._changed.notify()

    def close(self) -> None:
        """Send what waits, and end the thread."""
        with self._changed:
            self._is_closed = True
            self._changed.notify()

    def _run(self) -> None:
        while True:
            with self._changed:
                while not self._is_ready() and not self._is_closed:
                    self._changed.wait()
                if not self._waiting:
                    return
            if self._whole == 1:
                time.sleep(_GATHER_SECONDS)
            with self._changed:
                most = self._whole if self._whole > 1 else len(self._waiting)
                taken, self._waiting = self._waiting[:most], self._waiting[most:]
            self._send(taken)

    def _is_ready(self) -> bool:
        is_whole = len(self._waiting) >= self._whole
        return bool(self._waiting) and (is_whole or self._tasks < self._processes)
