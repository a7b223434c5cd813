"""Arguments of kernels, in programs, recordings and files of tuned kernels."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from mneme.errors import InvalidArgument

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from mneme._native import _Argument, _Member

__all__ = ["ArgKind", "Argument", "Member", "argument_paths", "constant_paths", "known_paths"]

_PATH = re.compile(r"\d+(\+\d+|\.\S+)?", re.ASCII)
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
class Member:
    """A member of a structure that is passed by value, and that the kernel reads."""

    name: str = ""
    """The path to it in the source, "s.n"; empty if unknown."""

    type: str = ""
    """IR type; "bytes" if it is no number and no pointer."""

    kind: ArgKind = ArgKind.UNKNOWN
    """UNKNOWN: bytes."""

    offset: int = 0
    """Bytes from the begin of the argument."""

    size: int = 0
    """Bytes."""

    is_specializable: bool = False
    """Whether its value can become a constant."""

    @classmethod
    def all_of(cls, known: list[_Member]) -> tuple[Member, ...]:
        """Return the members that the runtime describes, in the order of their offsets."""
        return tuple(
            cls(
                name=one["name"],
                type=one["type"],
                kind=ArgKind(one["kind"]),
                offset=one["offset"],
                size=one["size"],
                is_specializable=one["is_specializable"],
            )
            for one in known
        )

    def of(self, value: bytes) -> bytes:
        """Return the bytes of the member in the value of the argument."""
        return value[self.offset : self.offset + self.size]


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

    members: tuple[Member, ...] | None = None
    """What the kernel reads of a structure; None: unknown."""

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
                members=None if one["fields"] is None else Member.all_of(one["fields"]),
            )
            for one in known
        )

    def member_name(self, member: Member) -> str:
        """Return "f.s.n", or "f+8" if the member's name is unknown."""
        return f"{self.name}.{member.name}" if member.name else f"{self.name}+{member.offset}"


def constant_paths(arguments: Iterable[Argument]) -> dict[str, str]:
    """Return what can become a constant: "2", "0+8", each with its name in the source.

    A number is that of an argument; behind + is the offset of a member in bytes.
    """
    paths = {}
    for index, one in enumerate(arguments):
        if one.is_specializable:
            paths[str(index)] = one.name
        for member in one.members or ():
            if member.is_specializable:
                paths[f"{index}+{member.offset}"] = one.member_name(member)
    return paths


def argument_paths(told: str | int | Sequence[int | str]) -> tuple[str, ...]:
    """Return arguments and members of structures, each once, in order.

    Args:
        told: As in "0,2", "0+8" (the member at offset 8 of argument 0) or "0.s.n" (by its name).

    Raises:
        InvalidArgument: If it is no such list.
    """
    parts = told.split(",") if isinstance(told, str) else [told] if isinstance(told, int) else told
    words = [str(part).strip() for part in parts]
    if not all(_PATH.fullmatch(word) for word in words):
        raise InvalidArgument(
            f"specialized_args is '{told}', not numbers of arguments such as '0,2', or members "
            "such as '0+8'"
        )
    return tuple(sorted(set(words), key=_place_of))


def known_paths(paths: Sequence[str], known: Mapping[str, str]) -> tuple[str, ...]:
    """Return paths with offsets in place of names.

    Args:
        paths: As of `argument_paths`.
        known: As of `constant_paths`.

    Raises:
        InvalidArgument: If one of them cannot become a constant.
    """
    by_name = {
        f"{path.partition('+')[0]}.{name.partition('.')[2]}": path
        for path, name in known.items()
        if "+" in path and "." in name
    }
    found = [by_name.get(path, path) for path in paths]
    wrong = [path for path in found if path not in known]
    if wrong:
        raise InvalidArgument(
            f"argument {wrong[0]} cannot become a constant; those that can: "
            f"{', '.join(known) or 'none'}"
        )
    return tuple(found)


def _place_of(path: str) -> tuple[int, int, str]:
    index, _, offset = path.partition("+")
    number, _, name = index.partition(".")
    return int(number), int(offset or -1), name


_PATH = re.compile(r"\d+(\+\d+|\.\S+)?", re.ASCII)
