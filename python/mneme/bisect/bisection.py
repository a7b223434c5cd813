"""Finds the run of a pass that makes a pipeline fail, wrong, slower or larger."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from statistics import median
from typing import TYPE_CHECKING

from mneme.bisect.last_change import first_bad, last_change
from mneme.bisect.pass_runs import EVERY_RUN, PassRuns, first_runs, without_run
from mneme.bisect.symptom import Symptom
from mneme.errors import CompileFailed, InvalidArgument
from mneme.session.final_round import median_interval

if TYPE_CHECKING:
    from collections.abc import Callable

    from mneme.bisect.probe import Answer, Probe

__all__ = ["BisectOptions", "Bisection", "Culprit"]

# What counts as slower than another pipeline when nobody says that it is.
_SLOWER = 1.05
_ROUNDS = 9
_ROUNDS_TO_ASK = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class BisectOptions:
    """What is looked for."""

    passes: str
    """The pipeline that is bad."""

    than: str = "default<O3>"
    """A pipeline that is better, for symptoms that compare."""

    llvm: str = ""
    """What tells the LLVM of `passes` from that of `than`, for people; empty if they have one."""

    than_llvm: str = ""
    """The same for `than`."""

    symptom: Symptom | None = None
    """What is the matter; None: whether it fails, is wrong or slower, in this order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Culprit:
    """The run of a pass that makes the difference."""

    symptom: Symptom
    passes: str
    """The pipeline that has it."""

    number: int
    """Its number among the runs of passes, from 1; 0: no run makes the difference."""

    runs: int = 0
    """Runs of the whole pipeline; 0 if that cannot be known."""

    name: str = ""
    """The pass and what it ran on, as "instcombine on function f"."""

    is_missing: bool = False
    """`passes` is the better pipeline, and this run is what makes it better."""

    llvm: str = ""
    """The LLVM that has it, for people; empty where only one is asked."""

    before: Answer | None = None
    """How the pipeline does that ends just before this run."""

    after: Answer | None = None
    """How it does with this run as its last."""

    without: Answer | None = None
    """How the whole pipeline does without this run alone."""

    ratio: tuple[float, float, float] | None = None
    """Median of time with / time without the run as the last, and the ends of its 95 % confidence
    interval, from rounds that measured both in turn; None where no times are compared."""

    ir_before: str = field(default="", repr=False)
    """The code that the run gets, as text."""

    ir_after: str = field(default="", repr=False)
    """What it makes of it; empty if the compiler crashes."""


@dataclass(frozen=True, slots=True)
class _Side:
    """A pipeline and who compiles it."""

    passes: str
    llvm: str
    probe: Probe

    def __str__(self) -> str:
        return f"'{self.passes}'" + (f" of {self.llvm}" if self.llvm else "")


class Bisection:
    """One search."""

    def __init__(
        self,
        probe: Probe,
        options: BisectOptions,
        tell: Callable[[str], None],
        than: Probe | None = None,
    ) -> None:
        """Prepare it.

        Args:
            probe: Answers for the pipeline that is bad.
            options: What is looked for.
            tell: Called with a line for each pipeline that was asked.
            than: Answers for the better pipeline; None: `probe` does.
        """
        self._bad = _Side(options.passes, options.llvm, probe)
        self._good = _Side(options.than, options.than_llvm, than or probe)
        self._asked = options.symptom
        self._tell = tell
        self._threshold = 0.0
        self._good_ns = 0.0
        self._times: dict[str, float] = {}

    def run(self) -> Culprit:
        """Find the run.

        Raises:
            InvalidArgument: If the pipeline does not have the symptom.
        """
        symptom = self._symptom()
        culprit = self._found(self._bad, symptom, is_missing=False)
        if culprit.number == 0 and symptom.compares:
            self._tell(
                f"no beginning of {self._bad} is better; looking for the run that makes "
                f"{self._good} better"
            )
            culprit = self._found(self._good, symptom, is_missing=True)
        return culprit

    def _symptom(self) -> Symptom:
        """Return what is the matter, and learn from which number on it is."""
        asked, bad = self._asked, self._bad
        self._set(asked)
        answer = bad.probe.ask(bad.passes)
        if asked is None:
            asked = Symptom.SLOWER
            if answer.failure or answer.is_wrong:
                asked = Symptom.FAILED if answer.failure else Symptom.WRONG
            self._set(asked)
        if asked.compares:
            self._threshold = self._between(asked, answer)
        if not self._is_bad(self._ask(bad, bad.passes)):
            raise InvalidArgument(f"the code of {bad} does not have the symptom '{asked.value}'")
        return asked

    def _set(self, symptom: Symptom | None) -> None:
        for side in (self._bad, self._good):
            side.probe.symptom = symptom

    def _ask(self, side: _Side, passes: str) -> Answer:
        """Ask how a pipeline does; its time is measured in turn with that of the better one.

        A busy or warmer machine takes longer for both, so only their ratio tells.
        """
        answer = side.probe.ask(passes)
        can_be_timed = not answer.failure and self._good_ns and answer.image_hash
        if side.probe.symptom is not Symptom.SLOWER or not can_be_timed:
            return answer
        if answer.image_hash not in self._times:
            better = (self._good, self._good.passes)
            ratios = _ratios((side, passes), better, _ROUNDS_TO_ASK)
            self._times[answer.image_hash] = median(ratios) * self._good_ns if ratios else 0
        return replace(answer, number=self._times[answer.image_hash] or answer.number)

    def _between(self, symptom: Symptom, bad: Answer) -> float:
        good = self._good.probe.ask(self._good.passes)
        if symptom is Symptom.SLOWER and good.image_hash:
            self._good_ns = self._times[good.image_hash] = good.number
            bad = self._ask(self._bad, self._bad.passes)
        for side, answer in ((self._bad, bad), (self._good, good)):
            if answer.failure:
                raise InvalidArgument(f"{side} cannot be compared: it {answer.described(symptom)}")
        least = good.number * (_SLOWER if symptom is Symptom.SLOWER else 1)
        if bad.number <= least:
            raise InvalidArgument(
                f"{self._bad} is not worse than {self._good} ({symptom.value}: "
                f"{bad.described(symptom)} and {good.described(symptom)}); name a better one "
                "with --than, or another symptom with --for"
            )
        return math.sqrt(max(good.number, 0.5) * bad.number)

    def _is_bad(self, answer: Answer) -> bool:
        symptom = self._bad.probe.symptom
        if symptom is Symptom.FAILED:
            return bool(answer.failure)
        if symptom is Symptom.WRONG:
            return answer.is_wrong
        return bool(answer.failure) or answer.number > self._threshold

    def _found(self, side: _Side, symptom: Symptom, *, is_missing: bool) -> Culprit:
        passes = side.passes

        def is_bad(count: int) -> bool:
            answer = self._ask(side, first_runs(passes, count))
            self._tell(f"first {count} runs: {answer.described(symptom)}")
            return self._is_bad(answer) != is_missing

        runs = _count(side)
        number = first_bad(is_bad) if runs == 0 else last_change(is_bad, runs)
        if not number:
            return Culprit(symptom=symptom, passes=passes, number=0, runs=runs)
        ir_before, ir_after, name = _code(side, number)
        return Culprit(
            symptom=symptom,
            passes=passes,
            number=number,
            runs=runs,
            name=name,
            is_missing=is_missing,
            llvm=side.llvm,
            before=self._ask(side, first_runs(passes, number - 1)),
            after=self._ask(side, first_runs(passes, number)),
            without=self._ask(side, without_run(passes, number)),
            ratio=_ratio(side, number) if symptom is Symptom.SLOWER else None,
            ir_before=ir_before,
            ir_after=ir_after,
        )


def _ratios(one: tuple[_Side, str], other: tuple[_Side, str], rounds: int) -> list[float]:
    """Return time of one pipeline / time of another, from rounds that measure both in turn."""
    found = []
    for turn in range(rounds):
        pair = (one, other) if turn % 2 == 0 else (other, one)
        times = {which: which[0].probe.time(which[1]) for which in pair}
        if all(times.values()):
            found.append(times[one] / times[other])
    return found


def _ratio(side: _Side, number: int) -> tuple[float, float, float] | None:
    last, one_less = (first_runs(side.passes, count) for count in (number, number - 1))
    ratios = _ratios((side, last), (side, one_less), _ROUNDS)
    return median_interval(ratios) if len(ratios) == _ROUNDS else None


def _count(side: _Side) -> int:
    """Return how many runs the pipeline has; 0 if the compiler does not come to its end."""
    try:
        compiled = side.probe.compile(first_runs(side.passes, EVERY_RUN))
    except CompileFailed:
        return 0
    return PassRuns.from_statistics(compiled.statistics).count


def _code(side: _Side, number: int) -> tuple[str, str, str]:
    """Return the code before and after a run, and its name."""
    before = side.probe.compile(first_runs(side.passes, number - 1), want_ir=True)
    try:
        after = side.probe.compile(first_runs(side.passes, number), want_ir=True)
    except CompileFailed:
        return before.ir, "", PassRuns.from_statistics(before.statistics).next
    return before.ir, after.ir, PassRuns.from_statistics(after.statistics).last
