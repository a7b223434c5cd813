"""Finds the run of a pass that makes a pipeline fail, wrong, slower or larger."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
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


@dataclass(frozen=True, slots=True, kw_only=True)
class BisectOptions:
    """What is looked for."""

    passes: str
    """The pipeline that is bad."""

    than: str = "default<O3>"
    """A pipeline that is better, for symptoms that compare."""

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


class Bisection:
    """One search."""

    def __init__(self, probe: Probe, options: BisectOptions, tell: Callable[[str], None]) -> None:
        """Prepare it.

        Args:
            probe: Answers for pipelines.
            options: What is looked for.
            tell: Called with a line for each pipeline that was asked.
        """
        self._probe = probe
        self._options = options
        self._tell = tell
        self._threshold = 0.0

    def run(self) -> Culprit:
        """Find the run.

        Raises:
            InvalidArgument: If the pipeline does not have the symptom.
        """
        options = self._options
        symptom = self._symptom()
        culprit = self._found(options.passes, symptom, is_missing=False)
        if culprit.number == 0 and symptom.compares:
            self._tell(
                f"no beginning of '{options.passes}' is better; looking for the run that makes "
                f"'{options.than}' better"
            )
            culprit = self._found(options.than, symptom, is_missing=True)
        return culprit

    def _symptom(self) -> Symptom:
        """Return what is the matter, and learn from which number on it is."""
        asked, passes = self._options.symptom, self._options.passes
        self._probe.symptom = asked
        bad = self._probe.ask(passes)
        if asked is None:
            asked = Symptom.SLOWER
            if bad.failure or bad.is_wrong:
                asked = Symptom.FAILED if bad.failure else Symptom.WRONG
            self._probe.symptom = asked
        if asked.compares:
            self._threshold = self._between(asked, bad)
        if not self._is_bad(self._probe.ask(passes)):
            raise InvalidArgument(
                f"the code of '{passes}' does not have the symptom '{asked.value}'"
            )
        return asked

    def _between(self, symptom: Symptom, bad: Answer) -> float:
        passes, than = self._options.passes, self._options.than
        good = self._probe.ask(than)
        for name, answer in ((passes, bad), (than, good)):
            if answer.failure:
                raise InvalidArgument(
                    f"'{name}' cannot be compared: it {answer.described(symptom)}"
                )
        least = good.number * (_SLOWER if symptom is Symptom.SLOWER else 1)
        if bad.number <= least:
            raise InvalidArgument(
                f"'{passes}' is not worse than '{than}' ({symptom.value}: "
                f"{bad.described(symptom)} and {good.described(symptom)}); name a better one "
                "with --than, or another symptom with --for"
            )
        return math.sqrt(max(good.number, 0.5) * bad.number)

    def _is_bad(self, answer: Answer) -> bool:
        symptom = self._probe.symptom
        if symptom is Symptom.FAILED:
            return bool(answer.failure)
        if symptom is Symptom.WRONG:
            return answer.is_wrong
        return bool(answer.failure) or answer.number > self._threshold

    def _found(self, passes: str, symptom: Symptom, *, is_missing: bool) -> Culprit:
        def is_bad(count: int) -> bool:
            answer = self._probe.ask(first_runs(passes, count))
            self._tell(f"first {count} runs: {answer.described(symptom)}")
            return self._is_bad(answer) != is_missing

        runs = self._count(passes)
        number = first_bad(is_bad) if runs == 0 else last_change(is_bad, runs)
        if not number:
            return Culprit(symptom=symptom, passes=passes, number=0, runs=runs)
        ir_before, ir_after, name = self._code(passes, number)
        return Culprit(
            symptom=symptom,
            passes=passes,
            number=number,
            runs=runs,
            name=name,
            is_missing=is_missing,
            before=self._probe.ask(first_runs(passes, number - 1)),
            after=self._probe.ask(first_runs(passes, number)),
            without=self._probe.ask(without_run(passes, number)),
            ratio=self._ratio(passes, number) if symptom is Symptom.SLOWER else None,
            ir_before=ir_before,
            ir_after=ir_after,
        )

    def _ratio(self, passes: str, number: int) -> tuple[float, float, float] | None:
        last, one_less = first_runs(passes, number), first_runs(passes, number - 1)
        ratios = self._probe.ratios(last, one_less, _ROUNDS)
        return median_interval(ratios) if len(ratios) == _ROUNDS else None

    def _count(self, passes: str) -> int:
        """Return how many runs the pipeline has; 0 if the compiler does not come to its end."""
        try:
            compiled = self._probe.compile(first_runs(passes, EVERY_RUN))
        except CompileFailed:
            return 0
        return PassRuns.from_statistics(compiled.statistics).count

    def _code(self, passes: str, number: int) -> tuple[str, str, str]:
        """Return the code before and after a run, and its name."""
        before = self._probe.compile(first_runs(passes, number - 1), want_ir=True)
        try:
            after = self._probe.compile(first_runs(passes, number), want_ir=True)
        except CompileFailed:
            return before.ir, "", PassRuns.from_statistics(before.statistics).next
        return before.ir, after.ir, PassRuns.from_statistics(after.statistics).last
