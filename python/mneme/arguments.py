"""Arguments of kernels, in programs, recordings and files of tuned kernels."""

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
    """The record does not name the kind."""

    POINTER = "pointer"
    INTEGER = "integer"
    FLOAT = "float"
    AGGREGATE = "aggregate"

    @classmethod
    def of_type(cls, ir_type: str) -> ArgKind:
        """Return the kind of a number of this IR type; UNKNOWN if it is not a number type."""
        if ir_type.startswith("i") and ir_type[1:].isdigit():
            return cls.INTEGER
        return cls.FLOAT if ir_type in _FLOATS else cls.UNKNOWN


@dataclass(frozen=True, slots=True, kw_only=True)
class Argument:
    """An argument as in the kernel's code; unknown fields are empty or 0."""

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
        """Return the arguments that the runtime describes, in the order of the source."""
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
