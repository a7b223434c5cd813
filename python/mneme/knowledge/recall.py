"""Finds the entries relevant for a kernel, the most relevant first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from mneme.knowledge.features import alike

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mneme.knowledge.entry import Entry
    from mneme.knowledge.features import Features

__all__ = ["Kernel", "Match", "matches"]

# Number of entries from one other kernel; more would mostly be similar to its best.
_MOST_OF_ANOTHER: Final = 2
# Smallest similarity: at less, numbers differ by a factor of two on average.
_LEAST_ALIKE: Final = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Kernel:
    """The kernel to find entries for."""

    static_hash: str
    """Identity of the code, 16 hexadecimal digits."""
    family: str
    """Kind of device; empty: any."""
    arch: str
    """Architecture; empty: not known."""
    features: Features
    """The features of code and launch."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    """An entry that is relevant for a kernel."""

    entry: Entry
    is_same: bool
    """Whether it is about the same code."""
    similarity: float
    """The similarity of code and launch; 1: equal in all counted features."""


def matches(entries: Iterable[Entry], kernel: Kernel) -> list[Match]:
    """Return the entries relevant for a kernel.

    The same code comes first, then other code, from which only settings that are not about launches
    count. In both, the same architecture comes first, then others of the same kind of device; among
    these, the most similar, then those with an interval, then those with the largest gain.
    """
    found = []
    for entry in entries:
        is_same = entry.static_hash == kernel.static_hash
        likeness = alike(kernel.features, entry.features)
        is_near = (
            entry.is_about_code and kernel.family in ("", entry.family) and likeness >= _LEAST_ALIKE
        )
        if is_same or is_near:
            found.append(Match(entry=entry, is_same=is_same, similarity=likeness))
    found.sort(key=lambda one: _order(one, kernel))
    counts: dict[tuple[str, str], int] = {}
    kept = []
    for one in found:
        place = (one.entry.static_hash, one.entry.arch)
        counts[place] = counts.get(place, 0) + 1
        if one.is_same or counts[place] <= _MOST_OF_ANOTHER:
            kept.append(one)
    return kept


def _order(match: Match, kernel: Kernel) -> tuple[bool | float, ...]:
    entry = match.entry
    return (
        not match.is_same,
        entry.family != kernel.family,
        entry.arch != kernel.arch,
        -round(match.similarity, 2),
        entry.low is None,
        -entry.gain,
    )
