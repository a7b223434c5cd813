"""Runs the program as built and tuned alternately, to measure the gain in production."""

from __future__ import annotations

import math
import statistics
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mneme.optimize.application import failure_of
from mneme.optimize.controls import Controls
from mneme.optimize.profile import read_profile
from mneme.optimize.result import Ratio
from mneme.session.final_round import median_interval

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

    from mneme.optimize.application import Application, Run
    from mneme.optimize.as_built import AsBuilt
    from mneme.optimize.outputs import OutputCheck

__all__ = ["FEWEST_PAIRS", "Comparison", "Production", "ratio_of"]

FEWEST_PAIRS = 3
"""Smallest number of pairs of runs for an interval."""

# From six ratios on, the interval of the median follows from order statistics. For fewer, it is
# Student's t of their logarithms (two-sided, 95 %), by the number of ratios.
_FEWEST_FOR_MEDIAN = 6
_STUDENT = {3: 4.303, 4: 3.182, 5: 2.776}
# How many times as long compiling may take in the program.
_SLOWER_COMPILING = 3
# How often control runs test whether the program as built prints the same.
_MOST_LOOKS = 3
# Claims must hold in further runs, whose median varies as ours does: the difference of two medians
# varies 1.4 times as much as one (for ratios, in logarithms). No claim is more precise than 0.2 %,
# because these runs do not include clock rates and temperatures of other hours. One or two pairs do
# not show the variation: with 0.2 %, 2 of 6 kernels were 0.1 and 0.5 % outside (one H100, November
# 2026).
_WIDER = math.sqrt(2)
_FINEST = 0.002
_FINEST_OF_FEW = 0.01


@dataclass(kw_only=True)
class Comparison:
    """Alternating runs."""

    built_seconds: list[float] = field(default_factory=list)
    tuned_seconds: list[float] = field(default_factory=list)
    built_kernels: dict[str, list[float]] = field(default_factory=dict)
    """Average nanoseconds of a launch, by kernel and run."""
    tuned_kernels: dict[str, list[float]] = field(default_factory=dict)
    seconds_of_a_pair: float = 0.0
    """Average time of two runs with their overhead."""
    fault: str = ""
    """The fault in a tuned run; empty if there is none."""
    accepted_with: list[str] = field(default_factory=list)
    """Patterns that, if ignored, make that run right; empty if unknown."""

    @property
    def application(self) -> Ratio | None:
        """Gain of the whole program."""
        return ratio_of(self.built_seconds, self.tuned_seconds)

    def kernel(self, name: str) -> Ratio | None:
        """Gain of a kernel; None if it was not measured."""
        return ratio_of(self.built_kernels.get(name, []), self.tuned_kernels.get(name, []))


def ratio_of(built: Sequence[float], tuned: Sequence[float]) -> Ratio | None:
    """Return how many times as fast the second ones are, by pair; None without pairs."""
    ratios = [old / new for old, new in zip(built, tuned, strict=False) if old > 0 and new > 0]
    if not ratios:
        return None
    middle, low, high = _interval(ratios)
    is_interval = len(ratios) >= min(_STUDENT)
    finest = _FINEST if is_interval else _FINEST_OF_FEW
    return Ratio(
        ratio=middle,
        low=middle * min((low / middle) ** _WIDER, 1 - finest),
        high=middle * max((high / middle) ** _WIDER, 1 + finest),
        rounds=len(ratios),
        is_interval=is_interval,
    )


def _interval(ratios: Sequence[float]) -> tuple[float, float, float]:
    """Return the middle of ratios and its 95 % confidence interval; for two, both ratios."""
    if len(ratios) >= _FEWEST_FOR_MEDIAN:
        return median_interval(ratios)
    middle = statistics.geometric_mean(ratios)
    if len(ratios) not in _STUDENT:
        return middle, min(ratios), max(ratios)
    spread = statistics.stdev(math.log(one) for one in ratios)
    factor = math.exp(_STUDENT[len(ratios)] * spread / math.sqrt(len(ratios)))
    return middle, middle / factor, middle * factor


class Production:
    """Runs the program as built and as tuned."""

    def __init__(  # noqa: PLR0913, PLR0917 - what such runs consist of
        self,
        application: Application,
        built: AsBuilt,
        check: OutputCheck,
        folder: Path,
        left: Callable[[], float] = lambda: math.inf,
        detail: Callable[[str], None] = lambda _sentence: None,
    ) -> None:
        """Prepare.

        Args:
            application: The program.
            built: Its runs as built, which show how it ends.
            check: The check of its output.
            folder: For profiles and compiled code.
            left: Returns how many seconds of the budget are left.
            detail: Receives details for users who want more output.
        """
        self._application = application
        self._built = built.runs[0]
        self._check = check
        self._folder = folder
        self._measures_apart = built.measures_apart
        self._controls = Controls(application, built, folder, left)
        self._detail = detail
        self._compiling = 0.0
        self._looks = 0

    @property
    def cache(self) -> Path:
        """The directory for code of tuned runs."""
        return self._folder / "cache"

    def try_out(self, tuned: Path, compiling: float = 0.0) -> tuple[Run, str]:
        """Run once with tuned kernels, and compile them.

        Args:
            tuned: The tuned-kernels file.
            compiling: Seconds that compiling took before.

        Returns:
            The run, and its fault.
        """
        self._compiling = compiling
        more = _SLOWER_COMPILING * compiling
        run = self._application.run(tuned=tuned, cache=self.cache, more_seconds=more)
        return run, self._fault(run, tuned)

    def accepted_with(self, run: Run) -> list[str]:
        """Return the patterns that, if ignored, make a wrong run right, if known."""
        return [] if failure_of(run, self._built) else self._check.accepted_with(run.output)

    def compare(
        self, tuned: Path, pairs: int, has_time: Callable[[float], bool] = lambda _seconds: True
    ) -> Comparison:
        """Run as built and as tuned alternately, every other pair in reverse order.

        Args:
            tuned: The tuned-kernels file; its code is compiled.
            pairs: Largest number of pairs of runs.
            has_time: Called with the seconds of each pair after the first three; False ends it.
        """
        found = Comparison()
        began = time.monotonic()
        for number in range(pairs):
            if number >= FEWEST_PAIRS and not has_time(found.seconds_of_a_pair):
                break
            order = (None, tuned) if number % 2 == 0 else (tuned, None)
            for file in order:
                self._take(file, found, is_timed=True, is_profiled=not self._measures_apart)
            if self._measures_apart:
                for file in order:
                    self._take(file, found, is_timed=False, is_profiled=True)
            found.seconds_of_a_pair = (time.monotonic() - began) / (number + 1)
            if found.fault:
                break
        return found

    def _take(
        self, tuned: Path | None, found: Comparison, *, is_timed: bool, is_profiled: bool
    ) -> None:
        folder = self._folder / "profile"
        profile = folder if is_profiled else None
        run = self._application.run(tuned=tuned, cache=self.cache, profile=profile)
        if tuned is not None:
            if not found.fault and (fault := self._fault(run, tuned)):
                found.fault, found.accepted_with = fault, self.accepted_with(run)
        elif not failure_of(run, self._built):
            self._check.learn(run.output)
        if is_timed:
            (found.built_seconds if tuned is None else found.tuned_seconds).append(run.seconds)
        if is_profiled:
            kernels = found.built_kernels if tuned is None else found.tuned_kernels
            for kernel in read_profile(folder).kernels.values():
                mean = kernel.total_ns / max(1, kernel.launches)
                kernels.setdefault(kernel.name, []).append(mean)

    def _fault(self, run: Run, tuned: Path) -> str:
        return failure_of(run, self._built) or self._fault_of(run.output, tuned)

    def _fault_of(self, output: bytes, tuned: Path) -> str:
        """Return the fault in an output, if the program as built never has it.

        A sum in no certain order may occasionally have another last digit, and a time in whole
        seconds differs only in faster runs: control runs show such cases.
        """
        fault = self._check.fault(output)
        if not fault or self._looks == _MOST_LOOKS:
            return fault
        self._looks += 1
        fault = self._fault_after(self._controls.runs(), output)
        if fault and self._check.may_be_a_time(output):
            fault = self._fault_after_recompiling(output, tuned)
        if fault and self._check.may_be_a_time(output):
            fault = self._fault_after(self._controls.further_runs(), output)
        return fault

    def _fault_after_recompiling(self, output: bytes, tuned: Path) -> str:
        """Return what is still wrong after a run with unchanged but slower kernels."""
        run = self._controls.recompiled(tuned, self._compiling)
        if run is None:
            self._detail(f"no control run with recompiled kernels: {self._controls.why_not}")
        else:
            self._check.learn_slower(run.output, output)
        return self._check.fault(output)

    def _fault_after(self, runs: Iterable[Run], output: bytes) -> str:
        """Return what is still wrong after runs as built, of which as few as possible are made."""
        for run in runs:
            is_known_better = not failure_of(run, self._built) and self._check.learn(run.output)
            if is_known_better and not self._check.fault(output):
                return ""
        return self._check.fault(output)
