"""Estimates which values good configurations have more often than others.

Compares the densities of each parameter among good and other configurations; their ratio shows what
is likely to be good (J. Bergstra et al., Algorithms for Hyper-Parameter Optimization, NIPS 2011).
Parameters are treated one by one and have few values, so that counting is sufficient.
"""

from __future__ import annotations

import bisect
from collections import Counter
from typing import TYPE_CHECKING, Any, Final, NamedTuple

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
# Densities are compared again after this part of what they count is new: that takes some time, and
# with hundreds of results a few more say little.
_NEW_PART: Final = 1 / 64

Params = dict[str, Any]


class _Densities(NamedTuple):
    """The values of a parameter among good configurations and others."""

    places: list[int]
    """Where each value is in the list of values."""
    sums: list[float]
    """The chances of these values, added up, to have the greatest ratio of both densities among
    candidates that are drawn by their density among the good."""
    most_changes: int
    """After so many changes of counts both are compared again."""


class Likelihood:
    """Learns from results, and proposes values of good configurations."""

    def __init__(self, values: Mapping[str, Iterable[Any]], rng: random.Random) -> None:
        """Prepare for parameters with these values."""
        self._values = {name: list(listed) for name, listed in values.items()}
        self._rng = rng
        self._ranked: list[tuple[float, int]] = []
        self._results: list[Params] = []
        # What runs counts as a result that is not good until it is known.
        self._seen = {name: Counter[Any]() for name in self._values}
        self._total = dict.fromkeys(self._values, 0)
        self._good: list[int] = []
        self._good_counts = {name: Counter[Any]() for name in self._values}
        self._densities: dict[str, _Densities] = {}
        self._changes = dict.fromkeys(self._values, 0)

    @property
    def is_ready(self) -> bool:
        """Whether there are enough results to distinguish good ones."""
        return len(self._ranked) >= 2 * _FEWEST_GOOD

    def begin(self, params: Mapping[str, Any]) -> None:
        """Note that a configuration runs."""
        self._count(params, 1)

    def end(self, params: Mapping[str, Any]) -> None:
        """Note that it no longer runs."""
        self._count(params, -1)

    def learn(self, params: Mapping[str, Any], metric: float | None) -> None:
        """Add a result; None means that it does not work, which is the worst result."""
        self._count(params, 1)
        if metric is not None:
            bisect.insort(self._ranked, (metric, len(self._results)))
        self._results.append({name: params[name] for name in self._values if name in params})

    def propose(self) -> Params:
        """Return a value for each parameter."""
        self._find_good()
        chosen: Params = {}
        for name, values in self._values.items():
            found = self._densities.get(name)
            if found is None or self._changes[name] > found.most_changes:
                found = self._densities[name] = self._compare(name)
            place = bisect.bisect(found.sums, self._rng.random() * found.sums[-1])
            chosen[name] = values[found.places[min(place, len(values) - 1)]]
        return chosen

    def _count(self, params: Mapping[str, Any], more: int) -> None:
        for name, seen in self._seen.items():
            if name in params:
                seen[params[name]] += more
                self._total[name] += more
                self._changes[name] += 1

    def _find_good(self) -> None:
        """Count values among the best results, if these are others than before."""
        count = max(_FEWEST_GOOD, min(_MOST_GOOD, int(_GOOD_PART * len(self._results))))
        good = [index for _, index in self._ranked[:count]]
        if good == self._good:
            return
        self._good = good
        results = [self._results[index] for index in good]
        for name in self._values:
            self._good_counts[name] = Counter(one[name] for one in results if name in one)
        self._densities.clear()

    def _compare(self, name: str) -> _Densities:
        values, counts, seen = self._values[name], self._good_counts[name], self._seen[name]
        have = sum(counts.values())
        others = self._total[name] - have
        even = _PRIOR / len(values)
        likely = [(counts[value] + even) / (have + _PRIOR) for value in values]
        usual = [(seen[value] - counts[value] + even) / (others + _PRIOR) for value in values]
        ratios = [one / other for one, other in zip(likely, usual, strict=True)]
        places = sorted(range(len(values)), key=ratios.__getitem__)
        sums, whole, end = [0.0] * len(places), sum(likely), 0
        below = first = 0.0
        while end < len(places):
            begin, above = end, below
            ratio = ratios[places[begin]]
            while end < len(places) and ratios[places[end]] == ratio:
                above += likely[places[end]]
                sums[end] = above
                end += 1
            last = min(1.0, above / whole) ** _CANDIDATES
            # Those that are alike share their chance by how often they are drawn.
            share = (last - first) / (above - below)
            for at in range(begin, end):
                sums[at] = first + (sums[at] - below) * share
            below, first = above, last
        return _Densities(places, sums, self._changes[name] + int(_NEW_PART * self._total[name]))
