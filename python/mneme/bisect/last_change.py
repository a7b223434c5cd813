"""Finds where something becomes bad along a sequence, asking as seldom as possible."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["first_bad", "last_change"]


def last_change(is_bad: Callable[[int], bool], last: int) -> int | None:
    """Return an n above 0 where n is bad and n - 1 is not; None if 0 and what was asked are bad.

    Steps back from the end in doubling strides until something is good, then halves. Code that is
    optimised no further is slow, too, so from the front the first bad number would mean nothing.

    Args:
        is_bad: Whether the first n are bad, for n from 0 to `last`.
        last: The end, which is bad.
    """
    bad, stride = last, 1
    while bad > 0:
        good = max(0, bad - stride)
        if not is_bad(good):
            return _halved(is_bad, good, bad)
        bad, stride = good, 2 * stride
    return None


def first_bad(is_bad: Callable[[int], bool]) -> int | None:
    """Return an n above 0 where n is bad and n - 1 is not; None if 0 is bad.

    Steps forward in doubling strides, for a sequence whose end cannot be reached. It ends only if
    something is bad.

    Args:
        is_bad: Whether the first n are bad.
    """
    if is_bad(0):
        return None
    good, stride = 0, 1
    while not is_bad(good + stride):
        good, stride = good + stride, 2 * stride
    return _halved(is_bad, good, good + stride)


def _halved(is_bad: Callable[[int], bool], good: int, bad: int) -> int:
    while bad - good > 1:
        middle = (good + bad) // 2
        if is_bad(middle):
            bad = middle
        else:
            good = middle
    return bad
