"""Checks whether a program with tuned kernels still gives the right output."""

from __future__ import annotations

import math
import re
import subprocess
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from mneme.errors import InvalidArgument
from mneme.optimize.exact_check import ExactCheck
from mneme.process_groups import end_group

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = [
    "CommandCheck",
    "ExactCheck",
    "NumbersCheck",
    "OutputCheck",
    "OutputRule",
    "make_check",
]

_SHOWN = 80
# A command that takes this many times as long as for another output hangs.
_PATIENCE = 5.0
_PATIENCE_SECONDS = 10.0


class OutputCheck(Protocol):
    """Finds faults in an output."""

    @property
    def rule(self) -> str:
        """What is compared, for people."""

    def fault(self, output: bytes) -> str:
        """Return what is wrong; empty if it is right."""

    def learn(self, output: bytes) -> bool:
        """Take another output of the program as built; return whether less is compared now."""

    def learn_slower(self, output: bytes, wrong: bytes) -> bool:
        """Learn only the times in an output of slower kernels; return as `learn`.

        Args:
            output: The output of the program with kernels that were compiled again unchanged.
            wrong: The output of a tuned run.
        """

    def may_be_a_time(self, output: bytes) -> bool:
        """Whether the fault is a number that looks like a duration or a rate."""

    def accepted_with(self, output: bytes) -> list[str]:
        """Return the patterns that, if ignored, make a wrong output right, or none."""


class _SaysItself:
    """Base of checks that the user defines: nothing is learned from outputs."""

    def learn(self, output: bytes) -> bool:
        """Return False: the user's check decides what may differ."""
        del output
        return False

    def learn_slower(self, output: bytes, wrong: bytes) -> bool:
        """Return False: the user's check decides what is a result."""
        del output, wrong
        return False

    def may_be_a_time(self, output: bytes) -> bool:
        """Return False: the user's check decides what is a result."""
        del output
        return False

    def accepted_with(self, output: bytes) -> list[str]:
        """Return none: there is nothing further to ignore."""
        del output
        return []


class NumbersCheck(_SaysItself):
    """Numbers that regular expressions find, within a relative tolerance."""

    def __init__(self, built: bytes, patterns: Sequence[str], tolerance: float) -> None:
        """Take the output of the program as built.

        Raises:
            InvalidArgument: If a pattern finds nothing there, or no number.
        """
        self._patterns = [re.compile(one, re.MULTILINE) for one in patterns]
        self._tolerance = tolerance
        self._expected = [self._numbers(one, built) for one in self._patterns]
        for pattern, numbers in zip(patterns, self._expected, strict=True):
            if not numbers:
                raise InvalidArgument(
                    f"--compare '{pattern}' matches nothing that the program prints"
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
                f"--compare '{pattern.pattern}' matches something that is not a number: {error}"
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
                # NaN equals only NaN.
                is_same = new == old or (new != new and old != old)  # noqa: PLR0124
                if not is_same and not abs(new - old) <= self._tolerance * abs(old):
                    return f"'{pattern.pattern}' finds {new:.9g} instead of {old:.9g}"
        return ""


class CommandCheck(_SaysItself):
    """A user's command that reads the output and exits with 0 if it is right."""

    def __init__(self, command: str, built: bytes, longest: float = math.inf) -> None:
        """Try it on the output of the program as built; it hangs if it takes `longest` seconds.

        Raises:
            InvalidArgument: If it does not accept this output.
        """
        self._command = command
        self._longest = longest
        began = time.monotonic()
        if fault := self.fault(built):
            raise InvalidArgument(f"--check rejects the output of the program as built: {fault}")
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


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputRule:
    """The user's rule for an output."""

    check: str | None = None
    """Shell command that checks it, and gets it as standard input."""
    compare: tuple[str, ...] = ()
    """Regular expressions whose groups are numbers that have to agree."""
    compare_tolerance: float = 1e-6
    """Largest difference of these, relative to those of the program as built."""
    ignore: tuple[str, ...] = ()
    """Regular expressions for parts that do not count if all of it is compared."""

    def validate(self) -> None:
        """Refuse invalid options before anything is run.

        Raises:
            InvalidArgument: With a message that names the option.
        """
        if not 0 <= self.compare_tolerance < math.inf:
            raise InvalidArgument(
                f"--compare-tolerance is {self.compare_tolerance}; it has to be 0 or more"
            )
        for option, patterns in (("--compare", self.compare), ("--ignore", self.ignore)):
            for pattern in patterns:
                try:
                    groups = re.compile(pattern).groups
                except re.error as error:
                    raise InvalidArgument(f"{option} '{pattern}': {error}") from error
                if groups == 0 and option == "--compare":
                    raise InvalidArgument(
                        f"--compare '{pattern}' has no group; put () around each number that counts"
                    )
        if self.check and self.compare:
            raise InvalidArgument("--check and --compare exclude one another; give one of them")
        if self.ignore and (self.check or self.compare):
            given = "--check" if self.check else "--compare"
            raise InvalidArgument(
                f"--ignore and {given} exclude one another: --ignore is for comparing all of the "
                f"output, and {given} replaces that comparison"
            )


def make_check(
    outputs: Sequence[bytes], rule: OutputRule, longest: float = math.inf
) -> OutputCheck:
    """Return the check that decides whether an output is right.

    Args:
        outputs: The output of each run of the program as built.
        rule: The user's rule.
        longest: Time limit for a command, in seconds.

    Raises:
        InvalidArgument: If the program as built does not pass.
    """
    if rule.check:
        return CommandCheck(rule.check, outputs[0], longest)
    if rule.compare:
        numbers = NumbersCheck(outputs[0], rule.compare, rule.compare_tolerance)
        for output in outputs[1:]:
            if fault := numbers.fault(output):
                raise InvalidArgument(
                    f"two runs of the program as built differ by more than --compare-tolerance: "
                    f"{fault}"
                )
        return numbers
    for pattern in rule.ignore:
        if not re.search(pattern.encode(), outputs[0], re.MULTILINE):
            raise InvalidArgument(f"--ignore '{pattern}' matches nothing that the program prints")
    return ExactCheck(outputs, rule.ignore)
