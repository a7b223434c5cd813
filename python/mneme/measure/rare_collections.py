"""Lets Python look for garbage less often while many objects are made that stay."""

from __future__ import annotations

import gc
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["rare_collections"]

# With Python's own numbers a search spends a tenth of its time so, and each stops all threads.
_THRESHOLDS = (20_000, 20, 50)
_lock = threading.Lock()
_users = 0
_usual: tuple[int, int, int] = (0, 0, 0)


@contextmanager
def rare_collections() -> Iterator[None]:
    """Collect garbage rarely while any caller needs it, and not among what is there already.

    A search keeps all that it makes, so that there is little to find.
    """
    global _users, _usual  # noqa: PLW0603 - one interpreter
    with _lock:
        if _users == 0:
            _usual = gc.get_threshold()
            if _usual[0]:  # 0: the caller has switched collections off
                gc.set_threshold(*map(max, _usual, _THRESHOLDS))
            gc.freeze()
        _users += 1
    try:
        yield
    finally:
        with _lock:
            _users -= 1
            if _users == 0:
                gc.set_threshold(*_usual)
                gc.unfreeze()
