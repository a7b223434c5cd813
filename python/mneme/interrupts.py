"""Delays interrupts."""

from __future__ import annotations

import signal
import threading
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType, TracebackType

__all__ = ["interrupts_wait", "interrupts_wait_often"]

_INTERRUPTS = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)


class _Handlers(AbstractContextManager[None]):
    """Handlers of interrupts that call the usual ones: at once, or at the end of a block."""

    def __init__(self) -> None:
        self._depth = 0
        self._came: list[int] = []
        known = {number: signal.getsignal(number) for number in _INTERRUPTS}
        self._usual: dict[int, Any] = {
            number: handler for number, handler in known.items() if callable(handler)
        }

    def install(self) -> None:
        """Handle interrupts from now on."""
        for number in self._usual:
            signal.signal(number, self._note)

    def remove(self) -> None:
        """Let the usual handlers handle them again."""
        for number, handler in self._usual.items():
            signal.signal(number, handler)

    def __enter__(self) -> None:
        self._depth += 1

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._depth -= 1
        if not self._depth:
            self._handle(None)

    def _note(self, number: int, frame: FrameType | None) -> None:
        self._came.append(number)
        if not self._depth:
            self._handle(frame)  # with what a block that ends just now has not handled yet

    def _handle(self, frame: FrameType | None) -> None:
        came, self._came = self._came, []
        for sent in came:
            self._usual[sent](sent, frame)


class _Present(threading.local):
    """What `interrupts_wait_often` has installed, for the main thread only."""

    handlers: _Handlers | None = None


_present = _Present()


def interrupts_wait() -> AbstractContextManager[None]:
    """Delay a `KeyboardInterrupt` until the end of the block.

    Python's handlers run in the main thread only; in other threads this does nothing.
    """
    return _present.handlers or _alone()


@contextmanager
def interrupts_wait_often() -> Iterator[None]:
    """Make `interrupts_wait` cost little within the block, for what uses it a thousand times."""
    if _present.handlers is not None or threading.current_thread() is not threading.main_thread():
        yield
        return
    handlers = _present.handlers = _Handlers()
    try:
        handlers.install()
        yield
    finally:
        _present.handlers = None
        handlers.remove()


@contextmanager
def _alone() -> Iterator[None]:
    with interrupts_wait_often():
        if _present.handlers is None:
            yield
        else:
            with _present.handlers:
                yield
