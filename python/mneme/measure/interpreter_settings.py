"""Settings of the interpreter that hold while anybody in this process needs them."""

from __future__ import annotations

import gc
import sys
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["quick_switches", "rare_collections"]

_SWITCH_SECONDS = 0.0005
# With Python's own numbers a search spends a tenth of its time so, and each stops all threads.
_THRESHOLDS = (20_000, 20, 50)


class _Shared:
    """A setting that the first user makes and the last one takes back. Thread-safe."""

    def __init__(self, make: Callable[[], Callable[[], None]]) -> None:
        """Describe it; `make` makes the setting and returns what takes it back."""
        self._make = make
        self._lock = threading.Lock()
        self._users = 0
        self._take_back: Callable[[], None] = lambda: None

    @contextmanager
    def used(self) -> Iterator[None]:
        """Have the setting until the end."""
        with self._lock:
            if self._users == 0:
                self._take_back = self._make()
            self._users += 1
        try:
            yield
        finally:
            with self._lock:
                self._users -= 1
                if self._users == 0:
                    self._take_back()


def _switch_quickly() -> Callable[[], None]:
    usual = sys.getswitchinterval()
    sys.setswitchinterval(min(usual, _SWITCH_SECONDS))
    return lambda: sys.setswitchinterval(usual)


def _collect_rarely() -> Callable[[], None]:
    usual = gc.get_threshold()
    if usual[0]:  # 0: the caller has switched collections off
        gc.set_threshold(*map(max, usual, _THRESHOLDS))
    gc.freeze()

    def take_back() -> None:
        gc.set_threshold(*usual)
        gc.unfreeze()

    return take_back


quick_switches = _Shared(_switch_quickly).used
"""Switch between threads ten times as often as usual: a sampler that computes all the time must not
make devices wait for the thread that serves them."""

rare_collections = _Shared(_collect_rarely).used
"""Collect garbage rarely, and not among what is there already: a search keeps all that it makes, so
that there is little to find."""
