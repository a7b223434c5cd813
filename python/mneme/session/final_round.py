"""Measures the best candidates again, alternating with the baseline, before naming a winner.

A search among thousands of noisy times favours lucky ones. So the candidates are measured again in
rounds (rounds.py). The first rounds choose the winner. Its gain comes from further rounds, which
had no part in the choice, and must be significant twice: it is the median of the rounds' ratios
with a 95 % confidence interval by order statistics,
whose ranks follow from the binomial distribution for any distribution of the ratios (J.-Y. Le
Boudec, Performance Evaluation of Computer and Communication Systems, chapter 2; pairing: T.
Kalibera and R. Jones, Rigorous Benchmarking in Reasonable Time, ISMM 2013).

This is the gain in replays. The winner is also measured with cold caches, and the stated gain is
the one expected in production (expected_gain.py).
"""

from __future__ import annotations

import statistics
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from mneme.session.expected_gain import widened
from mneme.session.rounds import FEWEST_ROUNDS, Measure, Rounds, median_interval

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from mneme.mneme_types import ExperimentConfiguration
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

_MOST_COLD_ROUNDS = 12
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
    return max(FEWEST_ROUNDS, min(3 * rounds // 4, _MOST_COLD_ROUNDS))


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
        if trial in self.rejected or len(ratios) < FEWEST_ROUNDS:
            return None
        return _replayed(*median_interval(ratios), len(ratios))

    def _compare(
        self, candidates: Sequence[CompletedCandidate], rounds: int, *, is_cold: bool = False
    ) -> dict[int, list[float]]:
        """Return baseline time / time by trial and round."""
        compared = Rounds(
            self._measure,
            self._baseline,
            {one.candidate.trial: one.candidate.config for one in candidates},
            metric=self._metric,
            rejected=self.rejected,
        )
        ratios = compared.run(rounds, is_cold=is_cold, tell=self._tell)
        self._baseline_ns = compared.baseline_ns
        self._wrong |= compared.wrong
        return ratios
