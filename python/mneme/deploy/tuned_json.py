"""Reads values of a tuned-kernels file; errors name the place of a wrong one."""

from __future__ import annotations

import json
import math
import string
from typing import Any

from mneme.errors import ArtifactCorrupt
from mneme.mneme_types import dim3

__all__ = ["FORMAT_VERSION", "Place", "parse_json"]

FORMAT_VERSION = 2
"""Version of the content of the key "Mneme". In version 1 all variants are for one code."""

_HASH_DIGITS = 16
_MAX_DEPTH = 16
_REQUIRED: Any = object()


class Place:
    """A JSON object inside a file; every method raises ArtifactCorrupt naming file and key.

    A key that is absent or null gives the default, if the method takes one. These methods must
    accept the same as runtime/jit/tuned/file.cpp: test_tuned_readers.py compares both.
    """

    def __init__(self, data: object, where: str) -> None:
        """Take an object.

        Args:
            data: A JSON value.
            where: File and keys above it, for messages.

        Raises:
            ArtifactCorrupt: If it is not a JSON object.
        """
        if not isinstance(data, dict):
            raise ArtifactCorrupt(f"{where} is not a JSON object; this is not a tuned-kernels file")
        self.data: dict[str, Any] = data
        self.where = where

    def has(self, key: str) -> bool:
        """Whether the key exists and is not null."""
        return self.data.get(key) is not None

    def broken(self, key: str, what: str) -> ArtifactCorrupt:
        """Return the error of a value."""
        return ArtifactCorrupt(f"{self.where}: {key} {what}; this is not a tuned-kernels file")

    def _get(self, key: str, default: Any) -> Any:  # noqa: ANN401 - JSON holds anything
        if self.has(key):
            return self.data[key]
        if default is _REQUIRED:
            raise self.broken(key, "is missing")
        return default

    def flag(self, key: str, *, default: bool) -> bool:
        """Return a boolean."""
        value = self._get(key, default)
        if not isinstance(value, bool):
            raise self.broken(key, f"is {value!r}, neither true nor false")
        return value

    def whole(self, key: str, default: int) -> int:
        """Return a whole number of 64 bits, which may be negative."""
        value = self._get(key, default)
        if not _is_whole(value, -(2**63), 2**63 - 1):
            raise self.broken(key, f"is {value!r}, no whole number")
        return int(value)

    def number(self, key: str, low: int, high: int, default: int = _REQUIRED) -> int:
        """Return a whole number in a range."""
        value = self._get(key, default)
        if not _is_whole(value, low, high):
            raise self.broken(key, f"is {value!r}, no whole number from {low} to {high}")
        return int(value)

    def real(self, key: str, default: float = _REQUIRED) -> float:
        """Return a finite number."""
        value = self._get(key, default)
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if not is_number or not math.isfinite(value):
            raise self.broken(key, f"is {value!r}, no number")
        return float(value)

    def text(self, key: str, default: str = _REQUIRED) -> str:
        """Return a text."""
        value = self._get(key, default)
        if not isinstance(value, str):
            raise self.broken(key, f"is {value!r}, no text")
        return value

    def remark(self, key: str, default: str = "") -> str:
        """Return an informational text; other values are ignored."""
        value = self.data.get(key)
        return value if isinstance(value, str) else default

    def amount(self, key: str) -> float:
        """Return an informational number; 0 for other values."""
        try:
            return self.real(key, 0)
        except ArtifactCorrupt:
            return 0.0

    def one_of(self, key: str, known: tuple[str, ...]) -> str:
        """Return one of the texts in `known`."""
        value = self.text(key)
        if value not in known:
            raise self.broken(key, f"is {value!r}, none of {', '.join(known)}")
        return value

    def static_hash(self, key: str) -> str:
        """Return 16 hexadecimal digits; empty if the key is absent."""
        if not self.has(key):
            return ""
        value = self.text(key)
        if len(value) != _HASH_DIGITS or not set(value) <= set(string.hexdigits):
            raise self.broken(key, f"is {value!r}, not {_HASH_DIGITS} hexadecimal digits")
        return value.lower()

    def dims(self, key: str) -> dim3 | None:
        """Return an extent; None if the key is absent."""
        if not self.has(key):
            return None
        inner = self.object(key)
        return dim3(*(inner.number(axis, 1, 2**32 - 1, 1) for axis in "xyz"))

    def object(self, key: str) -> Place:
        """Return the object at a key."""
        return Place(self._get(key, _REQUIRED), f"{self.where}: {key}")

    def objects(self, key: str) -> list[Place]:
        """Return a list of objects; empty if the key is absent."""
        return [
            Place(one, f"{self.where}: {key}[{index}]") for index, one in enumerate(self._list(key))
        ]

    def numbers(self, key: str, high: int) -> list[int]:
        """Return a list of whole numbers from 0 to `high`; empty if the key is absent."""
        values = self._list(key)
        if not all(_is_whole(one, 0, high) for one in values):
            raise self.broken(key, f"is not a list of whole numbers from 0 to {high}")
        return values

    def texts(self, key: str) -> list[str]:
        """Return a list of texts; empty if the key is absent."""
        values = self._list(key)
        if not all(isinstance(one, str) for one in values):
            raise self.broken(key, "is not a list of texts")
        return values

    def _list(self, key: str) -> list[Any]:
        value = self._get(key, [])
        if not isinstance(value, list):
            raise self.broken(key, f"is {value!r}, no list")
        return value


def _is_whole(value: object, low: int, high: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and low <= value <= high


def parse_json(text: str) -> object:
    """Return the value of a text, as strictly as a production run reads it.

    Raises:
        ValueError: If it is not JSON, or contains infinities or values nested more than 16 deep.
    """

    def number(digits: str) -> float:
        if not math.isfinite(value := float(digits)):
            raise ValueError(f"the number {digits[:40]} is too large")
        return value

    def whole(digits: str) -> int:
        number(digits)
        return int(digits)

    def constant(name: str) -> object:
        raise ValueError(f"{name} is not a number")

    value: object = json.loads(text, parse_float=number, parse_int=whole, parse_constant=constant)
    level = [value]
    for _ in range(_MAX_DEPTH + 1):
        level = [inner for one in level for inner in _inside(one)]
    if level:
        raise ValueError("it is nested too deeply")
    return value


def _inside(value: object) -> list[object]:
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else []
