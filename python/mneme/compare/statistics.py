"""Decides which differences are more than chance, among many.

A ratio of times is compared with 1 by the sign test: under the hypothesis that baseline and variant
are equally fast, each round is as likely to favour one as the other, whatever the distribution of
times. The order of each round is drawn, so this holds whatever disturbs the device, be it periodic.
Intervals by order statistics (`median_interval`) rest on the same distribution.

Among hundreds of tests at 5 % dozens would be significant by chance. Benjamini and Hochberg's
procedure bounds the part of chance among the differences that are called significant (Controlling
the False Discovery Rate, J. R. Statist. Soc. B 57, 1995).

Where nothing differs at all, each finding is false, and the bound is how often there is one: at
5 %, in one of 20 comparisons. So what is found must stand a second time, in rounds that had no part
in finding it. Chance passes that with at most 5 %, in the direction that was found.
"""

from __future__ import annotations

import math
import random
import statistics
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping, Sequence

__all__ = [
    "CONFIRMING_ROUNDS",
    "GeometricMean",
    "discoveries",
    "enough_rounds",
    "geometric_mean",
    "is_confirmed",
    "sign_test",
]

Key = TypeVar("Key", bound="Hashable")

CONFIRMING_ROUNDS = 12
"""Rounds that measure a finding again: ten have to agree."""

_FEWEST_ROUNDS = 12
_RESAMPLES = 1000
_MEDIANS = 10_000
_FEWEST_MEDIANS = 50
_LEVEL = 0.95
_SEED = 20


def sign_test(ratios: Sequence[float]) -> float:
    """Return the probability of ratios that are this one-sided if their median is 1.

    Rounds with equal times say nothing and do not count.
    """
    faster = sum(one > 1 for one in ratios)
    slower = sum(one < 1 for one in ratios)
    return _two_sided(min(faster, slower), faster + slower)


def _two_sided(fewer: int, count: int) -> float:
    return min(1.0, 2 * _tail(fewer, count))


def _tail(fewer: int, count: int) -> float:
    return float(sum(math.comb(count, k) for k in range(fewer + 1)) / 2.0**count)


def is_confirmed(found: Sequence[float], again: Sequence[float]) -> bool:
    """Whether rounds say the same as those in which a difference was found.

    Args:
        found: Ratios of the rounds in which it was found.
        again: Ratios of later rounds.
    """
    is_faster = statistics.median(found) > 1
    agree = sum((one > 1) == is_faster for one in again if one != 1)
    contrary = sum((one > 1) != is_faster for one in again if one != 1)
    return agree > contrary and _tail(contrary, agree + contrary) <= 1 - _LEVEL


def enough_rounds(tests: int, level: float) -> int:
    """Return the rounds with which a single difference among all tests can be found.

    All rounds but one have to agree. The number is even, as every other round is reversed.
    """
    rounds = _FEWEST_ROUNDS
    while _two_sided(1, rounds) > level / max(1, tests):
        rounds += 2
    return rounds


def discoveries(values: Mapping[Key, float], level: float) -> dict[Key, float]:
    """Return the tests that are significant at a false discovery rate, with adjusted values.

    Args:
        values: The p-value of each test.
        level: The part of chance among those returned, at most.
    """
    adjusted: dict[Key, float] = {}
    lowest = 1.0
    ordered = sorted(values.items(), key=lambda item: item[1])
    for rank in range(len(ordered), 0, -1):
        key, value = ordered[rank - 1]
        lowest = min(lowest, value * len(ordered) / rank)
        adjusted[key] = lowest
    return {key: value for key, value in adjusted.items() if value <= level}


@dataclass(frozen=True, slots=True, kw_only=True)
class GeometricMean:
    """The mean of ratios over kernels."""

    ratio: float
    low: float
    """Lower end of the 95 % interval, by the bootstrap."""
    high: float
    """Upper end."""
    kernels: int


def geometric_mean(kernels: Sequence[Sequence[float]]) -> GeometricMean | None:
    """Return the geometric mean of the kernels' medians, None without kernels.

    The interval comes from drawing kernels again, and of each its rounds again: it holds for other
    kernels like these, and for other measurements.

    Args:
        kernels: The ratios of each kernel's rounds.
    """
    if not kernels:
        return None
    draw = random.Random(_SEED)  # noqa: S311 - the same every time
    # Medians of redrawn rounds, fewer than means: each mean has those of many kernels.
    count = min(_RESAMPLES, max(_FEWEST_MEDIANS, _MEDIANS // len(kernels)))

    def medians(one: Sequence[float]) -> list[float]:
        if min(one) == max(one):
            return [math.log(one[0])] * count
        return [math.log(_median(draw.choices(one, k=len(one)))) for _ in range(count)]

    # As many of each kernel: drawing one of all is drawing a kernel, and then one of its medians.
    pool = [median for one in kernels for median in medians(one)]
    means = sorted(statistics.fmean(draw.choices(pool, k=len(kernels))) for _ in range(_RESAMPLES))
    edge = round(_RESAMPLES * (1 - _LEVEL) / 2)
    return GeometricMean(
        ratio=math.exp(statistics.fmean(math.log(_median(one)) for one in kernels)),
        low=math.exp(means[edge]),
        high=math.exp(means[-1 - edge]),
        kernels=len(kernels),
    )


def _median(values: Sequence[float]) -> float:
    ordered = sorted(values)
    middle = len(ordered) // 2
    return (ordered[middle] + ordered[~middle]) / 2
