"""Whether a program with tuned kernels still gives the right output."""

from __future__ import annotations

import math
import re
import subprocess
import time
from typing import TYPE_CHECKING, Protocol

from mneme.errors import InvalidArgument
from mneme.optimize.groups import end_group

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = [
    "CommandCheck",
    "ExactCheck",
    "NumbersCheck",
    "OutputCheck",
    "check_patterns",
    "make_check",
]

_PART = re.compile(rb"\s+|[^\s]+")
_SHOWN = 80
# A command takes about as long for each output: what takes so much longer hangs.
_PATIENCE = 5.0
_PATIENCE_SECONDS = 10.0


class OutputCheck(Protocol):
    """Says what is wrong with an output."""

    @property
    def rule(self) -> str:
        """What is compared, for people."""

    def fault(self, output: bytes) -> str:
        """Return what is wrong; empty if it is right."""

    def learn(self, output: bytes) -> bool:
        """Take another output of the program as built; return whether less is compared now."""


class ExactCheck:
    """Every byte, but for what differs between two runs of the program as built.

    Where these have the same lines with the same number of words, only words that differ are left
    out (times, dates); otherwise nothing is compared. Only lines that differ are divided into
    words: an output may have millions of lines.
    """

    def __init__(self, outputs: Sequence[bytes]) -> None:
        """Take what the program as built printed, in at least one run."""
        self._expected = outputs[0]
        self._lines = outputs[0].split(b"\n")
        # What is not compared: of these lines, these words and spaces, by number.
        self._left_out: dict[int, set[int]] = {}
        self.is_comparable = all(self._leave_out(other) for other in outputs[1:])
        """Whether anything is compared."""

    @property
    def says_enough(self) -> bool:
        """Whether an output tells a right run from a wrong one."""
        return self.is_comparable and bool(self._expected)

    def learn(self, output: bytes) -> bool:
        """Take another output of the program as built; return whether less is compared now.

        One of another form changes nothing: it would let everything pass.
        """
        before = self._count()
        self._leave_out(output)
        return self._count() > before

    def _count(self) -> int:
        return sum(map(len, self._left_out.values()))

    def _leave_out(self, other: bytes) -> bool:
        """Leave out what differs; return whether the rest can be compared."""
        if other == self._expected:
            return True
        lines = other.split(b"\n")
        if len(lines) != len(self._lines):
            return False
        found_out: list[tuple[int, list[int]]] = []
        for number, (old, new) in enumerate(zip(self._lines, lines, strict=True)):
            if old == new:
                continue
            expected, found = _parts(old), _parts(new)
            if len(found) != len(expected):
                return False
            found_out.append((number, _differing(expected, found)))
        for number, words in found_out:
            self._left_out.setdefault(number, set()).update(words)
        return True

    @property
    def rule(self) -> str:
        """What is compared, for people."""
        if not self.is_comparable:
            return (
                "nothing of it: it has another form in every run of the program as built (say what "
                "counts with --compare or --check)"
            )
        if not self._expected:
            return (
                "only that it prints nothing, and its exit code (results that are in files or on "
                "standard error are seen by a command of --check)"
            )
        if self._left_out:
            count = self._count()
            words = "1 word that differs" if count == 1 else f"{count} words that differ"
            return f"every byte but {words} between runs of the program as built"
        return "every byte"

    def fault(self, output: bytes) -> str:
        """Return what is wrong; empty if it is right."""
        if not self.is_comparable or output == self._expected:
            return ""
        lines = output.split(b"\n")
        for number, (old, new) in enumerate(zip(self._lines, lines, strict=False)):
            if old == new:
                continue
            expected, found = _parts(old), _parts(new)
            left_out = self._left_out.get(number, set())
            for index in _differing(expected, found):
                # A word that is left out may be longer or shorter in a column of its own.
                is_beside = expected[index].isspace() and found[index].isspace()
                if index not in left_out and not (is_beside and left_out & {index - 1, index + 1}):
                    told = f"{_show(found[index])} instead of {_show(expected[index])}"
                    return f"line {number + 1} of its output has {told}"
            if len(found) != len(expected) and len(output) == len(self._expected):
                return f"line {number + 1} of its output has other blanks and words"
            if len(found) != len(expected):
                break
        else:
            if len(lines) == len(self._lines):
                return ""
        return f"it prints {len(output)} bytes instead of {len(self._expected)}"


class NumbersCheck:
    """Numbers that regular expressions find, within a relative tolerance."""

    def __init__(self, built: bytes, patterns: Sequence[str], tolerance: float) -> None:
        """Take what the program as built printed.

        Raises:
            InvalidArgument: If a pattern finds nothing there, or no number.
        """
        self._patterns = [re.compile(one, re.MULTILINE) for one in patterns]
        self._tolerance = tolerance
        self._expected = [self._numbers(one, built) for one in self._patterns]
        for pattern, numbers in zip(patterns, self._expected, strict=True):
            if not numbers:
                raise InvalidArgument(
                    f"--compare '{pattern}' finds nothing in what the program prints"
                )

    @property
    def rule(self) -> str:
        """What is compared, for people."""
        count = sum(map(len, self._expected))
        numbers = "1 number" if count == 1 else f"{count} numbers"
        return f"{numbers} by --compare, within {self._tolerance:g} of each"

    def _numbers(self, pattern: re.Pattern[str], output: bytes) -> list[float]:
        found = pattern.findall(output.decode(errors="replace"))
        texts = [text for one in found for text in ((one,) if isinstance(one, str) else one)]
        try:
            return [float(text) for text in texts]
        except ValueError as error:
            raise InvalidArgument(
                f"--compare '{pattern.pattern}' finds what is no number: {error}"
            ) from error

    def fault(self, output: bytes) -> str:
        """Return what is wrong; empty if it is right."""
        for pattern, expected in zip(self._patterns, self._expected, strict=True):
            try:
                found = self._numbers(pattern, output)
            except InvalidArgument as error:
                return str(error)
            if len(found) != len(expected):
                return f"'{pattern.pattern}' finds {len(found)} numbers instead of {len(expected)}"
            for old, new in zip(expected, found, strict=True):
                # NaN is as good as NaN only.
                is_same = new == old or (new != new and old != old)  # noqa: PLR0124
                if not is_same and not abs(new - old) <= self._tolerance * abs(old):
                    return f"'{pattern.pattern}' finds {new:.9g} instead of {old:.9g}"
        return ""

    def learn(self, output: bytes) -> bool:
        """Return False: the tolerance says what may differ."""
        del output
        return False


class CommandCheck:
    """A command of the user's, which reads the output and ends with 0 if it is right."""

    def __init__(self, command: str, built: bytes, longest: float = math.inf) -> None:
        """Try it on what the program as built printed; it hangs if it takes `longest` seconds.

        Raises:
            InvalidArgument: If that is not right for it.
        """
        self._command = command
        self._longest = longest
        began = time.monotonic()
        if fault := self.fault(built):
            raise InvalidArgument(f"--check says no to the output of the program as built: {fault}")
        taken = time.monotonic() - began
        self._longest = min(longest, _PATIENCE * taken + _PATIENCE_SECONDS)

    @property
    def rule(self) -> str:
        """What is compared, for people."""
        return f"'{self._command}' accepts it"

    def fault(self, output: bytes) -> str:
        """Return what is wrong; empty if it is right."""
        with subprocess.Popen(  # noqa: S602 - the user's own command line
            self._command,
            shell=True,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        ) as child:
            try:
                out, err = child.communicate(
                    output, None if self._longest == math.inf else self._longest
                )
            except subprocess.TimeoutExpired:
                end_group(child)
                return f"'{self._command}' did not end within {self._longest:.0f} s"
            except BaseException:
                end_group(child)
                raise
        if child.returncode == 0:
            return ""
        said = (err or out).decode(errors="replace").strip()
        told = f": {said.splitlines()[-1][:_SHOWN]}" if said else ""
        return f"'{self._command}' ends with {child.returncode}{told}"

    def learn(self, output: bytes) -> bool:
        """Return False: the command knows."""
        del output
        return False


def check_patterns(patterns: Sequence[str], tolerance: float) -> None:
    """Refuse what cannot be meant, before anything is run.

    Raises:
        InvalidArgument: With a sentence that names the option.
    """
    if not 0 <= tolerance < math.inf:
        raise InvalidArgument(f"--compare-tolerance is {tolerance}; it has to be 0 or more")
    for pattern in patterns:
        try:
            groups = re.compile(pattern).groups
        except re.error as error:
            raise InvalidArgument(f"--compare '{pattern}': {error}") from error
        if groups == 0:
            raise InvalidArgument(
                f"--compare '{pattern}' has no group; put () around each number that counts"
            )


def make_check(
    outputs: Sequence[bytes],
    *,
    check: str | None,
    compare: Sequence[str],
    tolerance: float,
    longest: float = math.inf,
) -> OutputCheck:
    """Return what decides whether an output is right.

    Args:
        outputs: What the program as built printed, run by run.
        check: Command of the shell, or None.
        compare: Regular expressions, or none.
        tolerance: Relative, for the numbers these find.
        longest: Seconds that the command may take.

    Raises:
        InvalidArgument: If the program as built does not pass.
    """
    if check:
        return CommandCheck(check, outputs[0], longest)
    if compare:
        numbers = NumbersCheck(outputs[0], compare, tolerance)
        for output in outputs[1:]:
            if fault := numbers.fault(output):
                raise InvalidArgument(
                    f"two runs of the program as built differ by more than --compare-tolerance: "
                    f"{fault}"
                )
        return numbers
    return ExactCheck(outputs)


def _parts(line: bytes) -> list[bytes]:
    """Return words and what is between them."""
    return _PART.findall(line)


def _differing(old: Sequence[bytes], new: Sequence[bytes]) -> list[int]:
    return [index for index, (a, b) in enumerate(zip(old, new, strict=False)) if a != b]


def _show(part: bytes) -> str:
    return repr(part.decode(errors="replace")[:_SHOWN])
