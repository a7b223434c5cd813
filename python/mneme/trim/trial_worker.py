"""The main function of the process in which trials run; a wrong address can end it."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from mneme.measure.serving import serve

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mneme.measure.serving import Handler

__all__ = ["main"]


def main() -> None:
    """Answer the requests on standard input until it ends.

    The settings are "record", "record_id" and "device". Requests are `(name, *arguments)` with the
    name of a method of `_Launch`; answers are `("result", what it returns)`.
    """
    serve(_open)


@contextmanager
def _open(record: str, record_id: str, device: str) -> Iterator[tuple[object, Handler]]:
    from mneme import _native  # noqa: PLC0415 - after the watch over the parent has begun

    with _native.ReplaySession(record, record_id, device) as session:
        launch = _Launch(session)

        def answer(message: tuple[str, Any], _: bytes) -> tuple[str, object]:
            name, *values = message
            return "result", getattr(launch, name)(*values)

        yield session.recorded(), answer


class _Launch:
    """The open launch; its methods are what can be asked for."""

    def __init__(self, session: Any) -> None:  # noqa: ANN401 - of native code
        self._session = session
        self._trim: Any = None

    def run(self, configuration: str, options: str) -> str:
        """Replay and verify; returns the result as JSON. Not after `take_reference`."""
        result: str = self._session.run(configuration, options)[0]
        return result

    def take_reference(self, configuration: str, timeout: float, grid: Any) -> Any:  # noqa: ANN401
        """Launch a grid, which is what trials are compared with."""
        from mneme import _native  # noqa: PLC0415 - loaded by now

        if self._trim is None:
            self._trim = _native.Trim(self._session, configuration, timeout)
        return self._trim.take_reference(grid)

    def trial(self, fills: Any, noted: int | None) -> Any:  # noqa: ANN401 - as of native code
        """Launch with other content in memory."""
        return self._trim.trial(fills, noted)

    def notes_agree(self) -> Any:  # noqa: ANN401 - as of native code
        """Return whether noted trials wrote the same bytes."""
        return self._trim.notes_agree()

    def untouched(self) -> Any:  # noqa: ANN401 - as of native code
        """Return what noted trials left."""
        return self._trim.untouched()

    def untouched_bytes(self) -> Any:  # noqa: ANN401 - as of native code
        """Return how much noted trials left."""
        return self._trim.untouched_bytes()

    def write(self, directory: str, unread: Any, unallocated: Any) -> None:  # noqa: ANN401
        """Write the recording."""
        self._trim.write(directory, unread, unallocated)
