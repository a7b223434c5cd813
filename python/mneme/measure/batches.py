"""Puts measurements together: short ones share a scheduler's time for a task.

Processes that take one task at a time get larger ones, since they compile ahead within a task. Many
processes get larger ones, too, since a scheduler handles only so many tasks a second. Processes
that take several tasks at a time and compile ahead of all get as much as keeps them busy.
"""

from __future__ import annotations

import math
import threading
import time
from collections import deque
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Batches"]

Item = TypeVar("Item")

# A batch takes at least about this long, which is several times what Dask needs for a task; longer
# batches would leave other processes without work.
_BATCH_SECONDS = 0.04
# Dask's client and scheduler together need two to four milliseconds of a core for a task.
_TASKS_A_SECOND = 130.0
_LARGEST = 16
# Many processes begin with two items in one task instead of one in each of two, since a scheduler
# would need seconds to give each of them its first one.
_FIRST, _MANY = 2, 64
# Processes that compile ahead of several tasks begin with tasks of several items: the last one of
# many small ones would come late. A part of the number of tasks that one takes at a time, and the
# part to which tasks grow: what is finished waits for the rest of its task, and its place is empty.
_PART_TO_BEGIN, _LARGEST_PART, _LEAST_AHEAD = 4, 2, 2
# The last tasks are smaller, but not less than this part, or a scheduler could not keep up.
_SMALLEST_PART = 0.25
# Items that come within this time go together.
_GATHER_SECONDS = 0.001
# The pace is that of so many tasks of each process, at least of so many in all: processes that
# began together end together, and one such round by itself looks like a very fast pool.
_ROUNDS = 4
_REMEMBERED = 32


class _End(NamedTuple):
    """The end of a task."""

    when: float
    items: int
    nanoseconds: int
    """How long its process took; 0: unknown."""
    away: int
    """The nanoseconds that it was on its way, there and back, for each item."""


class Batches(Generic[Item]):
    """Gathers items while they are finished quickly, and sends them on in lists. Thread-safe."""

    def __init__(self, send: Callable[[list[Item]], None], processes: int = 1) -> None:
        """Prepare for a number of processes that take one task at a time.

        Args:
            send: Sends a list of items; called in a thread of this object's own.
            processes: How many processes finish the items.
        """
        self._send = send
        self._changed = threading.Condition()
        self._waiting: list[Item] = []
        self._whole, self._processes, self._slots, self._ahead = 1, processes, processes, 0
        self._tasks = self._there = 0
        self._left = math.inf
        self._ends: deque[_End] = deque()
        self._items = self._nanoseconds = self._away = 0
        self._thread: threading.Thread | None = None
        self._is_closed = False

    def resize(self, processes: int, slots: int, *, whole: int = 1, ahead: int = 0) -> None:
        """From now on, send to so many processes.

        Args:
            processes: How many there are. At least 1.
            slots: How many tasks all of them take at a time; while they have these, items wait for
                others.
            whole: How many items go together; 1: as many as their pace asks for.
            ahead: How many items all of them need to be busy, since they compile ahead of several
                tasks; while they have these, items wait for others. 0: only `slots` counts.
        """
        with self._changed:
            self._processes, self._slots, self._whole = processes, slots, whole
            self._ahead = ahead
            self._wake()

    @property
    def useful(self) -> int:
        """How many items processes that compile ahead should have, with those on their way."""
        with self._changed:
            more = 2 * self._processes * self._size() + self._on_way()
            return self._ahead + more if self._ahead else 0

    @property
    def size(self) -> int:
        """How many items now go together, unless they are the last ones."""
        with self._changed:
            return self._size()

    @property
    def known_size(self) -> int:
        """The same, but 1 until it is known how long items take."""
        with self._changed:
            is_known = self._whole > 1 or len(self._ends) >= _REMEMBERED
            return self._size() if is_known else 1

    def note_end(self, items: int, seconds: float = 0.0, since: float = 0.0) -> None:
        """Note that a task has ended.

        Args:
            items: How many it had.
            seconds: How long its process took for all; 0: unknown.
            since: The seconds since it was sent.
        """
        away = int(max(0.0, since - seconds) * items * 1e9) if seconds else 0
        with self._changed:
            self._tasks -= 1
            self._there -= items
            newest = _End(time.monotonic(), items, int(seconds * 1e9), away)
            self._ends.append(newest)
            self._items += newest.items
            self._nanoseconds += newest.nanoseconds
            self._away += newest.away
            while len(self._ends) > self._remembered:
                oldest = self._ends.popleft()
                self._items -= oldest.items
                self._nanoseconds -= oldest.nanoseconds
                self._away -= oldest.away
            self._wake()

    def note_task(self, items: int = 1) -> None:
        """Note that the pool has got a task of so many items."""
        with self._changed:
            self._tasks += 1
            self._there += items

    def note_lost(self, items: int) -> None:
        """Note that the pool will not end a task of so many items."""
        with self._changed:
            self._tasks -= 1
            self._there -= items
            self._wake()

    def add(self, item: Item) -> None:
        """Send an item soon, together with others that come now."""
        with self._changed:
            self._waiting.append(item)
            self._left -= 1
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="mneme-batches", daemon=True)
                self._thread.start()
            self._wake()

    def expect(self, items: int) -> None:
        """Note how many items will be added from now on.

        The last ones go in smaller lists, so that all processes end together.
        """
        with self._changed:
            self._left = items
            self._wake()

    def drop(self) -> None:
        """Never send what waits."""
        with self._changed:
            self._waiting.clear()

    def close(self) -> None:
        """Send what waits, and end the thread."""
        with self._changed:
            self._is_closed = True
            self._changed.notify()

    @property
    def _remembered(self) -> int:
        return max(_REMEMBERED, _ROUNDS * self._processes)

    def _size(self) -> int:
        if self._whole > 1:
            return self._whole
        at_once = self._slots // self._processes
        if len(self._ends) < _REMEMBERED:
            if self._ahead:
                return max(_LEAST_AHEAD, at_once // _PART_TO_BEGIN)
            return _FIRST if self._processes >= _MANY else 1
        pace = self._pace()
        # A scheduler that cannot keep up makes the pace slow, but no process takes longer.
        taken = self._nanoseconds * 1e-9
        is_full = taken and not self._ahead  # otherwise a process has fewer tasks than it takes
        wanted = self._slots * self._items / taken if is_full else pace
        # What one process needs, rounded down: long items go alone. What all need is
        # rounded up, and known before there is a pace where processes report how long items take.
        is_paced = len(self._ends) >= self._remembered
        of_one = int(_BATCH_SECONDS * pace / self._processes) if is_paced else 1
        if self._ahead:
            of_one = max(_LEAST_AHEAD, min(of_one, at_once // _LARGEST_PART))
        of_all = math.ceil(wanted / _TASKS_A_SECOND) if is_paced or taken else 1
        return max(1, min(_LARGEST, max(of_one, of_all)))

    def _pace(self) -> float:
        """Return how many items end in a second."""
        first, last = self._ends[0], self._ends[-1]
        return (self._items - first.items) / max(1e-9, last.when - first.when)

    def _on_way(self) -> int:
        """Return how many items are on their way to processes that compile ahead, or back.

        Where a task waits for its turn, this looks the same: no more than are compiled ahead.
        """
        if len(self._ends) < _REMEMBERED:
            return 0
        return min(self._ahead, int(self._pace() * self._away / max(1, self._items) * 1e-9))

    def _size_now(self) -> int:
        share = (max(0, self._left) + len(self._waiting)) / self._processes
        size = self._size()
        return int(max(1, min(size, max(share, _SMALLEST_PART * size))))

    def _run(self) -> None:
        while True:
            with self._changed:
                while not self._is_ready() and not self._is_closed:
                    self._changed.wait()
                if not self._waiting:
                    return
                is_whole = len(self._waiting) >= self._size_now()
                is_first = self._ahead > 0 and self._tasks == 0
            if self._whole == 1 and not is_whole and not is_first:
                # Where the process that searches is too slow for many, tasks of a few items each
                # would make it slower still. Those that compile ahead wait for no single one.
                is_long = self._processes >= _MANY or self._ahead > 0
                time.sleep(1 / _TASKS_A_SECOND if is_long else _GATHER_SECONDS)
            with self._changed:
                most = self._size_now()
                taken, self._waiting = self._waiting[:most], self._waiting[most:]
            if taken:  # it was not dropped
                self._send(taken)

    def _wake(self) -> None:
        """Wake the thread if it has something to do: waking it for nothing takes long."""
        if self._is_ready():
            self._changed.notify()

    def _is_ready(self) -> bool:
        if not self._waiting:
            return False
        if len(self._waiting) >= self._size_now():
            return True
        if self._ahead:
            # On average half of the oldest task of each process is finished.
            finished = self._processes * self._size() // 2
            return self._there < self._ahead + finished + self._on_way()
        return self._tasks < self._slots
