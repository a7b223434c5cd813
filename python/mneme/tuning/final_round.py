"""Measures the best candidates again, in turn with the baseline, before a winner is named.

A search of thousands of noisy times prefers those that were lucky. So the candidates are measured
again in rounds: in each, the baseline and every candidate run once, in turn and on one worker, and
only times of one round are compared, which cancels what drifts (clock rates, other load). Every
other round runs the other way round, which cancels what comes from the place in it. The first
rounds choose the winner. Its gain comes from other rounds, which had no part in the choice, and has
to be significant twice: the median of the rounds' ratios with a 95 % confidence interval by order
statistics, whose ranks the binomial distribution gives whatever the distribution of the ratios
(J.-Y. Le Boudec, Performance Evaluation of Computer and Communication Systems, chapter 2; pairing:
T. Kalibera and R. Jones, Rigorous Benchmarking in Reasonable Time, ISMM 2013).
"""

from __future__ import annotations

import math
import statistics
from collections import deque
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Protocol

from mneme.errors import InvalidArgument
from mneme.tuning.trials import classify_result, metric_value

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from mneme.mneme_types import ExperimentConfiguration, ExperimentResult
    from mneme.tuning.trials import CompletedCandidate

__all__ = ["FinalRound", "Gain", "Measure", "median_interval", "no_gain"]

_LEVEL = 0.95
_FEWEST_ROUNDS = 6
_CHOOSING_ROUNDS = 5
_BASELINE = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class Gain:
    """Baseline time / time of a candidate."""

    ratio: float
    """Median over the rounds."""
    low: float
    """Lower end of the 95 % confidence interval."""
    high: float
    """Upper end."""
    significant: bool
    """Whether the interval lies above 1."""
    rounds: int
    """How many ratios there are."""

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON values."""
        return asdict(self)


def no_gain(rounds: int = 0) -> Gain:
    """Return the gain of the baseline over itself."""
    return Gain(ratio=1.0, low=1.0, high=1.0, significant=False, rounds=rounds)


class Measure(Protocol):
    """Replays a configuration anew; queues it at once, so that the worker has the next at hand."""

    def __call__(self, config: ExperimentConfiguration) -> Callable[[], ExperimentResult]:
        """Queue a configuration; what is returned waits for its result."""


def median_interval(values: Sequence[float]) -> tuple[float, float, float]:
    """Return the median of at least six values and its 95 % confidence interval.

    Raises:
        InvalidArgument: If there are fewer.
    """
    ordered = sorted(values)
    count = len(ordered)
    if count < _FEWEST_ROUNDS:
        raise InvalidArgument(f"an interval needs {_FEWEST_ROUNDS} values, not {count}")
    # The interval from rank k to count + 1 - k misses the median with twice the probability that
    # fewer than k of the values lie below it.
    rank, missed = 0, 0.0
    while True:
        missed += math.comb(count, rank) / 2**count
        if 2 * missed > 1 - _LEVEL:
            break
        rank += 1
    return statistics.median(ordered), ordered[rank - 1], ordered[count - rank]


_Round = dict[int, "Callable[[], ExperimentResult]"]


class FinalRound:
    """Names the winner."""

    def __init__(
        self,
        measure: Measure,
        baseline: ExperimentConfiguration,
        *,
        metric: str = "mean",
        rounds: int = 12,
        tell: Callable[[int, int], None] = lambda _done, _total: None,
    ) -> None:
        """Prepare.

        Args:
            measure: Replays a configuration anew, always on the same worker.
            baseline: What everything is compared with.
            metric: How a time follows from the launches of one round.
            rounds: Rounds for the gain. At least 6.
            tell: Hears how many of how many rounds are done.
        """
        self._measure = measure
        self._baseline = baseline
        self._metric = metric
        self._rounds = rounds
        self._tell = tell
        self.rejected: dict[int, str] = {}
        """Candidates that were not verified this time, by trial, with the reason."""
        self.chosen_by: dict[int, float] = {}
        """Baseline time / time of candidates in the rounds that chose, by trial."""

    def choose(self, candidates: Sequence[CompletedCandidate]) -> list[CompletedCandidate]:
        """Return the candidates that are verified again, the fastest first."""
        ratios = self._compare(candidates, min(_CHOOSING_ROUNDS, self._rounds))
        kept = [one for one in candidates if one.candidate.trial not in self.rejected]
        for trial in (one.candidate.trial for one in kept):
            self.chosen_by[trial] = statistics.median(ratios[trial])
        return sorted(kept, key=lambda one: -self.chosen_by[one.candidate.trial])

    def gain(self, candidate: CompletedCandidate) -> Gain | None:
        """Return the gain of a candidate, from rounds of its own; None if it is not verified.

        A significant gain has to be seen twice, and the second time is what counts: load that comes
        and goes can favour one side for as long as a few rounds last.
        """
        found = self._measured_gain(candidate)
        return self._measured_gain(candidate) if found is not None and found.significant else found

    def _measured_gain(self, candidate: CompletedCandidate) -> Gain | None:
        trial = candidate.candidate.trial
        ratios = self._compare([candidate], self._rounds)[trial]
        if trial in self.rejected or len(ratios) < _FEWEST_ROUNDS:
            return None
        ratio, low, high = median_interval(ratios)
        return Gain(ratio=ratio, low=low, high=high, significant=low > 1, rounds=len(ratios))

    def _compare(
        self, candidates: Sequence[CompletedCandidate], rounds: int
    ) -> dict[int, list[float]]:
        """Return baseline time / time by trial and round."""
        ratios: dict[int, list[float]] = {one.candidate.trial: [] for one in candidates}
        under_way: deque[_Round] = deque()
        queued = 0
        for number in range(rounds):
            # One round ahead: the device does not wait between rounds.
            while queued < min(rounds, number + 2):
                under_way.append(self._start(candidates, is_reversed=queued % 2 == 1))
                queued += 1
            self._take_in(under_way.popleft(), ratios)
            self._tell(number + 1, rounds)
            if len(self.rejected.keys() & ratios.keys()) == len(ratios):
                break
        for left in under_way:
            for wait in left.values():
                wait()
        for one in candidates:
            if not ratios[one.candidate.trial]:
                self.rejected.setdefault(
                    one.candidate.trial, "the baseline was not verified beside it"
                )
        return ratios

    def _start(self, candidates: Sequence[CompletedCandidate], *, is_reversed: bool) -> _Round:
        """Queue a round; every other one the other way round, so that no place is an advantage."""
        configs = {_BASELINE: self._baseline}
        configs |= {
            one.candidate.trial: one.candidate.config
            for one in candidates
            if one.candidate.trial not in self.rejected
        }
        order = list(reversed(configs)) if is_reversed else list(configs)
        return {trial: self._measure(configs[trial]) for trial in order}

    def _take_in(self, running: _Round, ratios: dict[int, list[float]]) -> None:
        results = {trial: wait() for trial, wait in running.items()}
        base = metric_value(results[_BASELINE], self._metric)
        is_usable = classify_result(results.pop(_BASELINE)) == "verified" and base
        for trial, result in results.items():
            status = classify_result(result)
            time = metric_value(result, self._metric)
            if status != "verified" or not time:
                self.rejected[trial] = result.error or status
            elif is_usable and base:
                ratios[trial].append(base / time)
