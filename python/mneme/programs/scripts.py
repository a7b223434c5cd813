"""Python scripts that mark what is to be recorded of them."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["marks_sections"]

_MOST_BYTES = 4 << 20
_SECTION = re.compile(
    rb"\bmneme\.recording\s*\(|"
    rb"^\s*from\s+mneme(?:\.sections)?\s+import\s[^#\n]*\brecording\b",
    re.MULTILINE,
)
_PYTHON_LINE = re.compile(rb"#![^\n]*python")


def marks_sections(command: Sequence[str]) -> bool:
    """Return whether a script of a command marks sections to be recorded (`mneme.recording`).

    Args:
        command: A program and its arguments. Every Python script among them is looked at, since
            launchers (`torchrun`, `mpirun`) take scripts, too, and what follows `-c`.
    """
    inline = [after for before, after in pairwise(command) if before == "-c"]
    texts = [*(text.encode() for text in inline), *map(_read_script, command)]
    return any(_SECTION.search(text) for text in texts)


def _read_script(name: str) -> bytes:
    try:
        path = Path(name)
        if not path.is_file() or path.stat().st_size > _MOST_BYTES:
            return b""
        text = path.read_bytes()
    except (OSError, ValueError):
        return b""
    return text if path.suffix == ".py" or _PYTHON_LINE.match(text) else b""
