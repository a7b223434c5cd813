"""Reads and checks the fields of a record file."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from mneme.errors import ArtifactCorrupt, IoFailed, NotFound
from mneme.files.regular_file import read_text
from mneme.mneme_types import dim3

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

__all__ = ["Fields", "read_record"]


class Fields:
    """A JSON object with its file and its place in the file."""

    def __init__(self, data: object, path: Path, place: str = "") -> None:
        """Wrap `data`; `place` is the dotted path to it."""
        self._path = path
        self._place = place
        if not isinstance(data, dict):
            raise self._broken("", "is not a JSON object")
        self._data: dict[str, Any] = data

    def has(self, key: str) -> bool:
        """Whether the field is there."""
        return key in self._data

    def number(self, key: str) -> int:
        """Return a whole number of zero or more."""
        value = self._value(key)
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            raise self._broken(key, f"is {value!r}, not a whole number of zero or more")
        return value

    def text(self, key: str) -> str:
        """Return a string."""
        value = self._value(key)
        if not isinstance(value, str):
            raise self._broken(key, f"is {value!r}, not a text")
        return value

    def list_of(self, key: str, kind: type) -> list[Any]:
        """Return a list whose items all are of `kind`."""
        value = self._value(key)
        if not isinstance(value, list) or not all(isinstance(item, kind) for item in value):
            raise self._broken(key, f"is not a list of {kind.__name__}")
        return value

    def any_list(self, key: str) -> list[Any]:
        """Return a list of anything."""
        return self.list_of(key, object)

    def objects(self, key: str) -> list[Fields]:
        """Return a list of objects."""
        places = enumerate(self.any_list(key))
        return [Fields(one, self._path, f"{self._place}{key}[{at}].") for at, one in places]

    def dims(self, key: str) -> dim3:
        """Return an extent."""
        inner = self.object(key)
        return dim3(inner.number("x"), inner.number("y"), inner.number("z"))

    def numbers_of(self, key: str, *members: str) -> dict[str, int]:
        """Return these numbers of an object; none if there is no such object."""
        inner = self.object(key) if self.has(key) else None
        return {one: inner.number(one) for one in members} if inner else {}

    def known_numbers_of(self, key: str, *members: str) -> dict[str, int]:
        """Return those of these numbers that an object has; none if there is no such object."""
        inner = self.object(key) if self.has(key) else None
        return {one: inner.number(one) for one in members if inner.has(one)} if inner else {}

    def object(self, key: str) -> Fields:
        """Return the object at a key."""
        return Fields(self._value(key), self._path, f"{self._place}{key}.")

    def items(self) -> Mapping[str, Any]:
        """Return all keys and values."""
        return self._data

    def _value(self, key: str) -> Any:  # noqa: ANN401 - JSON holds anything
        if key not in self._data:
            raise self._broken(key, "is missing")
        return self._data[key]

    def _broken(self, key: str, what: str) -> ArtifactCorrupt:
        place = f"{self._place}{key}".rstrip(".") or "the whole"
        return ArtifactCorrupt(f"'{self._path}': {place} {what}; this is not a record of mneme")


def read_record(path: Path) -> Fields:
    """Read a `<static hash>.json` file; its checksum, if it has one, is checked by the runtime.

    Raises:
        NotFound: If there is no such file.
        ArtifactCorrupt: If it is damaged or not a record.
        IoFailed: If the operating system refuses to read it.
    """
    try:
        text = read_text(path)
    except FileNotFoundError as error:
        raise NotFound(f"cannot open '{path}': {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise ArtifactCorrupt(
            f"'{path}' is not a text file, so it is not a record of mneme"
        ) from error
    except OSError as error:
        raise IoFailed(f"cannot read '{path}': {error.strerror}") from error
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ArtifactCorrupt(
            f"'{path}' is not a JSON file ({error}); it may be truncated"
        ) from error
    return Fields(data, path)
