"""Where the knowledge file is, and whether there is to be one."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

__all__ = ["VARIABLE", "knowledge_place"]

VARIABLE: Final = "MNEME_KNOWLEDGE"
"""Names the file, or says `off`."""

_OFF: Final = "off"
_FILE: Final = Path("mneme") / "knowledge.sqlite"


def knowledge_place() -> Path | None:
    """Return the file that the environment names, else the user's own; None: there is to be none.

    Nothing is made, and the file need not exist.
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
