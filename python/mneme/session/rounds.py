"""Measures configurations in turn, so that only times of the same round are compared.

In each round the baseline and every other configuration run once, in turn and on one worker. Only
times of the same round are compared, which cancels drift (clock rates, other load). Every other
round runs in reverse order, which cancels effects of the position; or every round has an order that
is drawn, which a test for significance can rely on whatever disturbs the device, and how often.
"""

from __future__ import annotations

import math
import statistics
from collections import deque
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from mneme.errors import InvalidArgument
from mneme.session.trials import classify_result, metric_value

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from random import Random

    from mneme.mneme_types import ExperimentConfiguration, ExperimentResult

__all__ = ["FEWEST_ROUNDS", "Measure", "Rounds", "median_interval"]

FEWEST_ROUNDS = 6
"""Rounds that an interval needs."""

_LEVEL = 0.95
Key = TypeVar("Key")


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
    if count < FEWEST_ROUNDS:
        raise InvalidArgument(f"an interval needs {FEWEST_ROUNDS} values, not {count}")
    # The interval from rank k to count + 1 - k misses the median with twice the probability that
    # fewer than k of the values lie below it.
    rank, missed = 0, 0.0
    while True:
        missed += math.comb(count, rank) / 2**count
        if 2 * missed > 1 - _LEVEL:
            break
        rank += 1
    return statistics.median(ordered), ordered[rank - 1], ordered[count - rank]


class Rounds(Generic[Key]):
    """Rounds of a baseline and of what is compared with it."""

    def __init__(  # noqa: PLR0913 - all that rounds depend on
        self,
        measure: Measure,
        baseline: ExperimentConfiguration,
        others: Mapping[Key, ExperimentConfiguration],
        *,
        metric: str = "mean",
        rejected: dict[Key, str] | None = None,
        draw: Random | None = None,
    ) -> None:
        """Prepare.

        Args:
            measure: Replays the configurations of a round again, all on the same worker.
            baseline: The configuration that all are compared with.
            others: The configurations that are compared with it.
            metric: Computes a time from the launches of one round.
            rejected: Those of `others` that are left out; more are added.
            draw: Draws the order of each round; None: every other round is reversed.
        """
        self._measure = measure
        self._baseline = baseline
        self._others = others
        self._metric = metric
        self._draw = draw
        self.rejected: dict[Key, str] = {} if rejected is None else rejected
        """Those that were not verified, with the reason."""
        self.wrong: set[Key] = set()
        """Those of them whose result was wrong."""
        self.baseline_ns: list[float] = []
        """Times of the baseline, by round."""
        self.times_ns: dict[Key, list[float]] = {key: [] for key in others}
        """Times of the others, by round."""
        self.ratios: dict[Key, list[float]] = {key: [] for key in others}
        """Baseline time / time, by round."""

    def run(
        self,
        rounds: int,
        *,
        is_cold: bool = False,
        tell: Callable[[int, int], None] = lambda _done, _total: None,
    ) -> dict[Key, list[float]]:
        """Measure, and return the ratios.

        Args:
            rounds: How many there are.
            is_cold: Whether caches are cold before each launch.
            tell: Receives the number of finished rounds and of all rounds.
        """
        under_way: deque[tuple[Callable[[], ExperimentResult], dict[Key, _Wait]]] = deque()
        queued = 0
        for number in range(rounds):
            # Queue two rounds ahead, so that the device does not wait between rounds.
            while queued < min(rounds, number + 3):
                under_way.append(self._start(queued, is_cold=is_cold))
                queued += 1
            self._take_in(*under_way.popleft())
            tell(number + 1, rounds)
            if len(self.rejected.keys() & self.ratios.keys()) == len(self.ratios):
                break
        for baseline, others in under_way:
            for wait in (baseline, *others.values()):
                wait()
        for key, found in self.ratios.items():
            if not found:
                self.rejected.setdefault(key, "the baseline was not verified beside it")
        return self.ratios

    def _start(
        self, number: int, *, is_cold: bool
    ) -> tuple[Callable[[], ExperimentResult], dict[Key, _Wait]]:
        """Queue a round, in an order that gives no position an advantage."""
        keys = [key for key in self._others if key not in self.rejected]
        configs = [self._baseline, *(self._others[key] for key in keys)]
        order = list(range(len(configs)))
        if self._draw is not None:
            self._draw.shuffle(order)
        elif number % 2:
            order.reverse()
        measured = self._measure([configs[place] for place in order], is_cold=is_cold)
        waits = dict(zip(order, measured, strict=True))
        return waits[0], {key: waits[place] for place, key in enumerate(keys, start=1)}

    def _take_in(self, baseline: _Wait, others: dict[Key, _Wait]) -> None:
        result = baseline()
        base = metric_value(result, self._metric)
        is_usable = classify_result(result) == "verified" and base
        if is_usable and base:
            self.baseline_ns.append(base)
        for key, wait in others.items():
            result = wait()
            status = classify_result(result)
            time = metric_value(result, self._metric)
            if status != "verified" or not time:
                self.rejected[key] = result.error or status
                if status == "failed_verification":
                    self.wrong.add(key)
                continue
            self.times_ns[key].append(time)
            if is_usable and base:
                self.ratios[key].append(base / time)


if TYPE_CHECKING:
    _Wait = Callable[[], ExperimentResult]
