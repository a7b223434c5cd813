"""Ctrl-C while native code runs, and what batch systems send instead of it."""

from __future__ import annotations

import signal
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

__all__ = ["interrupt_ends_process", "interrupt_on_request"]


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


def interrupt_on_request() -> None:
    """End as after an interrupt from the keyboard when a batch system asks, or the terminal goes.

    A terminal's end that the caller ignores (`nohup`) stays ignored.
    """
    signal.signal(signal.SIGTERM, _interrupt)
    if signal.getsignal(signal.SIGHUP) is signal.SIG_DFL:
        signal.signal(signal.SIGHUP, _interrupt)


def _interrupt(number: int, frame: FrameType | None) -> None:
    del number, frame
    raise KeyboardInterrupt
