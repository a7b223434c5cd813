"""The main function of a worker that goes from recording to recording on one device."""

from __future__ import annotations

import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from mneme.errors import MnemeError
from mneme.measure.serving import serve

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mneme._native import ReplaySession
    from mneme.measure.serving import Handler

    _Launch = tuple[str, str]

__all__ = ["main"]


def main() -> None:
    """Replay the requests on standard input until it ends.

    The setting is "device". Messages are `(launch, configuration, options)`, the latter two as JSON
    and the launch as the path of a record and an id; their content replaces the recorded IR.
    Answers are `("result", (result as JSON, seconds without a request before it))`, or
    `("unopened", (class name, sentence))` if the launch cannot be opened. A launch stays open until
    another one is asked for.
    """
    serve(_open)


@contextmanager
def _open(device: str) -> Iterator[tuple[object, Handler]]:
    from mneme import _native  # noqa: PLC0415 - after the watch over the parent has begun

    # A GPU is started once: its context lives as long as somebody holds the device.
    held = _native.Device(device)
    opened = _Opened(device)

    ended = time.monotonic()

    def answer(message: tuple[_Launch, str, str], ir: bytes) -> tuple[str, object]:
        nonlocal ended
        idle = time.monotonic() - ended
        launch, config, options = message
        try:
            session = opened.session_of(launch)
        except MnemeError as error:
            return "unopened", (type(error).__name__, str(error))
        result = session.run(config, options, ir)[0]
        ended = time.monotonic()
        return "result", (result, idle)

    try:
        yield held.target(), answer
    finally:
        opened.close()


class _Opened:
    """The launch that is open, if any: recorded addresses are for one at a time."""

    def __init__(self, device: str) -> None:
        self._device = device
        self._launch: _Launch | None = None
        self._session: ReplaySession | None = None

    def session_of(self, launch: _Launch) -> ReplaySession:
        """Return the session of a launch, which is opened if it is not."""
        from mneme import _native  # noqa: PLC0415 - loaded by now

        if self._session is None or launch != self._launch:
            self.close()
            self._session = _native.ReplaySession(*launch, self._device)
            self._launch = launch
        return self._session

    def close(self) -> None:
        """Give the memory of the open launch back."""
        if self._session is not None:
            self._session.close()
        self._session = self._launch = None
