"""What a comparison calls a difference, on a device whose clocks drift: a model of time."""

from __future__ import annotations

import math
import random
import statistics
from pathlib import Path

import pytest

from compare_samples import Simulated, compared, make_cases, variant
from mneme.compare.findings import find
from mneme.compare.results import CaseResult, Outcome
from mneme.compare.statistics import CONFIRMING_ROUNDS, enough_rounds, is_confirmed
from native_parts import needs_native

PAIRS = 100
ROUNDS = enough_rounds(PAIRS, 0.05)
TICK_NS = 32
VARIANTS = (variant("a", "default<O1>"), variant("b", "default<O2>"))


class DriftingDevice:
    """Clocks wander, fall while the device warms up, and are lowered for a while, now and then.

    Launches of a round share all that, as they do on a device. Times are whole ticks of a timer.
    """

    def __init__(self, draw: random.Random) -> None:
        self._draw = draw
        self._clock = 1.0
        self._time = 0
        self._lowered = 0
        self._period = draw.choice([2, 3, 4, 7, 40])

    def launch(self, ns: float) -> float:
        """Return the median of a variant's launches in one round."""
        draw = self._draw
        self._time += 1
        self._clock += 0.002 * draw.gauss(0, 1) - 0.02 * (self._clock - 1)
        if draw.random() < 0.02:
            self._lowered = draw.randrange(1, 30)
        self._lowered -= self._lowered > 0
        slower = 1 + 0.05 * math.exp(-self._time / 50) + (0.08 if self._lowered else 0)
        slower += 0.02 * (self._time % self._period == 0)
        taken = ns * slower / self._clock * (1 + 0.004 * abs(draw.gauss(0, 1)))
        return max(1, round(taken / TICK_NS)) * TICK_NS

    def ratios(self, ns: float, factor: float, rounds: int) -> list[float]:
        """Return the ratios of rounds whose order is drawn."""
        found = []
        for _ in range(rounds):
            if self._draw.random() < 0.5:
                base = self.launch(ns)
                time = self.launch(ns * factor)
            else:
                time = self.launch(ns * factor)
                base = self.launch(ns)
            found.append(base / time)
        return found


def comparison(seed: int, factors: dict[int, float]) -> set[int]:
    """Compare pairs, most of them equal; return the numbers of those that are called different."""
    draw = random.Random(seed)
    device = DriftingDevice(draw)
    sizes = [10 ** draw.uniform(3.5, 5.7) for _ in range(PAIRS)]
    results = [
        result_of(device.ratios(ns, factors.get(number, 1.0), ROUNDS))
        for number, ns in enumerate(sizes)
    ]
    for number, name in sorted(find(results, 0.05).unconfirmed):
        ratios = results[number].outcomes[name].ratios
        again = device.ratios(sizes[number], factors.get(number, 1.0), CONFIRMING_ROUNDS)
        results[number] = result_of(ratios, again)
    last = find(results, 0.05)
    assert not last.unconfirmed
    return {
        number if statistics.median(results[number].outcomes[name].ratios) < 1 else -1 - number
        for number, name in last.found
    }


def result_of(ratios: list[float], again: list[float] | None = None) -> CaseResult:
    """A launch with one variant."""
    outcomes = {
        "a": Outcome(status="verified"),
        "b": Outcome(status="verified", ratios=ratios, again=again or []),
    }
    return CaseResult(case={"static_hash": "1", "record_id": "1"}, outcomes=outcomes)


def test_thousands_of_equal_pairs_give_no_finding_however_clocks_drift() -> None:
    assert [found for seed in range(50) if (found := comparison(seed, {}))] == []


def test_differences_of_three_percent_are_found_and_only_those() -> None:
    factors = dict.fromkeys(range(10), 1.03)
    found = [comparison(1000 + seed, factors) for seed in range(20)]
    assert all(one <= set(factors) for one in found)
    assert sum(map(len, found)) >= 0.95 * 20 * len(factors)


def test_a_difference_below_the_timers_tick_is_not_a_finding() -> None:
    # One round in three is one tick longer, none is shorter.
    ratios = ([1.0, 1.0, 0.99] * 20)[:54]
    assert find([result_of(ratios)], 0.05).found == set()
    assert find([result_of([0.99] * 20)], 0.05).found == {(0, "b")}


@pytest.mark.parametrize(
    ("again", "expected"),
    [
        ([1.02] * 12, True),
        ([1.02] * 10 + [0.99] * 2, True),
        ([1.02] * 9 + [0.99] * 3, False),
        ([1.0] * 12, False),
        ([0.98] * 12, False),
        ([1.02] * 5, True),
        ([1.02] * 4, False),
    ],
)
def test_a_finding_stands_if_later_rounds_agree(again: list[float], *, expected: bool) -> None:
    assert is_confirmed([1.02] * 20, again) == expected


@needs_native
def test_what_differs_is_measured_again_and_only_that(tmp_path: Path) -> None:
    simulated = Simulated(factors={"default<O2>": 1.1}, noise=0.001, bursts=0)
    other = variant("c", "default<O3>")
    found = compared(make_cases(tmp_path, 3), (*VARIANTS, other), simulated, tmp_path / "r")
    assert {(row.variant, row.verdict) for row in found.rows} == {
        ("b", "slower"),
        ("c", "no difference"),
    }
    assert {len(row.outcome.again) for row in found.rows if row.variant == "b"} == {12}
    assert {len(row.outcome.again) for row in found.rows if row.variant == "c"} == {0}
    again = compared(
        make_cases(tmp_path, 3), (*VARIANTS, other), Simulated(), tmp_path / "r", resume=True
    )
    assert [row.to_dict() for row in again.rows] == [row.to_dict() for row in found.rows]


@needs_native
def test_what_was_interrupted_before_it_was_measured_again_is_so_later(tmp_path: Path) -> None:
    simulated = Simulated(factors={"default<O2>": 1.1}, noise=0.001, bursts=0)
    compared(make_cases(tmp_path, 1), VARIANTS, simulated, tmp_path / "r")
    lines = tmp_path / "r" / "kernels.jsonl"
    first, _second = lines.read_bytes().splitlines(keepends=True)
    lines.write_bytes(first)
    simulated = Simulated(factors={"default<O2>": 1.0}, noise=0.01)
    found = compared(make_cases(tmp_path, 1), VARIANTS, simulated, tmp_path / "r", resume=True)
    assert len(simulated.launched) == 2 * CONFIRMING_ROUNDS
    assert [row.verdict for row in found.rows] == ["no difference"]
