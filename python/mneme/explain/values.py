"""Chooses values for arguments without running the program: the user's, or else probes."""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mneme.arguments import ArgKind
from mneme.errors import InvalidArgument
from mneme.explain.shape import WHOLE, pointers_read

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from mneme.arguments import Member
    from mneme.explain.shape import Place, Shape
    from mneme.programs.kernels import EmbeddedKernel

__all__ = ["Value", "members_of", "values_of"]

# Types of the IR, with their format in Python's `struct` and their number in
# runtime/core/abi/jit_mark.h.
_TYPES = {
    "i1": ("B", 1),
    "i8": ("b", 2),
    "i16": ("h", 100),
    "i32": ("i", 3),
    "i64": ("q", 4),
    "half": ("e", 101),
    "float": ("f", 5),
    "double": ("d", 6),
}
_NAMES = {number: name for name, (_, number) in _TYPES.items()}
_OBJECT = 12

# A count small enough to unroll, and an extent that, like most extents, is not a power of two.
_COUNT, _EXTENT, _REAL = 7, 1000, 1.5
# More elements than a loop over probes reads.
_ELEMENTS = 1024
_SMALLEST_EXTENT_BITS = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class Value:
    """The value of an argument, or of what it points to."""

    data: bytes = field(repr=False)
    """The bytes in memory."""

    text: str
    """Text for the user."""

    is_probe: bool
    """Whether the user did not set it."""

    content: int | None = None
    """Element type of what a pointer points to or a struct holds; None: a number."""


def members_of(kernel: EmbeddedKernel) -> dict[Place, Member]:
    """Return the members of structs by value that can become constants by themselves.

    A struct that is marked becomes constant as a whole.
    """
    marked = {mark.arg for mark in kernel.marks or ()}
    return {
        (index, one.offset): one
        for index, argument in enumerate(kernel.args)
        if index not in marked
        for one in argument.members or ()
        if one.is_specializable and one.type in _TYPES
    }


def values_of(kernel: EmbeddedKernel, shape: Shape, given: Iterable[str]) -> dict[Place, Value]:
    """Return the values of the arguments and members that can have one.

    Args:
        kernel: The kernel.
        shape: How its arguments are used.
        given: "NAME=NUMBER", "POSITION=NUMBER" with positions from 1, "NAME+OFFSET=NUMBER" for a
            field of a struct, or "NAME.FIELD=NUMBER", and "NAME=NUMBER,NUMBER,..." for the memory
            that a pointer points to.

    Raises:
        InvalidArgument: If one of `given` is invalid.
    """
    told = _told(kernel, given)
    found: dict[Place, Value] = {}
    known = members_of(kernel)
    for index, argument in enumerate(kernel.args):
        own = told.get(index, {})
        members = {place: one for place, one in known.items() if place[0] == index}
        if members:
            _refuse_unread(set(own), {offset: one.type for (_, offset), one in members.items()})
            found |= {
                place: _member(one, own.get(one.offset, ""), place, shape)
                for place, one in members.items()
            }
            continue
        if argument.kind is ArgKind.AGGREGATE:
            value = _object(index, argument.size, own, shape)
        elif argument.kind is ArgKind.POINTER:
            value = _content(index, own.get(0, ""), kernel, shape, told)
        else:
            value = _number(index, own.get(0, ""), kernel, shape)
        if value is not None:
            found[index, WHOLE] = value
        elif own:
            raise InvalidArgument(f"argument '{argument.name}' of this kernel cannot be constant")
    return found


def _told(kernel: EmbeddedKernel, given: Iterable[str]) -> dict[int, dict[int, str]]:
    """Return the user's texts by argument and offset."""
    told: dict[int, dict[int, str]] = {}
    for one in given:
        left, equals, text = one.partition("=")
        name, plus, offset = _with_offset(kernel, left).partition("+")
        if not equals or not text or (plus and not offset.isdecimal()):
            raise InvalidArgument(f"'{one}' is not a value; write NAME=NUMBER, as in --value n=7")
        index = _index(kernel, name)
        if bool(plus) != (kernel.args[index].kind is ArgKind.AGGREGATE):
            raise InvalidArgument(
                f"'{one}': a struct is given field by field, as in NAME+OFFSET=NUMBER with the "
                "offset in bytes, and nothing else is"
            )
        told.setdefault(index, {})[int(offset or 0)] = text
    return told


def _with_offset(kernel: EmbeddedKernel, name: str) -> str:
    """Return "f+8" for the name of a member, "f.s.n"; other names as they are."""
    for argument in kernel.args:
        for member in argument.members or ():
            if member.name and name == argument.member_name(member):
                return f"{argument.name}+{member.offset}"
    return name


def _index(kernel: EmbeddedKernel, name: str) -> int:
    names = [one.name for one in kernel.args]
    if name in names:
        return names.index(name)
    if name.isdecimal() and 1 <= int(name) <= len(names):
        return int(name) - 1
    raise InvalidArgument(
        f"the kernel has no argument '{name}'; it has "
        + ", ".join(f"{number} {one}" for number, one in enumerate(names, 1))
    )


def _packed(text: str, ir_type: str) -> bytes:
    code, _ = _TYPES[ir_type]
    if ir_type.startswith("i"):
        number = _integer(text)
        bits = int(ir_type[1:])
        if number is None or not -(1 << (bits - 1)) <= number < 1 << bits:
            raise InvalidArgument(f"'{text}' is not an integer of {bits} bits")
        return (number & ((1 << bits) - 1)).to_bytes((bits + 7) // 8, "little")
    try:
        return struct.pack("<" + code, float(text))
    except (ValueError, OverflowError):
        raise InvalidArgument(f"'{text}' is not a {ir_type}") from None


def _integer(text: str) -> int | None:
    try:
        return int(text, 0)
    except ValueError:
        return None


def _number(index: int, text: str, kernel: EmbeddedKernel, shape: Shape) -> Value | None:
    argument = kernel.args[index]
    if argument.type not in _TYPES:
        return None
    chosen = text or _probe(argument.type, is_count=_is_count(index, shape))
    return Value(data=_packed(chosen, argument.type), text=chosen, is_probe=not text)


def _member(member: Member, text: str, place: Place, shape: Shape) -> Value:
    is_count = any(one.kind == "loops" and place in one.needs.members for one in shape.things)
    chosen = text or _probe(member.type, is_count=is_count)
    return Value(data=_packed(chosen, member.type), text=chosen, is_probe=not text)


def _is_count(index: int, shape: Shape) -> bool:
    return any(one.kind == "loops" and index in one.needs.args for one in shape.things)


def _probe(ir_type: str, *, is_count: bool) -> str:
    if not ir_type.startswith("i"):
        return str(_REAL)
    if ir_type == "i1":
        return "1"
    is_small = int(ir_type[1:]) < _SMALLEST_EXTENT_BITS
    return str(_COUNT if is_count or is_small else _EXTENT)


def _refuse_unread(told: set[int], fields: Mapping[int, str]) -> None:
    unknown = sorted(told - set(fields))
    if unknown:
        places = ", ".join(f"+{offset} ({fields[offset]})" for offset in sorted(fields)) or "none"
        raise InvalidArgument(f"the kernel reads no field at +{unknown[0]}; it reads {places}")


def _object(index: int, size: int, told: Mapping[int, str], shape: Shape) -> Value | None:
    """Return a struct with the fields that the kernel reads."""
    fields = {
        one["offset"]: one["type"]
        for one in shape.fields
        if one["arg"] == index and one["type"] in _TYPES and one["offset"] + one["size"] <= size
    }
    _refuse_unread(set(told), fields)
    if not fields:
        return None
    is_count = _is_count(index, shape)
    content, texts = bytearray(size), []
    for offset in sorted(fields):
        ir_type = fields[offset]
        text = told.get(offset, "") or _probe(ir_type, is_count=is_count)
        data = _packed(text, ir_type)
        content[offset : offset + len(data)] = data
        texts.append(f"+{offset}={text}")
    return Value(
        data=bytes(content),
        text=" ".join(texts),
        is_probe=not told.keys() >= fields.keys(),
        content=_OBJECT,
    )


def _content(
    index: int,
    text: str,
    kernel: EmbeddedKernel,
    shape: Shape,
    told: Mapping[int, Mapping[int, str]],
) -> Value | None:
    """Return what a pointer points to, if type and size (from the user or a mark) are known."""
    mark = next((one for one in kernel.marks or () if one.arg == index and one.element), None)
    read = pointers_read(shape.things).get(index, "")
    ir_type = _NAMES.get(mark.element, "") if mark else read
    if ir_type not in _TYPES or index in shape.written:
        return None
    number = _TYPES[ir_type][1]
    if text:
        parts = text.split(",")
        data = b"".join(_packed(part.strip(), ir_type) for part in parts)
        return Value(data=data, text=f"{len(parts)} of {ir_type}", is_probe=False, content=number)
    if mark is None:
        return None
    count = _count(mark.count_arg, mark.count, told)
    data = b"".join(_packed(_element(at, ir_type), ir_type) for at in range(count))
    return Value(data=data, text=f"{count} of {ir_type}", is_probe=True, content=number)


def _count(count_arg: int, count: int, told: Mapping[int, Mapping[int, str]]) -> int:
    """Return the number of elements of a probe: as given, or else more than are read."""
    if count_arg < 0:
        return max(1, min(count, _ELEMENTS))
    number = _integer(told.get(count_arg, {}).get(0, ""))
    return _ELEMENTS if number is None else max(1, min(number, _ELEMENTS))


def _element(at: int, ir_type: str) -> str:
    """Return one of several different values."""
    if not ir_type.startswith("i"):
        return str(math.ldexp(at % 64 + 1, -4) + _REAL)
    return str(at % (2 if ir_type == "i1" else 100))
