"""The windows of device memory in this process, into which recorded states can be loaded."""

from __future__ import annotations

import weakref
from typing import Any, Protocol

__all__ = ["Window", "window_closed", "window_for", "window_opened"]


class Window(Protocol):
    """Device memory at recorded addresses."""

    def load(self, state: Any) -> None:  # noqa: ANN401 - a MemStateRef, of another room
        """Load a recorded state into the memory."""

    def holds(self, state: Any) -> bool:  # noqa: ANN401
        """Whether the memory equals a recorded state."""

    def covers(self, state: Any) -> bool:  # noqa: ANN401
        """Whether all memory of a recorded state is in the window."""

    def is_of(self, state: Any) -> bool:  # noqa: ANN401
        """Whether this state was loaded last."""


# Weak references: this list does not keep windows alive that their owner has dropped.
_windows: list[weakref.ref[Window]] = []


def window_opened(window: Window) -> None:
    """Load states that are opened from now on into this window."""
    _windows.append(weakref.ref(window))


def window_closed(window: Window) -> None:
    """Forget a window."""
    _windows[:] = [one for one in _windows if one() not in (None, window)]


def window_for(state: object) -> Window | None:
    """Return the newest window that a state fits into."""
    windows = [one() for one in reversed(_windows)]
    return next((one for one in windows if one is not None and one.covers(state)), None)
