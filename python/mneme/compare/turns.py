"""Whose launch a device measures next, where each of its processes has one open."""

from __future__ import annotations

import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Lane", "Turns"]


class Turns:
    """The turns of one device. Thread-safe.

    Only the thread that has the turn runs kernels. Others open launches meanwhile, unless the one
    with the turn needs the memory of the device for itself.
    """

    def __init__(self) -> None:
        """Make it; nobody has the turn."""
        self._lock = threading.Lock()
        self._opening = threading.Lock()
        self._noting = threading.Lock()
        self._free_since = time.monotonic()
        self._with_open: set[int] = set()

    def note_open(self, lane: int, *, is_open: bool) -> None:
        """Note whether a lane has a launch open, by its number."""
        with self._noting:
            (self._with_open.add if is_open else self._with_open.discard)(lane)

    def note_alone(self, lane: int) -> None:
        """Note that no lane but this one has a launch open."""
        with self._noting:
            self._with_open.intersection_update({lane})

    def has_open(self, lane: int) -> bool:
        """Whether a lane has a launch open; only others change that, in their turns."""
        with self._noting:
            return lane in self._with_open

    @contextmanager
    def taken(self) -> Iterator[None]:
        """Wait for the turn, and have it until the end."""
        with self._lock:
            yield

    @contextmanager
    def opening(self) -> Iterator[None]:
        """Let no other thread open a launch before its turn, until the end."""
        with self._opening:
            yield

    def finish(self, began: float) -> tuple[float, float]:
        """Note that all results of this thread are there.

        Args:
            began: When it began to wait for code, as `time.monotonic` gives it.

        Returns:
            When the device was free for it, and the seconds since then: together, the launches of
            a device take as long as the device does.
        """
        now = time.monotonic()
        with self._noting:
            start = max(began, self._free_since)
            self._free_since = now
        return start, now - start


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Lane:
    """One process of a device."""

    device: int
    """Number of the device."""
    number: int = 0
    """Which of the processes of the device."""
    most_part: float = 0.0
    """The part of the memory left that a launch may have to be opened beside another; 0: any."""
    turns: Turns
    """Those of the device."""
