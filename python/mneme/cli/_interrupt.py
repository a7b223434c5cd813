"""Ctrl-C while native code runs."""

from __future__ import annotations

import signal
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["interrupt_ends_process"]


@contextmanager
def interrupt_ends_process() -> Iterator[None]:
    """Let an interrupt end the process at once, as programs without handler do.

    The interpreter would wait for native code to return, and a kernel that hangs never does.
    Shells show such an end as exit code 130.
    """
    previous = signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, previous)
