"""Ctrl-C while native code runs, and the signals that batch systems send instead."""

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
    """Let an interrupt end the process at once, as in programs without a handler.

    The interpreter would wait for native code to return, which never happens if a kernel hangs.
    Shells show such an end as exit code 130.
    """
    previous = signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, previous)


def interrupt_on_request() -> None:
    """Treat a batch system's signal, or the end of the terminal, like an interrupt.

    If the caller ignores the terminal's end (`nohup`), it stays ignored.
    """
    signal.signal(signal.SIGTERM, _interrupt)
    if signal.getsignal(signal.SIGHUP) is signal.SIG_DFL:
        signal.signal(signal.SIGHUP, _interrupt)


def _interrupt(number: int, frame: FrameType | None) -> None:
    del number, frame
    raise KeyboardInterrupt
