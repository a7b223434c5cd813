"""The main function of a compile worker: a process without a device that fills the compile cache.

It imports no more than it needs, because many of them start at once.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from mneme.measure.serving import serve

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mneme.measure.serving import Handler

__all__ = ["main"]


def main() -> None:
    """Compile the requests on standard input until it ends.

    Settings are "record" and "record_id". Messages are `(configuration as JSON, code target)`;
    their content replaces the recorded IR. Answers are `("done", statistics as JSON)`.
    """
    serve(_open)


@contextmanager
def _open(record: str, record_id: str) -> Iterator[tuple[object, Handler]]:
    from mneme import _native  # noqa: PLC0415 - after the watch over the parent has begun

    code = _native.RecordedCode(record, record_id)
    _native.compiler_version()  # loads the compiler

    def compiled(
        message: tuple[str, tuple[str, list[tuple[str, int]]]], ir: bytes
    ) -> tuple[str, object]:
        text, target = message
        return "done", code.compile(text, target, ir=ir)["statistics"]

    yield None, compiled
