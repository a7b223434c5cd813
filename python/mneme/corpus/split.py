"""Divides programs into those for training and those for testing, by their names alone."""

from __future__ import annotations

import hashlib
import math
from typing import Final

from mneme.errors import InvalidArgument

__all__ = ["SPLITS", "TEST_SHARE", "checked_share", "split_of"]

SPLITS: Final = ("train", "test")
TEST_SHARE: Final = 0.2
"""The share of programs that are for testing, on average."""

_PREFIX: Final = b"mneme corpus split 1\0"
_BYTES: Final = 8


def split_of(program: str, test_share: float = TEST_SHARE) -> str:
    """Return "train" or "test" for a program.

    The name's SHA-256, read as a number between 0 and 1, is below `test_share` or not. The answer
    is therefore the same everywhere, whatever else a corpus holds.

    Raises:
        InvalidArgument: If the share is not between 0 and 1.
    """
    digest = hashlib.sha256(_PREFIX + program.encode()).digest()[:_BYTES]
    place = int.from_bytes(digest, "big") / 2 ** (8 * _BYTES)
    return "test" if place < checked_share(test_share) else "train"


def checked_share(share: float) -> float:
    """Return a share of programs.

    Raises:
        InvalidArgument: If it is not between 0 and 1.
    """
    if not (math.isfinite(share) and 0 <= share <= 1):
        raise InvalidArgument(f"the share of programs for testing is {share}, not between 0 and 1")
    return share
