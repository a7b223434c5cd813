"""What `mneme compare` calls faster or slower, and how often it may be wrong."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from compare_samples import Simulated, compared, make_cases, variant
from mneme.compare.statistics import discoveries, enough_rounds, geometric_mean, sign_test
from native_parts import needs_native

A_AND_B = (variant("a", "default<O1>"), variant("b", "default<O2>"))


@pytest.mark.parametrize(
    ("ratios", "expected"),
    [
        ([1.1] * 6, 2 / 2**6),
        ([0.9] * 6, 2 / 2**6),
        ([1.1] * 5 + [0.9], 2 * (1 + 6) / 2**6),
        ([1.1, 0.9], 1.0),
        ([1.0] * 20, 1.0),
        ([1.0] * 20 + [1.1] * 6, 2 / 2**6),
    ],
)
def test_sign_test_gives_the_probability_of_the_binomial_distribution(
    ratios: list[float], expected: float
) -> None:
    assert sign_test(ratios) == pytest.approx(expected)


def test_discoveries_are_those_of_benjamini_and_hochberg() -> None:
    # The example of their paper, section 3.
    values = [
        *(0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459),
        *(0.3240, 0.4262, 0.5719, 0.6528, 0.7590, 1.0),
    ]
    found = discoveries(dict(enumerate(values)), 0.05)
    assert sorted(found) == [0, 1, 2, 3]
    assert found[3] == pytest.approx(0.0095 * 15 / 4)


def test_a_value_that_a_larger_one_carries_is_a_discovery() -> None:
    assert set(discoveries({"a": 0.03, "b": 0.04}, 0.05)) == {"a", "b"}
    assert discoveries({}, 0.05) == {}


@pytest.mark.parametrize(("tests", "rounds"), [(1, 12), (10, 14), (600, 20)])
def test_enough_rounds_find_a_single_difference(tests: int, rounds: int) -> None:
    assert enough_rounds(tests, 0.05) == rounds
    almost = [1.01] * (rounds - 1) + [0.99]
    assert discoveries({0: sign_test(almost), **dict.fromkeys(range(1, tests), 1.0)}, 0.05)


def test_geometric_mean_is_that_of_the_medians() -> None:
    mean = geometric_mean([[2.0, 2.0, 9.0], [0.5, 0.5, 0.5]])
    assert mean is not None
    assert (mean.ratio, mean.kernels) == (pytest.approx(1.0), 2)
    assert mean.low < 1 < mean.high
    assert geometric_mean([]) is None


def test_geometric_mean_holds_the_true_one_as_often_as_it_says() -> None:
    draw = random.Random(1)
    held = 0
    for _ in range(40):
        kernels = [
            [1.05 * draw.lognormvariate(0, 0.05) * draw.lognormvariate(0, 0.01) for _ in range(12)]
            for _ in range(12)
        ]
        mean = geometric_mean(kernels)
        assert mean is not None
        held += mean.low <= 1.05 <= mean.high
    assert held >= 34


@needs_native
def test_equal_variants_are_found_different_no_more_often_than_allowed(tmp_path: Path) -> None:
    cases = make_cases(tmp_path, 12)
    repeats, level = 40, 0.05
    with_findings = 0
    for seed in range(repeats):
        found = compared(
            cases, A_AND_B, Simulated(seed=seed), tmp_path / str(seed), false_discovery=level
        )
        with_findings += bool(found.gains or found.regressions)
    # Where nothing differs, every finding is false, and the rate is how often there is one.
    assert with_findings / repeats <= level


@needs_native
def test_differences_are_found_and_only_those(tmp_path: Path) -> None:
    cases = make_cases(tmp_path, 12)
    variants = (*A_AND_B, variant("c", "default<O3>"), variant("same", "default<Os>"))
    factors = {"default<O2>": 1.03, "default<O3>": 0.97}
    false = every = 0
    for seed in range(20):
        simulated = Simulated(factors=factors, seed=seed)
        found = compared(cases, variants, simulated, tmp_path / str(seed))
        named = [(row.variant, row.verdict) for row in (*found.regressions, *found.gains)]
        every += len(named)
        false += sum(one not in {("b", "slower"), ("c", "faster")} for one in named)
    assert every >= 20 * 20
    assert false / every <= 0.05
