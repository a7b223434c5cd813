"""What an argument of a kernel is, in programs, recordings and files of tuned kernels alike."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mneme._native import _Argument

__all__ = ["ArgKind", "Argument"]

_FLOATS = ("half", "bfloat", "float", "double")


class ArgKind(str, Enum):
    """Kind of an argument, as the runtime's `ArgKind`."""

    UNKNOWN = ""
    """Whoever wrote it down did not say."""

    POINTER = "pointer"
    INTEGER = "integer"
    FLOAT = "float"
    AGGREGATE = "aggregate"

    @classmethod
    def of_type(cls, ir_type: str) -> ArgKind:
        """Return the kind of a number of this IR type; UNKNOWN for what is no number."""
        if ir_type.startswith("i") and ir_type[1:].isdigit():
            return cls.INTEGER
        return cls.FLOAT if ir_type in _FLOATS else cls.UNKNOWN


@dataclass(frozen=True, slots=True, kw_only=True)
class Argument:
    """An argument as the kernel's code has it; what nobody said is empty or 0."""

    name: str = ""
    """As in the source, if known."""

    type: str = ""
    """IR type, if known."""

    kind: ArgKind = ArgKind.UNKNOWN
    """Everything but a pointer is passed by value."""

    size: int = 0
    """Bytes."""

    is_specializable: bool = False
    """Whether its value can become a constant."""

    @classmethod
    def all_of(cls, known: list[_Argument]) -> tuple[Argument, ...]:
        """Return the arguments that the runtime tells of, in the order of the source."""
        return tuple(
            cls(
                name=one["name"],
                type=one["type"],
                kind=ArgKind(one["kind"]),
                size=one["size"],
                is_specializable=one["is_specializable"],
            )
            for one in known
        )
