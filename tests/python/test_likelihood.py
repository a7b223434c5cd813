"""Values that good configurations have more often than others are proposed more often."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

from mneme.search.likelihood import Likelihood

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
