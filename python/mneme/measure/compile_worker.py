"""The main function of a compile worker: a process without a device that fills the compile cache.

It imports no more than it needs, because many of them start at once.
"""

from __future__ import annotations

import json
from contextlib import contextmanager
from typing import TYPE_CHECKING

from mneme.code_texts import OWN_CODE
from mneme.measure.serving import serve

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mneme._native import RecordedCode
    from mneme.measure.serving import Handler

    _Launch = tuple[str, str]
    _Message = tuple[str, tuple[str, list[tuple[str, int]] | None], _Launch | None, bool]

__all__ = ["main"]

_WITH_TEXTS = '{"want_ir": true, "want_assembly": true}'
# More are rarely in use at once, and each has its IR in memory.
_KEPT = 8


def main() -> None:
    """Compile the requests on standard input until it ends.

    The setting is "launch": the path of a record and the id of a launch, or None. Messages are
    `(configuration as JSON, code target, launch or None for that of the settings, whether texts are
    wanted)`; their content replaces the recorded IR. Answers are `("done", (statistics as JSON,
    IR, assembly))`.
    """
    serve(_open)


@contextmanager
def _open(launch: _Launch | None) -> Iterator[tuple[object, Handler]]:
    from mneme import _native  # noqa: PLC0415 - after the watch over the parent has begun

    codes: dict[_Launch, RecordedCode] = {}

    def code_of(wanted: _Launch) -> RecordedCode:
        code = codes.pop(wanted, None) or _native.RecordedCode(*wanted)
        codes[wanted] = code
        if len(codes) > _KEPT:
            del codes[next(iter(codes))]
        return code

    def compiled(message: _Message, ir: bytes) -> tuple[str, object]:
        text, (name, places), own, wants_texts = message
        code = code_of(own or launch or ("", ""))
        if not code.has_ir or json.loads(text).get("llvm") in OWN_CODE:
            return "done", ("", "", "")  # replays read the image themselves
        target = code.recorded_target(name) if places is None else (name, places)
        done = code.compile(text, target, _WITH_TEXTS if wants_texts else "{}", ir)
        return "done", (done["statistics"], done["ir"], done["assembly"])

    if launch is not None:
        code_of(launch)
    _native.compiler_version()  # loads the compiler
    yield None, compiled
