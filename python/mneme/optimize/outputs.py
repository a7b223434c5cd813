"""Whether a program with tuned kernels still gives the right output."""

from __future__ import annotations

import math
import re
import subprocess
import time
from typing import TYPE_CHECKING, Protocol

from mneme.errors import InvalidArgument
from mneme.optimize.exact_check import ExactCheck
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
