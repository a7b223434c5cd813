"""The loops of several builds, brought together by their places in the source."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mneme.why.build import Build

__all__ = ["LoopGroup", "count_text", "intensity", "loops_by_place", "place_of"]

_LONGEST_COUNT = 60
_MOST_ROUNDS = 1 << 30  # more only says how wide the counter is
_FLAGS = re.compile(r"<n[a-z]+>")
_CAST = re.compile(r"\((?:zext|sext|trunc) i\d+ ((?:[^()]|\((?:[^()]|\([^()]*\))*\))*) to i\d+\)")
_LESS = re.compile(r"\(-(\d+) \+ (.+)\)")


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopGroup:
    """The loops at one place of the source."""

    place: tuple[str, int, str]
    """File, line and function; "" and 0: not known."""

    loops: Sequence[Sequence[Mapping[str, Any]] | None]
    """Those of each build; None: it was made without IR."""

    @property
    def texts(self) -> list[str]:
        """The description of the loops of each build."""
        return [_joined(one) for one in self.loops]

    @property
    def differs(self) -> bool:
        """Whether builds have others."""
        return len(set(self.texts)) > 1


def place_of(told: Mapping[str, Any]) -> tuple[str, int, str]:
    """Return file, line and function of a loop or remark; LLVM's line 0 is none."""
    return (told["file"] if told["line"] else "", told["line"], told["function"])


def loops_by_place(builds: Sequence[Build]) -> list[LoopGroup]:
    """Return the loops at each place: those that differ first, then the innermost."""
    places = dict.fromkeys(place_of(loop) for one in builds for loop in one.loops)
    groups = [
        LoopGroup(
            place=place,
            loops=[
                [loop for loop in one.loops if place_of(loop) == place] if one.has_ir else None
                for one in builds
            ],
        )
        for place in places
    ]
    return sorted(groups, key=lambda one: (not one.differs, -_depth(one), one.place))


def _depth(group: LoopGroup) -> int:
    return max(int(loop["depth"]) for loops in group.loops for loop in loops or ())


def _joined(loops: Sequence[Mapping[str, Any]] | None) -> str:
    """Return a sentence for each different loop: "2 loops: ..."."""
    if loops is None:
        return "not known without IR"
    if not loops:
        return "no loop: gone, unrolled, or merged with another"
    counts = Counter(_text(one) for one in loops)
    return "; ".join(
        f"{count} loops, each {text}" if count > 1 else text for text, count in counts.items()
    )


def _text(loop: Mapping[str, Any]) -> str:
    parts = [count_text(loop), _many(loop["instructions"], "instructions")]
    if loop["depth"] > 1:
        parts.insert(0, f"depth {loop['depth']}")
    if loop["is_vectorized"]:
        parts.append("vectorised")
    parts += [_many(loop[key], key) for key in ("loads", "stores", "atomics", "calls") if loop[key]]
    ratio = intensity(loop)
    if ratio is not None:
        parts.append(f"{ratio:.2f} flops a byte")
    return ", ".join(parts)


def count_text(loop: Mapping[str, Any]) -> str:
    """Return how often a loop goes round."""
    if loop["trip_count"]:
        return _many(loop["trip_count"], "rounds")
    known = 0 < loop["max_trip_count"] < _MOST_ROUNDS
    most = f", at most {loop['max_trip_count']}" if known else ""
    if loop["backedges"]:
        return f"{_rounds_text(loop['backedges'])} rounds{most}"
    return f"rounds not known{most}"


def _many(count: int, things: str) -> str:
    return f"{count} {things.removesuffix('s') if count == 1 else things}"


def _rounds_text(backedges: str) -> str:
    """Return one more than LLVM's count, without the widths of its numbers."""
    text, count = _FLAGS.sub("", backedges), 1
    while count:
        text, count = _CAST.subn(r"\1", text)
    less = _LESS.fullmatch(text)
    if less and int(less[1]) == 1:
        text = less[2]
    elif less:
        text = f"{less[2]} - {int(less[1]) - 1}"
    else:
        text = f"1 + {text}"
    return text if len(text) <= _LONGEST_COUNT else f"{text[: _LONGEST_COUNT - 1]}…"


def intensity(loop: Mapping[str, Any]) -> float | None:
    """Return the flops of an innermost loop for each byte it asks of memory; None: not both.

    Bytes of shared memory and local variables are left out. Each instruction counts once.
    """
    moved = loop["load_bytes"] + loop["store_bytes"]
    if not loop["is_innermost"] or not moved or not loop["flops"]:
        return None
    return float(loop["flops"] / moved)
