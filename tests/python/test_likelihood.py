"""Values that good configurations have more often than others are proposed more often."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import pytest

from mneme.search.likelihood import _CANDIDATES, Likelihood

VALUES = {"shape": ["wide", "deep", "flat"], "count": [1, 2, 4, 8], "switch": [False, True]}


def learned(cost: Any, trials: int = 60) -> Likelihood:
    rng = random.Random(1)
    likelihood = Likelihood(VALUES, rng)
    for _ in range(trials):
        params = {name: rng.choice(listed) for name, listed in VALUES.items()}
        likelihood.learn(params, cost(params))
    return likelihood


def proposed(likelihood: Likelihood, name: str, times: int = 200) -> Counter[Any]:
    return Counter(likelihood.propose()[name] for _ in range(times))


def test_what_is_fast_is_proposed() -> None:
    likelihood = learned(
        lambda one: 1.0 + 3 * (one["shape"] != "deep") + abs(one["count"] - 4), trials=200
    )
    assert proposed(likelihood, "shape").most_common(1)[0][0] == "deep"
    assert proposed(likelihood, "count").most_common(1)[0][0] == 4
    assert set(proposed(likelihood, "switch")) <= {False, True}


def test_what_fails_is_avoided() -> None:
    def cost(one: dict[str, Any]) -> float | None:
        return None if one["shape"] == "wide" else 1.0 + one["count"]

    assert proposed(learned(cost), "shape")["wide"] < 20


def test_a_few_results_say_nothing() -> None:
    assert not learned(lambda _: 1.0, trials=5).is_ready
    assert not learned(lambda _: None, trials=50).is_ready
    assert learned(lambda _: 1.0, trials=20).is_ready


def test_parameters_that_a_configuration_lacks_do_not_count() -> None:
    likelihood = Likelihood({"passes": ["O3", "drawn"], "bound": [1, 2]}, random.Random(2))
    for number in range(30):
        likelihood.learn({"passes": "O3"}, 2.0)
        likelihood.learn({"passes": "drawn", "bound": 1 + number % 2}, 1.0 + number % 2)
    assert proposed(likelihood, "bound").most_common(1)[0][0] == 1
    assert proposed(likelihood, "passes").most_common(1)[0][0] == "drawn"


def test_a_few_more_results_among_many_are_not_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    likelihood = learned(lambda one: 1.0 + one["count"], trials=640)
    likelihood.propose()
    compared: list[str] = []
    compare = likelihood._compare
    monkeypatch.setattr(likelihood, "_compare", lambda one: (compared.append(one), compare(one))[1])
    bad = {name: listed[0] for name, listed in VALUES.items()}
    for _ in range(10):
        likelihood.learn(bad, 9.0)
        likelihood.propose()
    assert compared == []
    likelihood.learn(bad, 9.0)
    likelihood.propose()
    assert compared == list(VALUES)


def test_what_is_proposed_is_the_likeliest_of_some_candidates() -> None:
    """The chances are computed; here candidates are drawn, as the method is described."""
    rng = random.Random(3)
    likelihood = learned(lambda _: rng.uniform(1, 2), trials=300)
    found = proposed(likelihood, "count", 20_000)
    good, seen = likelihood._good_counts["count"], likelihood._seen["count"]
    values, have = VALUES["count"], sum(good.values())
    even, others = 1 / len(values), sum(seen.values()) - have
    likely = [(good[one] + even) / (have + 1) for one in values]
    usual = [(seen[one] - good[one] + even) / (others + 1) for one in values]
    ratios = dict(zip(values, (a / b for a, b in zip(likely, usual, strict=True)), strict=True))
    drawn = Counter(
        max(rng.choices(values, likely, k=_CANDIDATES), key=ratios.__getitem__)
        for _ in range(20_000)
    )
    assert all(abs(found[one] - drawn[one]) < 500 for one in values)
