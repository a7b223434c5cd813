"""Estimates which values good configurations have more often than others.

Compares the densities of each parameter among good and other configurations; their ratio shows what
is likely to be good (J. Bergstra et al., Algorithms for Hyper-Parameter Optimization, NIPS 2011).
Parameters are treated one by one and have few values, so that counting is sufficient.
"""

from __future__ import annotations

import bisect
from collections import Counter
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    import random
    from collections.abc import Iterable, Mapping

__all__ = ["Likelihood"]

_GOOD_PART: Final = 0.15
_FEWEST_GOOD: Final = 4
_MOST_GOOD: Final = 25
# Weight of a uniform prior that is added to the counts, in configurations.
_PRIOR: Final = 1.0
_CANDIDATES: Final = 24

Params = dict[str, Any]


class Likelihood:
    """Learns from results, and proposes values of good configurations."""

    def __init__(self, values: Mapping[str, Iterable[Any]], rng: random.Random) -> None:
        """Prepare for parameters with these values."""
        self._values = {name: list(listed) for name, listed in values.items()}
        self._rng = rng
        self._ranked: list[tuple[float, int]] = []
        self._results: list[Params] = []
        self._all = {name: Counter[Any]() for name in self._values}
        # What runs counts as not good until its result is known.
        self._running = {name: Counter[Any]() for name in self._values}

    @property
    def is_ready(self) -> bool:
        """Whether there are enough results to distinguish good ones."""
        return len(self._ranked) >= 2 * _FEWEST_GOOD

    def begin(self, params: Mapping[str, Any]) -> None:
        """Note that a configuration runs."""
        for name, value in self._known(params).items():
            self._running[name][value] += 1

    def end(self, params: Mapping[str, Any]) -> None:
        """Note that it no longer runs."""
        for name, value in self._known(params).items():
            self._running[name][value] -= 1

    def _known(self, params: Mapping[str, Any]) -> Params:
        return {name: params[name] for name in self._values if name in params}

    def learn(self, params: Mapping[str, Any], metric: float | None) -> None:
        """Add a result; None means that it does not work, which is the worst result."""
        known = self._known(params)
        for name, value in known.items():
            self._all[name][value] += 1
        if metric is not None:
            bisect.insort(self._ranked, (metric, len(self._results)))
        self._results.append(known)

    def propose(self) -> Params:
        """Return a value for each parameter."""
        count = max(_FEWEST_GOOD, min(_MOST_GOOD, int(_GOOD_PART * len(self._results))))
        good = [self._results[index] for _, index in self._ranked[:count]]
        chosen: Params = {}
        for name, values in self._values.items():
            counts = Counter(one[name] for one in good if name in one)
            have = sum(counts.values())
            seen = self._all[name] + self._running[name]
            others = sum(seen.values()) - have
            even = _PRIOR / len(values)
            likely = [(counts[value] + even) / (have + _PRIOR) for value in values]
            usual = [(seen[value] - counts[value] + even) / (others + _PRIOR) for value in values]
            ratios = [one / other for one, other in zip(likely, usual, strict=True)]
            drawn = self._rng.choices(range(len(values)), likely, k=_CANDIDATES)
            chosen[name] = values[max(drawn, key=ratios.__getitem__)]
        return chosen
