"""The main function of a worker that goes from recording to recording on one device."""

from __future__ import annotations

import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from mneme.errors import MnemeError, OutOfMemory
from mneme.measure.serving import serve

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mneme._native import Device, ReplaySession
    from mneme.measure.serving import Handler

    _Launch = tuple[str, str]

__all__ = ["main"]


def main() -> None:
    """Replay the requests on standard input until it ends.

    The setting is "device". A launch is the path of a record and an id. It stays open until another
    one is asked for. Messages and their answers:

    - `("run", launch, configuration, options)`, the latter two as JSON:
      `("result", (result as JSON, seconds without a request before it))`
    - `("open", launch, path of its prologue, most of the free memory)`: `("done", None)`
    - `("close",)`: `("done", None)`

    A launch that cannot be opened, or that has more than this part of what is free, gives
    `("unopened", (class name, sentence))`.
    """
    serve(_open)


@contextmanager
def _open(device: str) -> Iterator[tuple[object, Handler]]:
    from mneme import _native  # noqa: PLC0415 - after the watch over the parent has begun

    # A GPU is started once: its context lives as long as somebody holds the device.
    held = _native.Device(device)
    opened = _Opened(device, held)

    ended = time.monotonic()

    def answer(message: tuple[Any, ...], ir: bytes) -> tuple[str, object]:
        nonlocal ended
        idle = time.monotonic() - ended
        verb, *more = message
        try:
            if verb == "run":
                launch, config, options = more
                return "result", (opened.session_of(launch).run(config, options, ir)[0], idle)
            if verb == "open":
                opened.open_small(*more)
            else:
                opened.close()
        except _Unopened as failure:
            return "unopened", (type(failure.why).__name__, str(failure.why))
        finally:
            ended = time.monotonic()
        return "done", None

    try:
        yield held.target(), answer
    finally:
        opened.close()


class _Unopened(Exception):  # noqa: N818 - an answer, not an error
    def __init__(self, why: MnemeError) -> None:
        super().__init__()
        self.why = why


class _Opened:
    """The launch that is open, if any: recorded addresses are for one at a time."""

    def __init__(self, device: str, held: Device) -> None:
        self._device = device
        self._held = held
        self._launch: _Launch | None = None
        self._session: ReplaySession | None = None

    def session_of(self, launch: _Launch) -> ReplaySession:
        """Return the session of a launch, which is opened if it is not."""
        from mneme import _native  # noqa: PLC0415 - loaded by now

        if self._session is None or launch != self._launch:
            self.close()
            try:
                self._session = _native.ReplaySession(*launch, self._device)
            except MnemeError as error:
                raise _Unopened(error) from error
            self._launch = launch
        return self._session

    def open_small(self, launch: _Launch, prologue: str, most_part: float) -> None:
        """Open a launch unless it has more than this part of the free memory.

        What is open is closed in any case.
        """
        from mneme import _native  # noqa: PLC0415 - loaded by now

        self.close()
        try:
            taken = int(_native.Snapshot(prologue).sizes()["raw"])
            left = self._held.memory_left() if most_part else None
            if left is not None and taken > left * most_part:
                raise OutOfMemory(f"{taken} bytes beside another launch, with {left} bytes left")
        except MnemeError as error:
            raise _Unopened(error) from error
        self.session_of(launch)

    def close(self) -> None:
        """Give the memory of the open launch back."""
        if self._session is not None:
            self._session.close()
        self._session = self._launch = None
