"""The place where an output is wrong."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Fault", "instead", "show"]

_SHOWN = 80


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """The first part of an output that the program as built never prints."""

    sentence: str
    line: int | None = None
    """Its line in this output, from 0; None: not a single line."""
    token: int | None = None
    """Which word or number of the line; None: the line as a whole."""

    @property
    def place(self) -> tuple[int, int]:
        """Its position; a fault without one comes first."""
        return (-1 if self.line is None else self.line, -1 if self.token is None else self.token)


def instead(line: int, token: int, found: bytes, expected: bytes) -> Fault:
    """Return the fault of a word or number that differs."""
    sentence = f"line {line + 1} of its output has {show(found)} instead of {show(expected)}"
    return Fault(sentence=sentence, line=line, token=token)


def show(part: bytes) -> str:
    """Return a part of an output in the form that messages quote."""
    return repr(part.decode(errors="replace")[:_SHOWN])
