"""Sizes and kinds of the types of LLVM IR, from their text."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from mneme.ir.module_text import split_list

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["bytes_of", "element_of", "is_vector", "type_at_start"]

_SCALARS: Final = {
    "half": 2,
    "bfloat": 2,
    "float": 4,
    "double": 8,
    "x86_fp80": 10,
    "fp128": 16,
    "ptr": 8,
}
_TYPE: Final = re.compile(r"(<[^<>]*>|\[.*?\]+|%?[\w.]+)")
_REPEATED: Final = re.compile(r"[<\[](?:vscale x )?(\d+) x (.*)[>\]]$", re.DOTALL)
_FLAGS: Final = frozenset(
    (
        *("nuw", "nsw", "exact", "disjoint", "nneg", "samesign", "inbounds", "volatile", "atomic"),
        *("fast", "nnan", "ninf", "nsz", "arcp", "contract", "afn", "reassoc", "nusw", "inrange"),
    )
)


def type_at_start(operands: str) -> str:
    """Return the type that operands begin with, flags left out: "<4 x float>", "i32"."""
    rest = operands
    while (word := rest.partition(" "))[0] in _FLAGS:
        rest = word[2]
    if rest.startswith(("{", "[", "<")):
        return _bracketed(rest)
    found = _TYPE.match(rest)
    return found[1] if found else ""


def _bracketed(text: str) -> str:
    depth = 0
    for place, one in enumerate(text):
        depth += (one in "{[<") - (one in "}]>")
        if depth == 0:
            return text[: place + 1]
    return text


def is_vector(kind: str) -> bool:
    """Whether a type is a vector."""
    return kind.startswith("<") and not kind.startswith("<{")


def element_of(kind: str) -> str:
    """Return the type of a vector's elements; another type is its own."""
    found = _REPEATED.match(kind) if is_vector(kind) else None
    return found[2] if found else kind


def bytes_of(kind: str, named: Mapping[str, str] | None = None) -> int:
    """Return the size of a type without padding; 0 for what has none.

    Args:
        kind: The type.
        named: What types with a name are: "%struct.Pair" is "{ i32, float }".
    """
    text = kind.strip()
    if named and text in named:
        return bytes_of(named[text], {key: one for key, one in named.items() if key != text})
    if found := _REPEATED.match(text):
        return int(found[1]) * bytes_of(found[2], named)
    if text.startswith(("{", "<{")):
        return sum(bytes_of(one, named) for one in split_list(text.strip("<>{} ")))
    first = text.split(" ", 1)[0]
    if first[:1] == "i" and first[1:].isdecimal():
        return -(-int(first[1:]) // 8)
    return _SCALARS.get(first, 0)
