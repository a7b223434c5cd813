"""Reads values of a tuned-kernels file and says where one is wrong."""

from __future__ import annotations

import math
import string
from typing import Any

from mneme.errors import ArtifactCorrupt
from mneme.mneme_types import dim3

__all__ = ["FORMAT_VERSION", "Place"]

FORMAT_VERSION = 1
"""Of the key "Mneme"."""

_HASH_DIGITS = 16
_REQUIRED: Any = object()


class Place:
    """A JSON object inside a file; every method raises ArtifactCorrupt naming file and key.

    A key that is absent gives the default, if the method takes one.
    """

    def __init__(self, data: object, where: str) -> None:
        """Take an object.

        Args:
            data: A JSON value.
            where: File and keys above it, for messages.

        Raises:
            ArtifactCorrupt: If it is no JSON object.
        """
        if not isinstance(data, dict):
            raise ArtifactCorrupt(f"{where} is no JSON object; this is no tuned-kernels file")
        self.data: dict[str, Any] = data
        self.where = where

    def has(self, key: str) -> bool:
        """Whether the key is there."""
        return key in self.data

    def broken(self, key: str, what: str) -> ArtifactCorrupt:
        """Return the error of a value."""
        return ArtifactCorrupt(f"{self.where}: {key} {what}; this is no tuned-kernels file")

    def _get(self, key: str, default: Any) -> Any:  # noqa: ANN401 - JSON holds anything
        if key in self.data:
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
        """Return a whole number, which may be negative."""
        value = self._get(key, default)
        if isinstance(value, bool) or not isinstance(value, int):
            raise self.broken(key, f"is {value!r}, no whole number")
        return value

    def number(self, key: str) -> int:
        """Return a whole number of zero or more, which has to be there."""
        value = self._get(key, _REQUIRED)
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            raise self.broken(key, f"is {value!r}, no whole number of zero or more")
        return value

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

    def one_of(self, key: str, known: tuple[str, ...]) -> str:
        """Return one of the texts in `known`."""
        value = self.text(key)
        if value not in known:
            raise self.broken(key, f"is {value!r}, none of {', '.join(known)}")
        return value

    def static_hash(self, key: str) -> str:
        """Return 16 hexadecimal digits; empty if the key is absent."""
        value = self.text(key, "")
        if value and (len(value) != _HASH_DIGITS or not set(value) <= set(string.hexdigits)):
            raise self.broken(key, f"is {value!r}, not {_HASH_DIGITS} hexadecimal digits")
        return value.lower()

    def dims(self, key: str) -> dim3 | None:
        """Return an extent; None if the key is absent."""
        if not self.has(key):
            return None
        inner = self.object(key)
        try:
            return dim3.from_dict(inner.data)
        except ValueError as error:
            raise self.broken(key, f"is wrong ({error})") from None

    def object(self, key: str) -> Place:
        """Return the object behind a key."""
        return Place(self._get(key, _REQUIRED), f"{self.where}: {key}")

    def objects(self, key: str) -> list[Place]:
        """Return a list of objects; empty if the key is absent."""
        return [
            Place(one, f"{self.where}: {key}[{index}]") for index, one in enumerate(self._list(key))
        ]

    def numbers(self, key: str) -> list[int]:
        """Return a list of whole numbers of zero or more; empty if the key is absent."""
        values = self._list(key)
        if not all(
            isinstance(one, int) and not isinstance(one, bool) and one >= 0 for one in values
        ):
            raise self.broken(key, "is no list of whole numbers")
        return values

    def texts(self, key: str) -> list[str]:
        """Return a list of texts; empty if the key is absent."""
        values = self._list(key)
        if not all(isinstance(one, str) for one in values):
            raise self.broken(key, "is no list of texts")
        return values

    def _list(self, key: str) -> list[Any]:
        value = self._get(key, [])
        if not isinstance(value, list):
            raise self.broken(key, f"is {value!r}, no list")
        return value
