"""Words of a command line that may be paths."""

from __future__ import annotations

import errno
from pathlib import Path

__all__ = ["existing"]


def existing(word: str) -> Path | None:
    """Return the path that a word names; None if nothing is there, as of an empty word.

    Pipelines of passes may be longer than a name of a file can be.

    Raises:
        OSError: If the operating system does not let us see.
    """
    try:
        return Path(word) if word and Path(word).exists() else None
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:
            return None
        raise
