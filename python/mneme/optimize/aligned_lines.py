"""Outputs with the same lines: compares the words and numbers that all of them share."""

from __future__ import annotations

from mneme.optimize.fault import Fault, instead, show
from mneme.optimize.lines import IGNORED, differing, is_as_finite, tokens

__all__ = ["AlignedLines"]


class AlignedLines:
    """Runs that print the same lines, with the same number of words and numbers in each.

    Only lines that differ are divided: an output may have millions of lines.
    """

    is_comparable = True

    def __init__(self, expected: bytes) -> None:
        """Take one output."""
        self._expected = expected
        self._lines = expected.split(b"\n")
        self._left_out: dict[int, set[int]] = {}  # of these lines, these tokens, by number

    def count(self) -> int:
        """Return how many words are left out."""
        return sum(map(len, self._left_out.values()))

    @property
    def rule(self) -> str:
        """What is compared, for users."""
        if self.count() == 0:
            return "every byte"
        count = self.count()
        words = "1 word that differs" if count == 1 else f"{count} words that differ"
        return f"every byte but {words} between runs of the program as built"

    def add(self, other: bytes) -> bool:
        """Leave out what differs; return False if the rest cannot be compared in this way."""
        lines = other.split(b"\n")
        if len(lines) != len(self._lines):
            return False
        found_out: list[tuple[int, list[int]]] = []
        for number, (old, new) in enumerate(zip(self._lines, lines, strict=True)):
            if old == new:
                continue
            expected, found = tokens(old), tokens(new)
            if len(found) != len(expected):
                return False
            # A line that differs only in blanks is next to a value of another width.
            found_out.append((number, differing(expected, found)))
        for number, words in found_out:
            self._left_out.setdefault(number, set()).update(words)
        return True

    def differing_lines(self, output: bytes) -> bytes:
        """Return those lines of an output of this form in which something is left out."""
        lines = output.split(b"\n")
        return b"\n".join(lines[number] for number, words in self._left_out.items() if words)

    def fault(self, output: bytes) -> Fault | None:
        """Return the first thing that is wrong."""
        lines = output.split(b"\n")
        for number, (old, new) in enumerate(zip(self._lines, lines, strict=False)):
            if old == new:
                continue
            expected, found = tokens(old), tokens(new)
            left_out = self._left_out.get(number)
            for index in differing(expected, found):
                is_free = left_out is not None and index in left_out
                if not is_free or not is_as_finite(expected[index], found[index]):
                    return instead(number, index, found[index], expected[index])
            if len(found) != len(expected):
                if len(lines) == len(self._lines):
                    told = f"is {show(new)} instead of {show(old)}"
                    return Fault(sentence=f"line {number + 1} of its output {told}", line=number)
                break
            if left_out is None and IGNORED not in old:
                told = f"line {number + 1} of its output differs in blanks"
                return Fault(sentence=told, line=number)
        else:
            if len(lines) == len(self._lines):
                return None
        return Fault(sentence=f"it prints {len(output)} bytes instead of {len(self._expected)}")
