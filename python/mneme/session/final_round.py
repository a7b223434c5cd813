"""Measures the best candidates again, alternating with the baseline, before naming a winner.

A search among thousands of noisy times favours lucky ones. So the candidates are measured again in
rounds. In each round the baseline and every candidate run once, in turn and on one worker. Only
times of the same round are compared, which cancels drift (clock rates, other load). Every other
round runs in reverse order, which cancels effects of the position. The first rounds choose the
winner. Its gain comes from further rounds, which had no part in the choice, and must be significant
twice: it is the median of the rounds' ratios with a 95 % confidence interval by order statistics,
whose ranks follow from the binomial distribution for any distribution of the ratios (J.-Y. Le
Boudec, Performance Evaluation of Computer and Communication Systems, chapter 2; pairing: T.
Kalibera and R. Jones, Rigorous Benchmarking in Reasonable Time, ISMM 2013).

This is the gain in replays. The winner is also measured with cold caches, and the stated gain is
the one expected in production (expected_gain.py).
"""

from __future__ import annotations

import math
import statistics
from collections import deque
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol

from mneme.errors import InvalidArgument
from mneme.session.expected_gain import widened
from mneme.session.trials import classify_result, metric_value

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from mneme.mneme_types import ExperimentConfiguration, ExperimentResult
    from mneme.session.trials import CompletedCandidate

__all__ = [
    "CHOOSING_ROUNDS",
    "FinalRound",
    "Gain",
    "Measure",
    "cold_rounds",
    "median_interval",
    "no_gain",
]

CHOOSING_ROUNDS = 5
"""Rounds that choose among several candidates."""

_LEVEL = 0.95
_FEWEST_ROUNDS = 6
_MOST_COLD_ROUNDS = 12
_BASELINE = -1
# Assumed slowdown of a launch with cold caches if it cannot be measured.
_UNKNOWN_COLD = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Gain:
    """Baseline time / time of a candidate."""

    ratio: float
    """Median over the rounds."""
    low: float
    """Lower end of the gain expected in production."""
    high: float
    """Upper end."""
    significant: bool
    """Whether the interval lies above 1."""
    rounds: int
    """Number of ratios."""
    replayed_low: float
    """Lower end of the 95 % confidence interval of replays."""
    replayed_high: float
    """Upper end."""
    cold_ratio: float | None = None
    """Median with cold caches; None: not measured."""

    @property
    def is_seen(self) -> bool:
        """Whether replays show a gain, regardless of production."""
        return self.replayed_low > 1

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON values."""
        return asdict(self)


def cold_rounds(rounds: int) -> int:
    """Return the number of rounds with cold caches for this many rounds for the gain."""
    return max(_FEWEST_ROUNDS, min(3 * rounds // 4, _MOST_COLD_ROUNDS))


def no_gain(rounds: int = 0) -> Gain:
    """Return the gain of the baseline over itself."""
    return _replayed(1.0, 1.0, 1.0, rounds)


def _replayed(ratio: float, low: float, high: float, rounds: int) -> Gain:
    return Gain(
        ratio=ratio,
        low=low,
        high=high,
        significant=low > 1,
        rounds=rounds,
        replayed_low=low,
        replayed_high=high,
    )


class Measure(Protocol):
    """Replays configurations again; queues them at once, so that the worker need not wait."""

    def __call__(
        self, configs: Sequence[ExperimentConfiguration], *, is_cold: bool
    ) -> Sequence[Callable[[], ExperimentResult]]:
        """Queue a round, with cold caches or with caches as replays leave them.

        All of it is measured on one device, in this order.

        Returns:
            For each configuration a function that waits for the result.
        """


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

    def __init__(  # noqa: PLR0913 - all that rounds depend on
        self,
        measure: Measure,
        baseline: ExperimentConfiguration,
        *,
        metric: str = "mean",
        rounds: int = 12,
        is_cold_known: bool = False,
        tell: Callable[[int, int], None] = lambda _done, _total: None,
    ) -> None:
        """Prepare.

        Args:
            measure: Replays the configurations of a round again, all on the same worker.
            baseline: The configuration that all are compared with.
            metric: Computes a time from the launches of one round.
            rounds: Rounds for the gain. At least 6.
            is_cold_known: Whether launches are so long that cold caches make no difference.
            tell: Receives the number of finished rounds and of all rounds.
        """
        self._measure = measure
        self._baseline = baseline
        self._metric = metric
        self._rounds = rounds
        self._is_cold_known = is_cold_known
        self._tell = tell
        self.rejected: dict[int, str] = {}
        """Candidates that were not verified this time, by trial, with the reason."""
        self.chosen_by: dict[int, float] = {}
        """Baseline time / time of candidates in the choosing rounds, by trial."""
        self._baseline_ns: list[float] = []
        self._wrong: set[int] = set()

    def choose(self, candidates: Sequence[CompletedCandidate]) -> list[CompletedCandidate]:
        """Return the candidates that were verified again, the fastest first."""
        # A single candidate is launched once more, to verify it.
        rounds = CHOOSING_ROUNDS if len(candidates) > 1 else 1
        ratios = self._compare(candidates, min(rounds, self._rounds))
        kept = [one for one in candidates if one.candidate.trial not in self.rejected]
        for trial in (one.candidate.trial for one in kept):
            self.chosen_by[trial] = statistics.median(ratios[trial])
        return sorted(kept, key=lambda one: -self.chosen_by[one.candidate.trial])

    def gain(self, candidate: CompletedCandidate) -> Gain | None:
        """Return the gain of a candidate, from separate rounds; None if it is not verified.

        A gain must be seen twice, and the second measurement counts: changing load can favour one
        side for a few rounds.
        """
        found = self._measured_gain(candidate)
        if found is None or not found.is_seen:
            return found
        found = self._measured_gain(candidate)
        if found is None or not found.is_seen:
            return found
        warm_ns = statistics.median(self._baseline_ns)
        cold = found if self._is_cold_known else self._measured_gain(candidate, is_cold=True)
        if cold is not None:
            lowest, highest = min(found.low, cold.low), max(found.high, cold.high)
            cold_ns = statistics.median(self._baseline_ns)
        elif candidate.candidate.trial in self._wrong:
            return None
        else:
            # A full device has no memory for the buffer that makes caches cold.
            self.rejected.pop(candidate.candidate.trial, None)
            lowest, highest, cold_ns = found.low, found.high, _UNKNOWN_COLD * warm_ns
        low, high = widened(
            lowest,
            highest,
            warm_ns=warm_ns,
            cold_ns=cold_ns,
            fastest_ns=warm_ns / found.ratio,
        )
        cold_ratio = None if cold is None else cold.ratio
        return replace(found, low=low, high=high, significant=low > 1, cold_ratio=cold_ratio)

    def _measured_gain(
        self, candidate: CompletedCandidate, *, is_cold: bool = False
    ) -> Gain | None:
        trial = candidate.candidate.trial
        rounds = cold_rounds(self._rounds) if is_cold else self._rounds
        ratios = self._compare([candidate], rounds, is_cold=is_cold)[trial]
        if trial in self.rejected or len(ratios) < _FEWEST_ROUNDS:
            return None
        return _replayed(*median_interval(ratios), len(ratios))

    def _compare(
        self, candidates: Sequence[CompletedCandidate], rounds: int, *, is_cold: bool = False
    ) -> dict[int, list[float]]:
        """Return baseline time / time by trial and round."""
        self._baseline_ns = []
        ratios: dict[int, list[float]] = {one.candidate.trial: [] for one in candidates}
        under_way: deque[_Round] = deque()
        queued = 0
        for number in range(rounds):
            # Queue one round ahead, so that the device does not wait between rounds.
            while queued < min(rounds, number + 2):
                under_way.append(self._start(candidates, queued, is_cold=is_cold))
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

    def _start(
        self, candidates: Sequence[CompletedCandidate], number: int, *, is_cold: bool
    ) -> _Round:
        """Queue a round; every other one in reverse order, so that no position is an advantage."""
        configs = {_BASELINE: self._baseline}
        configs |= {
            one.candidate.trial: one.candidate.config
            for one in candidates
            if one.candidate.trial not in self.rejected
        }
        order = list(reversed(configs)) if number % 2 else list(configs)
        waits = self._measure([configs[trial] for trial in order], is_cold=is_cold)
        return dict(zip(order, waits, strict=True))

    def _take_in(self, running: _Round, ratios: dict[int, list[float]]) -> None:
        results = {trial: wait() for trial, wait in running.items()}
        base = metric_value(results[_BASELINE], self._metric)
        is_usable = classify_result(results.pop(_BASELINE)) == "verified" and base
        if is_usable and base:
            self._baseline_ns.append(base)
        for trial, result in results.items():
            status = classify_result(result)
            time = metric_value(result, self._metric)
            if status != "verified" or not time:
                self.rejected[trial] = result.error or status
                if status == "failed_verification":
                    self._wrong.add(trial)
            elif is_usable and base:
                ratios[trial].append(base / time)
