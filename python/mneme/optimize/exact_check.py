"""Compares an output with those of the program as built; only what these share counts."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from mneme.optimize.aligned_lines import AlignedLines
from mneme.optimize.grouped_lines import GroupedLines
from mneme.optimize.ignoring import patterns_for, without
from mneme.optimize.slower_times import with_times_of
from mneme.optimize.times import looks_timed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mneme.optimize.fault import Fault

__all__ = ["ExactCheck"]

# Further outputs are still compared one by one, but not kept.
_MOST_KEPT = 12
# With more patterns than this there is no useful answer.
_MOST_PATTERNS = 8


class ExactCheck:
    """Everything but what differs between runs of the program as built.

    If these have the same lines, only words and numbers that differ are left out (times, dates),
    with the blanks next to them. If lines appear, disappear or change their order, lines are
    identified by their words, and those of their numbers count that are the same in all runs.
    """

    def __init__(self, outputs: Sequence[bytes], ignore: Sequence[str] = ()) -> None:
        """Take the outputs of the program as built, at least one.

        Args:
            outputs: The output of each run.
            ignore: Regular expressions. Matches of their groups do not count; without groups, the
                whole match does not.
        """
        self._ignore = tuple(ignore)
        self._left_out = [re.compile(one.encode(), re.MULTILINE) for one in ignore]
        self._outputs = list(dict.fromkeys(map(self._kept, outputs)))
        self._form = _form_of(self._outputs)

    @property
    def is_comparable(self) -> bool:
        """Whether anything is compared."""
        return self._form.is_comparable

    @property
    def says_enough(self) -> bool:
        """Whether an output can distinguish a right run from a wrong one."""
        return self.is_comparable and any(self._outputs)

    def learn(self, output: bytes) -> bool:
        """Take another output of the program as built; return whether less is compared now.

        An output that has nothing in common with the others is ignored, because every output would
        pass then.
        """
        return self._learn(self._kept(output))

    def learn_slower(self, output: bytes, wrong: bytes) -> bool:
        """Learn only the times in an output that was made with slower kernels.

        Recompiled kernels may round differently, so a difference may be a result. A number is a
        time if its words say so, it is certainly slower here, and it is no slower in the checked
        output.

        Args:
            output: The output of the program with kernels that were compiled again unchanged.
            wrong: The output of a tuned run.

        Returns:
            As `learn`.
        """
        built, slower, wrong = self._outputs[0], self._kept(output), self._kept(wrong)
        if not isinstance(self._form, AlignedLines):
            return False
        return self._learn(with_times_of(built, slower, wrong))

    def _learn(self, output: bytes) -> bool:
        if output in self._outputs:
            return False
        if len(self._outputs) >= _MOST_KEPT:
            before = self._form.count()
            return self._form.add(output) and self._form.count() > before
        form = _form_of([*self._outputs, output])
        if not form.is_comparable:
            return False
        is_less = type(form) is not type(self._form) or form.count() > self._form.count()
        self._outputs.append(output)
        self._form = form
        return is_less

    @property
    def rule(self) -> str:
        """What is compared, for users."""
        if not self.is_comparable:
            return (
                "nothing: its form differs in every run of the program as built (say what counts "
                "with --compare or --check)"
            )
        if not any(self._outputs):
            return (
                "only the exit code, and that nothing is printed (to check results in files or on "
                "standard error, give a command with --check)"
            )
        return self._form.rule + (", without what --ignore finds" if self._ignore else "")

    def fault(self, output: bytes) -> str:
        """Return what is wrong; empty if it is right."""
        found = self._fault(self._kept(output))
        return found.sentence if found else ""

    def may_be_a_time(self, output: bytes) -> bool:
        """Whether the fault is a number that looks like a duration or a rate."""
        output = self._kept(output)
        found = self._fault(output)
        if found is None or found.line is None or found.token is None:
            return False
        return looks_timed(output.split(b"\n"), found.line, found.token)

    def accepted_with(self, output: bytes) -> list[str]:
        """Return the patterns that, if ignored, make a wrong output right, or none."""
        outputs, output = self._outputs, self._kept(output)
        return (
            _accepted_with(outputs, output, is_general=False)
            or _accepted_with(outputs, output, is_general=True)
            or []
        )

    def _kept(self, output: bytes) -> bytes:
        for pattern in self._left_out:
            output = without(pattern, output)
        return output

    def _fault(self, output: bytes) -> Fault | None:
        if not self.is_comparable or output in self._outputs:
            return None
        return self._form.fault(output)


def _fault_in(outputs: Sequence[bytes], output: bytes) -> Fault | None:
    return None if output in outputs else _form_of(outputs).fault(output)


def _accepted_with(
    outputs: Sequence[bytes], output: bytes, *, is_general: bool
) -> list[str] | None:
    """Return the patterns that make an output right; None if there are none, or too many."""
    found: list[str] = []
    while fault := _fault_in(outputs, output):
        pattern = _pattern_for(outputs, output, fault, is_general=is_general)
        if pattern is None or len(found) == _MOST_PATTERNS:
            return None
        found.append(pattern)
        outputs, output = _without(pattern, outputs), _without(pattern, [output])[0]
    return found


def _pattern_for(
    outputs: Sequence[bytes], output: bytes, fault: Fault, *, is_general: bool
) -> str | None:
    """Return the pattern with the fewest matches among those that remove the fault; or none."""
    for pattern in patterns_for(output, fault, is_general=is_general):
        left = _fault_in(_without(pattern, outputs), _without(pattern, [output])[0])
        if left is None or left.place > fault.place:
            return pattern
    return None


def _without(pattern: str, outputs: Sequence[bytes]) -> list[bytes]:
    left_out = re.compile(pattern.encode(), re.MULTILINE)
    return [without(left_out, one) for one in outputs]


def _form_of(outputs: Sequence[bytes]) -> AlignedLines | GroupedLines:
    aligned = AlignedLines(outputs[0])
    if not all(aligned.add(other) for other in outputs[1:]):
        return GroupedLines(outputs)
    # If lines are sorted by a time, their other contents differ only in their position.
    differing_lines = [aligned.differing_lines(one) for one in outputs]
    is_moved = bool(differing_lines[0]) and GroupedLines(differing_lines).is_moved
    return GroupedLines(outputs) if is_moved else aligned
