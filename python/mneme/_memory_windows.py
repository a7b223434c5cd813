"""Which windows of device memory this process has, so that recorded states can be put there."""

from __future__ import annotations

import weakref
from typing import Any, Protocol

__all__ = ["Window", "window_closed", "window_for", "window_opened"]


class Window(Protocol):
    """Device memory at recorded addresses."""

    def load(self, state: Any) -> None:  # noqa: ANN401 - a MemStateRef, of another room
        """Let the memory hold a recorded state."""

    def holds(self, state: Any) -> bool:  # noqa: ANN401
        """Whether the memory is that of a recorded state."""

    def covers(self, state: Any) -> bool:  # noqa: ANN401
        """Whether all memory of a recorded state lies in the window."""

    def is_of(self, state: Any) -> bool:  # noqa: ANN401
        """Whether this state is the one that was loaded last."""


# Windows belong to those who made them: one that is forgotten is not kept alive by this list.
_windows: list[weakref.ref[Window]] = []


def window_opened(window: Window) -> None:
    """States that are opened from now on go there."""
    _windows.append(weakref.ref(window))


def window_closed(window: Window) -> None:
    """Forget a window."""
    _windows[:] = [one for one in _windows if one() not in (None, window)]


def window_for(state: object) -> Window | None:
    """Return the newest window that a state fits in."""
    windows = [one() for one in reversed(_windows)]
    return next((one for one in windows if one is not None and one.covers(state)), None)
