"""Finds times in outputs: numbers that are slower in a run with slower kernels."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

from mneme.optimize.lines import spans, tokens, value_of
from mneme.optimize.times import Clock, clock_of

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["with_times_of"]

# Results that depend on how a kernel was compiled differ by rounding, which is a smaller factor.
_SLOWER = Decimal("1.1")


def with_times_of(built: bytes, slower: bytes, wrong: bytes) -> bytes:
    """Return an output with those numbers of a slower run that are certainly times.

    Args:
        built: Output of the program as built.
        slower: Its output with kernels that are slower, and may round otherwise.
        wrong: Its output with tuned kernels; times in it are no slower than in `slower`.
    """
    outputs = [one.split(b"\n") for one in (built, slower, wrong)]
    if len(set(map(len, outputs))) != 1:
        return built
    return b"\n".join(_line(*lines) for lines in zip(*outputs, strict=True))


def _line(built: bytes, slower: bytes, wrong: bytes) -> bytes:
    if built == slower:
        return built
    divided = [tokens(one) for one in (built, slower, wrong)]
    if len(set(map(len, divided))) != 1:
        return built
    found, at = [], 0
    for index, (first, last) in enumerate(spans(built)):
        if _is_time(clock_of(built, index), [parts[index] for parts in divided]):
            found += [built[at:first], divided[1][index]]
            at = last
    return b"".join([*found, built[at:]])


def _is_time(clock: Clock | None, seen: Sequence[bytes]) -> bool:
    """Whether a number is slower if kernels are: as built, slower, and as tuned."""
    built, slower, wrong = map(value_of, seen)
    if clock is None or built is None or slower is None or wrong is None:
        return False
    if min(built, slower, wrong) < 0:
        return False
    if clock is Clock.DURATION:
        return slower > built * _SLOWER and wrong <= slower
    return slower * _SLOWER < built and wrong >= slower
