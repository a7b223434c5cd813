"""Checks whether programs are the same as in an earlier session."""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["programs_of"]

_BEGINNINGS = (b"\x7fELF", b"#!")


def programs_of(command: Sequence[str]) -> dict[str, str]:
    """Return the programs and scripts that a command names, each with a hash of its content.

    Other files may be the program's output. Libraries that programs load are unknown.
    """
    words = {one: one for one in command[1:]}
    words[command[0]] = shutil.which(command[0]) or command[0]
    return {word: known for word, path in words.items() if (known := _known_by(Path(path)))}


def _known_by(path: Path) -> str:
    try:
        if not path.is_file():
            return ""
        with path.open("rb") as file:
            if not file.read(4).startswith(_BEGINNINGS):
                return ""
            file.seek(0)
            digest = hashlib.sha256()
            while part := file.read(1 << 20):
                digest.update(part)
            return digest.hexdigest()
    except (OSError, ValueError):
        return ""
