"""Whose launch a device measures next, where several threads use one device."""

from __future__ import annotations

import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Turns"]


class Turns:
    """The turns of one device. Thread-safe.

    A thread that has the turn queues replays. It passes the turn on with the last of them, and
    waits for their results while the next thread queues its own. A device answers in order.
    """

    def __init__(self) -> None:
        """Make it; nobody has the turn."""
        self._lock = threading.Lock()
        self._noting = threading.Lock()
        self._mine = threading.local()
        self._free_since = time.monotonic()
        self._idle_seconds = 0.0

    @contextmanager
    def taken(self) -> Iterator[None]:
        """Wait for the turn, and have it until the end or until `pass_on`."""
        self._lock.acquire()
        self._mine.has_turn = True
        try:
            yield
        finally:
            self.pass_on()

    def pass_on(self) -> None:
        """Let the next thread queue; without the turn nothing happens."""
        if getattr(self._mine, "has_turn", False):
            self._mine.has_turn = False
            self._lock.release()

    def finish(self, began: float, idle_seconds: float) -> tuple[float, float, float]:
        """Note that all results of this thread are there.

        Args:
            began: When it began to wait for code, as `time.monotonic` gives it.
            idle_seconds: How long the device has waited for replays to do, in all.

        Returns:
            When the device was free for it, and the seconds since then: together, the launches of
            a device take as long as the device does. How long it waited for replays in them.
        """
        now = time.monotonic()
        with self._noting:
            start = max(began, self._free_since)
            before = start - self._free_since  # nobody had anything to measure
            idle = idle_seconds - self._idle_seconds - before
            self._free_since, self._idle_seconds = now, idle_seconds
        return start, now - start, max(0.0, idle)
