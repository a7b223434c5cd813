"""How long other threads of this process compute before one that has to answer gets its turn."""

from __future__ import annotations

import sys
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["quick_switches"]

_SECONDS = 0.0005
_lock = threading.Lock()
_users = 0
_usual = 0.0


@contextmanager
def quick_switches() -> Iterator[None]:
    """Let threads take turns ten times as often as usual, as long as anybody needs it.

    A sampler that computes all the time must not make devices wait for the thread that serves them.
    """
    global _users, _usual  # noqa: PLW0603 - one interpreter
    with _lock:
        if _users == 0:
            _usual = sys.getswitchinterval()
            sys.setswitchinterval(min(_usual, _SECONDS))
        _users += 1
    try:
        yield
    finally:
        with _lock:
            _users -= 1
            if _users == 0:
                sys.setswitchinterval(_usual)
