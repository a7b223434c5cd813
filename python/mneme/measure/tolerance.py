"""Tolerances of verification, in the form that users write.

    SPEC   := [REGION "="] PART (":" PART)*
    PART   := KIND | TYPE | NORM | NAN | THRESHOLD        in any order, the threshold exactly once
    KIND   := "abs" | "rel" | "ulp"                       default abs
    TYPE   := "u8" .. "i64" | "f16" | "bf16" | "f32" | "f64" | "float" | "double" ...   default f32
    NORM   := "none" | "l1" | "l2" | "linf"               default none: element by element
    NAN    := "nan-equal" | "nan-bitwise" | "nan-never"   default nan-equal
    REGION := the name of an argument or a global, or the address of an allocation; default: all

`1e-6`, `rel:1e-6`, `ulp:4`, `out=rel:1e-6:f64` and `counters=u32:abs:0` are tolerances.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from mneme.errors import InvalidArgument

__all__ = ["Tolerance"]

_KINDS = ("abs", "rel", "ulp")
_NORMS = ("none", "l1", "l2", "linf")
_NANS = ("nan-equal", "nan-bitwise", "nan-never")
_TYPES = (
    *("u8", "i8", "u16", "i16", "u32", "i32", "u64", "i64"),
    *("f16", "f32", "f64", "bf16", "f8e4m3", "f8e5m2"),
)
_ALIASES = {"float": "f32", "double": "f64", "half": "f16", "int": "i32"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Tolerance:
    """The allowed difference of one region, or of every region, from the recorded memory."""

    threshold: float
    """Largest distance that passes, in the unit of `kind`. At least 0."""

    kind: str = "abs"
    """abs, rel (of the recorded value) or ulp (units in the last place)."""

    data_type: str = "f32"
    """Type of the elements."""

    norm: str = "none"
    """none compares element by element; l1, l2, linf the norm of the difference."""

    nan: str = "nan-equal"
    """Whether a NaN matches another NaN."""

    region: str = ""
    """Name or address of the region; empty for every region."""

    def __post_init__(self) -> None:
        """Refuse what the runtime would refuse."""
        if not self.threshold >= 0 or math.isinf(self.threshold):
            raise InvalidArgument(f"a tolerance has to be zero or more, not {self.threshold}")
        choices = (
            (self.kind, _KINDS),
            (self.data_type, _TYPES),
            (self.norm, _NORMS),
            (self.nan, _NANS),
        )
        for value, known in choices:
            if value not in known:
                raise InvalidArgument(f"'{value}' is not one of {', '.join(known)}")

    @classmethod
    def parse(cls, text: str) -> Tolerance:
        """Read one tolerance.

        Raises:
            InvalidArgument: If it does not follow the grammar.
        """
        region, separator, rest = text.rpartition("=")
        if separator and not region:
            raise InvalidArgument(f"tolerance '{text}' names no region before '='")
        named: dict[str, str] = {}
        threshold: float | None = None
        for part in rest.lower().split(":"):
            slot = _slot(part)
            if slot == "threshold":
                if threshold is not None:
                    raise InvalidArgument(f"tolerance '{text}' has two thresholds")
                threshold = _number(part, text)
            elif slot in named:
                raise InvalidArgument(f"tolerance '{text}' says '{slot}' twice")
            else:
                named[slot] = _ALIASES.get(part, part)
        if threshold is None:
            raise InvalidArgument(f"tolerance '{text}' has no threshold, such as 1e-6")
        return cls(threshold=threshold, region=region, **named)

    def to_text(self) -> str:
        """Return the spelling the runtime reads: every part, in a fixed order."""
        region = f"{self.region}=" if self.region else ""
        return f"{region}{self.data_type}:{self.kind}:{self.threshold!r}:{self.norm}:{self.nan}"


def _slot(part: str) -> str:
    if part in _KINDS:
        return "kind"
    if part in _TYPES or part in _ALIASES:
        return "data_type"
    if part in _NORMS:
        return "norm"
    if part in _NANS:
        return "nan"
    return "threshold"


def _number(part: str, text: str) -> float:
    try:
        return float(part)
    except ValueError:
        raise InvalidArgument(
            f"tolerance '{text}' has an unknown part '{part}'; write "
            "[REGION=][abs|rel|ulp:]THRESHOLD[:TYPE][:NORM][:NAN], for example out=rel:1e-6:f32"
        ) from None
