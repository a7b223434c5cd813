"""Splits lines of an output into words and numbers, without the blanks between them."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = [
    "IGNORED",
    "differing",
    "is_as_finite",
    "is_number",
    "is_same",
    "skeleton",
    "spans",
    "tokens",
    "value_of",
]

IGNORED = "…".encode()
"""Replaces a part of a line that does not count; blanks of the line then do not count, either."""

_NUMBER = rb"(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
# Dots before a number, an address, a number, a name (with digits), letters after a number (a unit),
# any other sign with its repetitions.
_TOKEN = re.compile(
    rb"\.{2,}|0[xX][0-9a-fA-F]+|(?:(?<![\w.)\]])[-+])?"
    + _NUMBER
    + rb"|(?<![0-9.])[A-Za-z_\x80-\xff][\w\x80-\xff]*|[A-Za-z_\x80-\xff]+|([^\s\w])\1*"
)
_IS_DECIMAL = re.compile(rb"[-+]?" + _NUMBER)
_IS_NUMBER = re.compile(rb"0[xX][0-9a-fA-F]+|" + _IS_DECIMAL.pattern)
_NOT_FINITE = (b"nan", b"inf", b"infinity")


def tokens(line: bytes) -> list[bytes]:
    """Return the words, numbers and signs of a line.

    A number includes its sign and exponent, in any context: `local...0s,` contains one. A name
    includes its digits. A unit after a number is a separate word.
    """
    return [found[0] for found in _TOKEN.finditer(line)]


def spans(line: bytes) -> list[tuple[int, int]]:
    """Return where each of the `tokens` begins and ends."""
    return [found.span() for found in _TOKEN.finditer(line)]


def is_number(token: bytes) -> bool:
    """Whether a token is a number, an address, or a NaN or infinity."""
    return token.lower() in _NOT_FINITE or _IS_NUMBER.fullmatch(token) is not None


def is_same(old: bytes, new: bytes) -> bool:
    """Whether two tokens are equal; numbers are equal if value and sign are."""
    if old == new:
        return True
    a, b = value_of(old), value_of(new)
    return a is not None and a == b and old.startswith(b"-") == new.startswith(b"-")


def value_of(token: bytes) -> Decimal | None:
    """Return the value of a decimal number, exactly: a checksum has more digits than a float."""
    return Decimal(token.decode()) if _IS_DECIMAL.fullmatch(token) else None


def is_as_finite(old: bytes, new: bytes) -> bool:
    """Whether a number is as finite as the old one: a time is never NaN."""
    return not _is_finite(old) or _is_finite(new)


def differing(old: Sequence[bytes], new: Sequence[bytes]) -> list[int]:
    """Return which tokens differ, up to the shorter length."""
    return [i for i, (a, b) in enumerate(zip(old, new, strict=False)) if not is_same(a, b)]


def skeleton(line: Sequence[bytes]) -> tuple[bytes, ...]:
    """Return a line's tokens with a `#` for each number."""
    return tuple(b"#" if is_number(one) else one for one in line)


def _is_finite(token: bytes) -> bool:
    return _IS_NUMBER.fullmatch(token) is not None
