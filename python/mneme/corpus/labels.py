"""What a corpus says of a recording: program, arguments, commit, GPU, licence, and more."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final

from mneme.errors import InvalidArgument

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["Labels", "parse_labels"]

# Directories are called like this, on every file system.
_PROGRAM: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._+-]{0,99}")
_KEY: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,99}")
_MOST_CHARACTERS: Final = 10_000
_TEXTS: Final = ("program", "arguments", "commit", "gpu", "licence")


@dataclass(frozen=True, slots=True, kw_only=True)
class Labels:
    """The labels of one recording."""

    program: str
    """The name of the program; it decides between training and test."""
    arguments: str = ""
    """Its command line without its name."""
    commit: str = ""
    """The state of its source."""
    gpu: str = ""
    """Where it was recorded: "cpu", or a GPU's name."""
    licence: str = ""
    """What the program and its data may be used for, as an SPDX expression."""
    more: dict[str, str] = field(default_factory=dict)
    """Labels with names of their own."""

    def __post_init__(self) -> None:
        """Check them.

        Raises:
            InvalidArgument: If the program's name or a label cannot be what it is.
        """
        if not isinstance(self.program, str) or not _PROGRAM.fullmatch(self.program):
            raise InvalidArgument(
                f"{self.program!r} is not a name for a program: take up to 100 letters, digits and "
                "._+-, a letter or digit first"
            )
        texts = {name: getattr(self, name) for name in _TEXTS}
        for name, value in {**texts, **self.more}.items():
            if not isinstance(value, str) or len(value) > _MOST_CHARACTERS:
                raise InvalidArgument(
                    f"the label {name} is not a text of up to {_MOST_CHARACTERS} characters"
                )
        wrong = [key for key in self.more if not _is_free(key)]
        if wrong:
            raise InvalidArgument(
                f"{wrong[0]!r} is not a name for a label: take up to 100 letters, digits and ._-, "
                f"and none of {', '.join(_TEXTS)}, which have options of their own"
            )

    def updated(self, other: Labels) -> Labels:
        """Return these labels with those that another one says; what it leaves empty stays."""
        said = {name: getattr(other, name) for name in _TEXTS if getattr(other, name)}
        return replace(self, **said, more={**self.more, **other.more})

    def to_json(self) -> dict[str, Any]:
        """Return the labels as in the manifest."""
        texts = {name: getattr(self, name) for name in _TEXTS}
        return {**texts, "labels": dict(sorted(self.more.items()))}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Labels:
        """Return the labels of an entry of the manifest.

        Raises:
            InvalidArgument, KeyError, AttributeError: If they are damaged.
        """
        return cls(**{name: data[name] for name in _TEXTS}, more=dict(data["labels"].items()))


def _is_free(key: object) -> bool:
    return isinstance(key, str) and _KEY.fullmatch(key) is not None and key not in _TEXTS


def parse_labels(texts: Iterable[str]) -> dict[str, str]:
    """Read labels written as KEY=VALUE.

    Raises:
        InvalidArgument: If one has no '=', or a key comes twice.
    """
    found: dict[str, str] = {}
    for text in texts:
        key, mark, value = text.partition("=")
        if not mark:
            raise InvalidArgument(f"the label {text!r} is not of the form KEY=VALUE")
        if key in found:
            raise InvalidArgument(f"the label {key!r} is given twice")
        found[key] = value
    return found
