"""What the recorded code of a kernel tells a search space."""

from __future__ import annotations

import functools
import re
from pathlib import Path
from typing import Any, Final

from mneme.files.regular_file import read_bytes

__all__ = ["has_loops", "recorded_ir"]

_NAME: Final = r'(?:"[^"]*"|[-\w.$]+)'
_LABEL: Final = re.compile(rf"^({_NAME}):")
_TARGET: Final = re.compile(rf"\blabel %({_NAME})")


def recorded_ir(kernel: Any) -> str | None:  # noqa: ANN401 - an instance, or what a script has
    """Return the IR of a recorded kernel as text; None if it is not known where that is."""
    prologue = getattr(getattr(kernel, "prologue", None), "fn", None)
    if prologue is None:
        return None
    code = Path(str(prologue)).parent / f"RecordedIR_{getattr(kernel, 'static_hash', '')}.bc"
    return _text_of(code) if code.is_file() else None


@functools.lru_cache(maxsize=4)
def _text_of(code: Path) -> str:
    from mneme import _native  # noqa: PLC0415 - loads the compiler

    return _native.ir_to_text(read_bytes(code))


def has_loops(ir: str) -> bool:
    """Whether a function may have a loop: jumps to a block that is not behind the jump.

    Blocks that stand in another order than they run in look like loops, loops never look like
    none.
    """
    behind: set[str] = set()
    for line in ir.splitlines():
        if line.startswith("define "):
            behind = set()
        elif label := _LABEL.match(line):
            behind.add(label[1])
        elif any(target in behind for target in _TARGET.findall(line)):
            return True
    return False
