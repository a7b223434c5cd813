"""Ranges of bytes of recorded regions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["CHUNK", "PAGE", "Range", "merged", "size_of"]

CHUNK = 64 * 1024
"""The unit of content in recordings."""

PAGE = 4096
"""The smallest unit that is tried."""


@dataclass(frozen=True, slots=True, order=True)
class Range:
    """Bytes of a region."""

    region: int
    """Its number."""

    begin: int
    """The first byte, as an offset in the region."""

    end: int
    """Where the range ends."""

    @property
    def size(self) -> int:
        """How many bytes."""
        return self.end - self.begin


def size_of(ranges: Iterable[Range]) -> int:
    """Return how many bytes these are."""
    return sum(one.size for one in ranges)


def merged(ranges: Iterable[Range]) -> list[Range]:
    """Return the ranges in order; what touches becomes one."""
    result: list[Range] = []
    for one in sorted(ranges):
        last = result[-1] if result else None
        if last is not None and last.region == one.region and last.end >= one.begin:
            result[-1] = Range(one.region, last.begin, max(last.end, one.end))
        else:
            result.append(one)
    return result
