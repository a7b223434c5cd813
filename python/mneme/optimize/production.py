"""The program as built and with tuned kernels, in turn: what the gain is where it counts."""

from __future__ import annotations

import math
import statistics
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mneme.optimize.application import failure_of
from mneme.optimize.profile import read_profile
from mneme.optimize.result import Ratio
from mneme.tuning.final_round import median_interval

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from mneme.optimize.application import Application, Run
    from mneme.optimize.as_built import AsBuilt
    from mneme.optimize.outputs import OutputCheck

__all__ = ["FEWEST_PAIRS", "Comparison", "Production", "ratio_of"]

FEWEST_PAIRS = 3
"""Pairs of runs that an interval takes."""

# From six ratios on, their order says how far their median is known; for fewer it is Student's t of
# their logarithms, two-sided, 95 %, by the number of ratios.
_FEWEST_FOR_MEDIAN = 6
_STUDENT = {3: 4.303, 4: 3.182, 5: 2.776}
# How many times as long as elsewhere compiling may take in the program.
_SLOWER_COMPILING = 3
# How often runs as built are made again to see whether they print the same.
_MOST_LOOKS = 3
# What is claimed has to hold in further runs, whose median varies as ours does: the difference of
# two medians varies 1.4 times as much as one; of ratios, it is their logarithms that do. Nothing is
# claimed closer than to 0.2 %: clock rates and temperatures of another hour are not in these runs.
_WIDER = math.sqrt(2)
_FINEST = 0.002


@dataclass(kw_only=True)
class Comparison:
    """Runs in turn."""

    built_seconds: list[float] = field(default_factory=list)
    tuned_seconds: list[float] = field(default_factory=list)
    built_kernels: dict[str, list[float]] = field(default_factory=dict)
    """Nanoseconds of a launch on average, by kernel and run."""
    tuned_kernels: dict[str, list[float]] = field(default_factory=dict)
    seconds_of_a_pair: float = 0.0
    """What two runs take with everything around them, on average."""
    fault: str = ""
    """What went wrong in a tuned run; empty if nothing."""

    @property
    def application(self) -> Ratio | None:
        """Gain of the whole program."""
        return ratio_of(self.built_seconds, self.tuned_seconds)

    def kernel(self, name: str) -> Ratio | None:
        """Gain of a kernel; None if it was not measured."""
        return ratio_of(self.built_kernels.get(name, []), self.tuned_kernels.get(name, []))


def ratio_of(built: Sequence[float], tuned: Sequence[float]) -> Ratio | None:
    """Return how many times as fast the second are, pair by pair; None without any."""
    ratios = [old / new for old, new in zip(built, tuned, strict=False) if old > 0 and new > 0]
    if not ratios:
        return None
    middle, low, high = _interval(ratios)
    return Ratio(
        ratio=middle,
        low=middle * min((low / middle) ** _WIDER, 1 - _FINEST),
        high=middle * max((high / middle) ** _WIDER, 1 + _FINEST),
        rounds=len(ratios),
        is_interval=len(ratios) >= min(_STUDENT),
    )


def _interval(ratios: Sequence[float]) -> tuple[float, float, float]:
    """Return the middle of ratios and where it lies with 95 % confidence; of two, both."""
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

    def __init__(
        self, application: Application, built: AsBuilt, check: OutputCheck, folder: Path
    ) -> None:
        """Prepare.

        Args:
            application: The program.
            built: Runs of it as built, which say how one ends.
            check: What its output has to be.
            folder: For profiles and compiled code.
        """
        self._application = application
        self._built = built.runs[0]
        self._check = check
        self._folder = folder
        self._measures_apart = built.measures_apart
        self._looks = 0

    @property
    def cache(self) -> Path:
        """Where code for tuned runs is kept."""
        return self._folder / "cache"

    def try_out(self, tuned: Path, compiling: float = 0.0) -> tuple[Run, str]:
        """Run once with tuned kernels, and compile them.

        Args:
            tuned: The tuned-kernels file.
            compiling: Seconds that compiling took elsewhere.

        Returns:
            The run, and what is wrong with it.
        """
        run = self._application.run(
            tuned=tuned, cache=self.cache, more_seconds=_SLOWER_COMPILING * compiling
        )
        return run, self._fault(run)

    def compare(
        self, tuned: Path, pairs: int, has_time: Callable[[float], bool] = lambda _seconds: True
    ) -> Comparison:
        """Run as built and as tuned in turn, every other pair the other way round.

        Args:
            tuned: The tuned-kernels file; its code is compiled.
            pairs: Pairs of runs, at most.
            has_time: Asked for the seconds of each pair but the first three; False ends it.
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
            found.fault = found.fault or self._fault(run)
        elif not failure_of(run, self._built):
            self._check.learn(run.output)
        if is_timed:
            (found.built_seconds if tuned is None else found.tuned_seconds).append(run.seconds)
        if is_profiled:
            kernels = found.built_kernels if tuned is None else found.tuned_kernels
            for kernel in read_profile(folder).kernels.values():
                mean = kernel.total_ns / max(1, kernel.launches)
                kernels.setdefault(kernel.name, []).append(mean)

    def _fault(self, run: Run) -> str:
        return failure_of(run, self._built) or self._fault_of(run.output)

    def _fault_of(self, output: bytes) -> str:
        """Return what is wrong with an output that the program as built never has.

        A sum in no certain order may have another last digit now and then, and a time in whole
        seconds is the same in all runs but faster ones: two more runs, one of them slow, tell.
        """
        fault = self._check.fault(output)
        if not fault or self._looks == _MOST_LOOKS:
            return fault
        self._looks += 1
        is_known_better = False
        for is_slow in (False, True):
            run = self._application.run(is_slow=is_slow)
            is_known_better |= not failure_of(run, self._built) and self._check.learn(run.output)
        return self._check.fault(output) if is_known_better else fault
