"""Finds ranges that nothing depends on, with few questions.

A question takes any number of ranges at once. All regions come first, then halves of what failed,
the largest first: a launch that reads little is known after a few questions, and whenever the
search ends, what was found so far counts. Where nothing but small parts may be unread, samples
tell: a range of which no sample is unread is left as it is.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from mneme.trim.ranges import CHUNK, PAGE, Range, merged, size_of

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Question", "Search"]

_SAMPLES = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class _Node:
    """Ranges that are still to be decided together."""

    parts: tuple[Range, ...]
    has_failed: bool
    """Whether something in them is read."""
    unread: tuple[Range, ...] = ()
    """Samples in them that are not read."""


class Question(Protocol):
    """What is asked."""

    def __call__(self, found: Sequence[Range], ranges: Sequence[Range], *, is_sample: bool) -> bool:
        """Whether the result stays the same if these ranges have other content.

        Args:
            found: What was found so far, which has other content, too.
            ranges: What is asked about.
            is_sample: Whether a guess is enough.
        """
        ...


class Search:
    """One search. `found` is right at any time."""

    def __init__(
        self,
        sizes: Sequence[int],
        is_unread: Question,
        leaf: int = PAGE,
    ) -> None:
        """Take the question.

        Args:
            sizes: Bytes of each region; 0 for one that is not to be asked about.
            is_unread: The question. What it raises ends the search.
            leaf: The smallest range that is asked about.
        """
        self.found: list[Range] = []
        """What is not read."""
        self._is_unread = is_unread
        self._leaf = leaf
        self._heap: list[tuple[int, int, _Node]] = []
        self._count = 0
        whole = tuple(Range(number, 0, size) for number, size in enumerate(sizes) if size)
        self.undecided = size_of(whole)
        """Bytes of which nothing is known yet."""
        if whole:
            self._push(_Node(parts=whole, has_failed=False))

    def run(self) -> None:
        """Ask until everything is decided."""
        while self._heap:
            node = heapq.heappop(self._heap)[2]
            if node.has_failed or not self._asked(node.parts):
                self._divide(node)

    def _push(self, node: _Node) -> None:
        self._count += 1
        heapq.heappush(self._heap, (-size_of(node.parts), self._count, node))

    def _asked(self, parts: Sequence[Range]) -> bool:
        if not self._is_unread(self.found, parts, is_sample=False):
            return False
        self.undecided -= size_of(parts)
        self.found = merged([*self.found, *parts])
        return True

    def _divide(self, node: _Node) -> None:
        """Ask about one half of what failed; if that is unread, the other has failed."""
        parts, samples = node.parts, node.unread
        if len(parts) > 1:
            middle = len(parts) // 2
            left, right = parts[:middle], parts[middle:]
        else:
            (whole,) = parts
            unit = CHUNK if whole.size > CHUNK else self._leaf
            units = -(-whole.size // unit)
            if units >= 2 * _SAMPLES and not samples:
                samples = self._sampled(whole, unit, units)
                units = units if samples else 1
            if units <= 1:
                self.undecided -= whole.size
                return
            middle = whole.begin + units // 2 * unit
            left = (Range(whole.region, whole.begin, middle),)
            right = (Range(whole.region, middle, whole.end),)
        left_fails = not self._asked(left)
        if left_fails:
            self._push(_Node(parts=left, has_failed=True, unread=_within(samples, left)))
        right_node = _Node(parts=right, has_failed=not left_fails, unread=_within(samples, right))
        self._push(right_node)

    def _sampled(self, whole: Range, unit: int, units: int) -> tuple[Range, ...]:
        """Return units that are unread, of some at equal distances, the first and last included."""
        found = []
        for number in range(_SAMPLES):
            begin = whole.begin + number * (units - 1) // (_SAMPLES - 1) * unit
            sample = Range(whole.region, begin, min(begin + unit, whole.end))
            if self._is_unread(self.found, (sample,), is_sample=True):
                found.append(sample)
        return tuple(found)


def _within(samples: Sequence[Range], parts: Sequence[Range]) -> tuple[Range, ...]:
    return tuple(
        one
        for one in samples
        if any(
            one.region == part.region and part.begin <= one.begin and one.end <= part.end
            for part in parts
        )
    )
