"""A column of a table that is written to a file, and the text of a documented list of them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["Column", "Kind", "Table", "described", "is_of_kind"]


class Kind(str, Enum):
    """What a column's values are; the texts are those of the documentation."""

    TEXT = "text"
    INTEGER = "integer"
    FLOAT = "float"
    BOOLEAN = "boolean"
    TIME = "time"
    """A moment, in UTC, to the microsecond."""
    TEXTS = "list of texts"
    INTEGERS = "list of integers"
    FLOATS = "list of floats"


_OF_LISTS: Final = {
    Kind.TEXTS: Kind.TEXT,
    Kind.INTEGERS: Kind.INTEGER,
    Kind.FLOATS: Kind.FLOAT,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """One column; every value may be missing."""

    name: str
    """Its name in files."""

    kind: Kind
    """What its values are."""

    text: str
    """What it means, as in the documentation."""

    unit: str = ""
    """The unit of its numbers; empty: a count, or no number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """What a table is called, its columns, and the version of both."""

    name: str
    """In the metadata of files: "mneme.configurations"."""

    version: int
    """Grows by one where a column goes away or changes its meaning, not where one is added."""

    groups: Mapping[str, Sequence[Column]]
    """Its columns in the order of files, by the headings of the documentation."""

    @property
    def columns(self) -> tuple[Column, ...]:
        """All columns."""
        return tuple(one for group in self.groups.values() for one in group)

    def names(self) -> list[str]:
        """Return the names of the columns."""
        return [one.name for one in self.columns]

    def metadata(self) -> dict[str, str]:
        """Return what files say of the table."""
        from mneme import __version__  # noqa: PLC0415 - the package imports nothing

        told = {"table": self.name, "schema_version": self.version, "mneme": __version__}
        return {"mneme": json.dumps(told)}


def described(table: Table) -> str:
    """Return the columns of a table in Markdown, as the documentation has them."""
    parts = []
    for heading, columns in table.groups.items():
        lines = [f"| {heading} | values | unit | meaning |", "|---|---|---|---|"]
        lines += [
            f"| `{one.name}` | {one.kind.value} | {one.unit} | {one.text} |" for one in columns
        ]
        parts.append("\n".join(lines) + "\n")
    return "\n".join(parts)


def is_of_kind(value: Any, kind: Kind) -> bool:  # noqa: ANN401 - what a file held
    """Whether a value that was read from a file can stand in a column."""
    if isinstance(value, bool):
        return kind is Kind.BOOLEAN
    if kind is Kind.FLOAT:
        return isinstance(value, (int, float))
    if kind is Kind.INTEGER:
        return isinstance(value, int) and -(2**63) <= value < 2**63
    if kind is Kind.TIME:
        return isinstance(value, datetime)
    if kind in _OF_LISTS:
        is_list = isinstance(value, (list, tuple))
        return is_list and all(is_of_kind(one, _OF_LISTS[kind]) for one in value)
    return isinstance(value, str)
