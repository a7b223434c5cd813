"""Delays interrupts."""

from __future__ import annotations

import signal
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

__all__ = ["interrupts_wait"]

_INTERRUPTS = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)


@contextmanager
def interrupts_wait() -> Iterator[None]:
    """Delay a `KeyboardInterrupt` until the end of the block.

    Python's handlers run in the main thread only; in other threads this does nothing.
    """
    came: list[int] = []

    def note(number: int, frame: FrameType | None) -> None:
        del frame
        came.append(number)

    is_main = threading.current_thread() is threading.main_thread()
    known = {number: signal.getsignal(number) for number in _INTERRUPTS if is_main}
    handlers = {number: handler for number, handler in known.items() if callable(handler)}
    try:
        for number in handlers:
            signal.signal(number, note)
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
    for sent in came:
        handlers[signal.Signals(sent)](sent, None)
