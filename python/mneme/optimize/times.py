"""Numbers that look like a duration or a rate; only runs show whether they are results."""

from __future__ import annotations

import re
from enum import Enum
from typing import TYPE_CHECKING

from mneme.optimize.lines import is_number, tokens

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Clock", "clock_of", "looks_timed"]

_UNIT = re.compile(
    rb"(?:(?:[num]|\xc2\xb5|\xb5)?s|secs?|seconds?|mins?|minutes?|h|hours?|(?:milli|micro|nano)\w*|[mu]secs?"
    rb"|[kmgtp]?(?:flops?|i?b|bytes?|bps|zones|cells|lookups|steps|iterations|its?|fps|lups|hz)/?s?)",
    re.IGNORECASE,
)
_WORD = re.compile(
    rb"time|elapsed|took|taken|duration|speed|rate|bandwidth|throughput|latency|perf|per|second"
    rb"|merit|flop|lups|cycles|clock|ticks|wall|cpu|gpu|overall|avg|average|total",
    re.IGNORECASE,
)

# The same, but only unambiguous units, with the direction that means slower.
_TIME_UNIT = re.compile(
    rb"(?:[num]|\xc2\xb5|\xb5)?s|[munu]?secs?|seconds?|mins?|minutes?|h|hours?|(?:milli|micro|nano)secs?"
    rb"|(?:milli|micro|nano)seconds?|(?:clock)?cycles|ticks|clocks",
    re.IGNORECASE,
)
_RATE_UNIT = re.compile(rb"[kmgtp]?(?:flops|bps|lups|fps|hz)|iops", re.IGNORECASE)
_DURATION_WORD = re.compile(
    rb"(?:.*[_-])?(?:(?:run|wall|cpu|gpu)?times?|elapsed|took|taken|durations?|latency)(?:[_-].*)?",
    re.IGNORECASE,
)
_RATE_WORD = re.compile(
    rb"(?:.*[_-])?(?:speed|rate|bandwidth|throughput|performance)(?:[_-].*)?", re.IGNORECASE
)


class Clock(Enum):
    """How a number expresses speed."""

    DURATION = 1
    """Larger means slower."""
    RATE = -1
    """Smaller means slower."""


def clock_of(line: bytes, token: int) -> Clock | None:
    """Return whether a number is certainly a duration or a rate, by its words; or None.

    Its unit, or the words between it and the previous number, decide: a heading may belong to
    another column.
    """
    parts = tokens(line)
    behind = [*parts[token + 1 : token + 4], b"", b"", b""]
    if behind[1] == b"/" and _TIME_UNIT.fullmatch(behind[2]):
        return Clock.RATE
    if _RATE_UNIT.fullmatch(behind[0]):
        return Clock.RATE
    if _TIME_UNIT.fullmatch(behind[0]):
        return Clock.DURATION
    begin = max((at + 1 for at in range(token) if is_number(parts[at])), default=0)
    words = parts[begin:token]
    is_duration = any(_DURATION_WORD.fullmatch(one) for one in words)
    is_rate = any(_RATE_WORD.fullmatch(one) for one in words)
    if is_duration == is_rate:
        return None
    return Clock.DURATION if is_duration else Clock.RATE


def looks_timed(lines: Sequence[bytes], line: int, token: int) -> bool:
    """Whether a number has a unit after it or a word next to it like times and rates.

    Args:
        lines: The lines of an output.
        line: Which of them, from 0.
        token: Which token of that line.
    """
    parts = tokens(lines[line])
    if token + 1 < len(parts) and _UNIT.fullmatch(parts[token + 1]):
        return True
    # A column is named in a line above it.
    words = parts + [word for above in lines[:line] if _is_heading(above) for word in tokens(above)]
    return any(_WORD.search(word) for word in words)


def _is_heading(line: bytes) -> bool:
    return bool(line.strip()) and not any(one.isdigit() for one in line.decode(errors="replace"))
