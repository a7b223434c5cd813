"""Finds the knowledge file, if one is to be used."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

__all__ = ["VARIABLE", "knowledge_place"]

VARIABLE: Final = "MNEME_KNOWLEDGE"
"""The variable with the file's name, or `off`."""

_OFF: Final = "off"
_FILE: Final = Path("mneme") / "knowledge.sqlite"


def knowledge_place() -> Path | None:
    """Return the file that the environment names, else the user's own; None: use none.

    Creates nothing; the file need not exist.
    """
    named = os.environ.get(VARIABLE, "")
    if named == _OFF:
        return None
    if named:
        return Path(named)
    data = os.environ.get("XDG_DATA_HOME", "")
    if Path(data).is_absolute():
        return Path(data) / _FILE
    try:
        return Path.home() / ".local" / "share" / _FILE
    except RuntimeError:  # a user without a home
        return None
