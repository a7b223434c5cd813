"""The sampler `auto`: several ways to search, of which those that find something are used more."""

from __future__ import annotations

import hashlib
import itertools
import random
import statistics
from typing import Any

import pytest

from mneme import _native
from mneme.mneme_types import ExperimentConfiguration
from mneme.search.operator_credit import Operator
from mneme.search.params import BoolParam, CategoricalParam, FixedParam, IntRangeParam
from mneme.search.pipeline_param import PipelineParam
from mneme.search.portfolio import Portfolio, Proposal
from mneme.search.search_space import SearchSpace
from mneme.search.space_view import SpaceView
from mneme.search.starting_points import starting_points


class Space(SearchSpace):
    """Twelve numbers, of which a cost knows the best."""

    def __init__(self, *, has_pipeline: bool = False) -> None:
        self._made: dict[str, Any] = {
            f"n{index}": IntRangeParam(f"n{index}", 0, 9) for index in range(12)
        }
        if has_pipeline:
            self._made["passes"] = CategoricalParam("passes", ["default<O3>", "drawn"])
            self._made["pipeline"] = PipelineParam("pipeline", 4, when={"passes": "drawn"})

    def dimensions(self) -> dict[str, Any]:
        return self._made

    def derived(self, params: dict[str, Any]) -> ExperimentConfiguration:
        passes = str(params.get("pipeline") or params.get("passes", "default<O3>"))
        numbers = "".join(str(params.get(f"n{index}", 0)) for index in range(12))
        return ExperimentConfiguration(passes=passes, shared_mem=int(numbers))


def cost(params: dict[str, Any]) -> float:
    return 1.0 + sum((params[f"n{index}"] - index % 10) ** 2 for index in range(12))


def best_of(trials: int, seed: int, *, is_auto: bool) -> float:
    view = SpaceView.of(Space())
    rng = random.Random(seed)
    portfolio = Portfolio(view, rng)
    best = float("inf")
    for number in range(trials):
        if is_auto:
            sample = portfolio.propose(number).sample
            portfolio.learn(number, cost(sample.params), tuple(sample.params.items()))
        else:
            sample = view.draw(rng)
        best = min(best, cost(sample.params))
    return best


def test_it_finds_what_chance_does_not() -> None:
    found = [best_of(400, seed, is_auto=True) for seed in range(5)]
    by_chance = [best_of(400, seed, is_auto=False) for seed in range(5)]
    assert max(found) < min(by_chance)
    assert statistics.median(found) < 0.4 * min(by_chance)


def test_the_same_seed_asks_for_the_same() -> None:
    def asked() -> list[dict[str, Any]]:
        portfolio = Portfolio(SpaceView.of(Space(has_pipeline=True)), random.Random(7))
        found = []
        for number in range(200):
            found.append(portfolio.propose(number).sample.params)
            portfolio.learn(number, float(number % 17), number)
        return found

    assert asked() == asked()


def test_proposals_of_a_seed_stay_the_same() -> None:
    """What makes asking faster must not change what is asked, unless chance decides otherwise."""
    portfolio = Portfolio(SpaceView.of(Space()), random.Random(7))
    digest = hashlib.sha256()
    for number in range(2000):
        params = portfolio.propose(number).sample.params
        digest.update(repr(sorted(params.items())).encode())
        if number >= 16:
            params = portfolio.sample_of(number - 16).params
            metric = None if params["n0"] == 9 else cost(params)
            portfolio.learn(number - 16, metric, tuple(params.items()))
    assert digest.hexdigest()[:16] == "3fdf4027f5e17507"


@pytest.mark.parametrize(("running", "most"), [(1, 200), (64, 200), (128, 100), (5000, 8)])
def test_many_that_run_leave_few_attempts(
    monkeypatch: pytest.MonkeyPatch, running: int, most: int
) -> None:
    portfolio = Portfolio(SpaceView.of(Space()), random.Random(7))
    first = portfolio.propose(0)
    for number in range(1, running):
        portfolio.begin(number, first)
    known, tries = Proposal(first.sample, "draw"), itertools.count()

    def propose_known(_turn: int) -> Proposal:
        next(tries)
        return known

    monkeypatch.setattr(portfolio, "_propose", propose_known)
    found = portfolio.propose(running)
    assert next(tries) == most
    assert not found.is_repeated  # one that is new was drawn


def test_after_nothing_new_attempts_grow_with_what_is_learned(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    portfolio = Portfolio(SpaceView.of(Space()), random.Random(7))
    for number in range(64):
        portfolio.propose(number)
    known, tries = Proposal(portfolio.sample_of(0), "draw"), itertools.count()
    monkeypatch.setattr(portfolio, "_propose", lambda _: (next(tries), known)[1])

    def attempts(number: int) -> int:
        before = next(tries)
        portfolio.propose(number)
        return next(tries) - before - 1

    assert [attempts(64), attempts(65)] == [200, 2]
    for number in range(8):
        portfolio.learn(number, 1.0 + number, number)
    assert attempts(66) == 200 * 8 // 58
    assert attempts(67) == 2


def test_credit_is_the_area_under_the_curve() -> None:
    rng, operator, uses = random.Random(1), Operator(lambda: None), []
    for _ in range(1000):
        uses.append(rng.choice((0.0, 0.3, 1.0)))
        operator.add(uses[-1])
        kept = uses[-300:]
        area = sum(place * one for place, one in enumerate(kept, 1))
        assert operator.credit == pytest.approx(2 * area / (len(kept) * (len(kept) + 1)))


def test_pipelines_are_sequences_mutated_and_spliced() -> None:
    portfolio = Portfolio(SpaceView.of(Space(has_pipeline=True)), random.Random(1))
    seen: dict[str, list[str]] = {}
    for number in range(400):
        proposal = portfolio.propose(number)
        seen.setdefault(proposal.operator, []).append(proposal.sample.config.passes)
        portfolio.learn(number, 100.0 - number % 50, number)
    ways = {"sequence", "mutate", "splice", "extend", "shorten", "combine", "change", "draw"}
    assert ways <= seen.keys()
    for text in (one for many in seen.values() for one in many[:20]):
        _native.check_passes(text)
    assert max(text.count(",") for text in seen["sequence"]) > 40


def test_of_pipelines_that_give_the_same_code_the_shortest_goes_on() -> None:
    view = SpaceView.of(Space(has_pipeline=True))
    portfolio = Portfolio(view, random.Random(3))
    numbers = portfolio.propose(0).sample
    long, short = "function(gvn,sccp,dse,adce,bdce)", "function(gvn,dse)"
    for number, text in enumerate((long, short), 1):
        params = {**numbers.params, "passes": "drawn", "pipeline": text}
        portfolio.begin(number, Proposal(view.sample_of(params)))
        portfolio.learn(number, 1.0, "the same")
    proposed = [portfolio.propose(3 + number) for number in range(300)]
    changed = [one.sample.config.passes for one in proposed if one.operator == "extend"]
    assert changed
    assert all("gvn" in text and "adce,bdce" not in text for text in changed)


def test_what_fails_is_no_parent() -> None:
    portfolio = Portfolio(SpaceView.of(Space()), random.Random(1))
    for number in range(300):
        sample = portfolio.propose(number).sample
        metric = 1.0 if sample.params["n0"] == 3 else None
        portfolio.learn(number, metric, tuple(sample.params.items()))
    right = [portfolio.propose(300 + more).sample.params["n0"] == 3 for more in range(100)]
    assert sum(right) > 30


def test_it_ends_when_nothing_better_is_found() -> None:
    portfolio = Portfolio(SpaceView.of(Space()), random.Random(1))
    count = 0
    while not portfolio.is_exhausted:
        portfolio.propose(count)
        portfolio.learn(count, 1.0, count)
        count += 1
    assert 2000 <= count < 2020


def test_starting_points_differ_from_the_usual_in_one_thing() -> None:
    dimensions = {
        "a": CategoricalParam("a", ["x", "y", "z"]),
        "b": BoolParam("b"),
        "codegen_opt": IntRangeParam("codegen_opt", 0, 3),
        "one": FixedParam("one", 5),
        "when": IntRangeParam("when", 0, 3, when={"b": True}),
    }
    points = list(starting_points(dimensions))
    assert points[0] == {"a": "x", "b": False, "codegen_opt": 3, "one": 5}
    for point in points[1:]:
        assert sum(point[name] != points[0][name] for name in point) == 1
    assert len(points) == 1 + 2 + 1 + 3
    many = list(starting_points({"a": IntRangeParam("a", 0, 99)}))
    assert len(many) == 8


@pytest.mark.parametrize("has_pipeline", [False, True])
def test_an_impossible_space_is_said(*, has_pipeline: bool) -> None:
    class Empty(Space):
        max_attempts = 5

        def constraints(self, x: Any) -> bool:  # noqa: ARG002
            return False

    portfolio = Portfolio(SpaceView.of(Empty(has_pipeline=has_pipeline)), random.Random(1))
    with pytest.raises(ValueError, match="no configuration of"):
        portfolio.propose(0)


def test_what_hangs_on_a_switch_gets_values_when_it_is_turned_on() -> None:
    class Bounded(SearchSpace):
        def dimensions(self) -> dict[str, Any]:
            blocks = IntRangeParam("blocks", 1, 4, when={"bounds": True}, otherwise=0)
            return {"bounds": BoolParam("bounds"), "blocks": blocks}

        def derived(self, params: dict[str, Any]) -> ExperimentConfiguration:
            return ExperimentConfiguration(
                set_launch_bounds=params["bounds"], min_blocks_per_sm=params["blocks"]
            )

    portfolio = Portfolio(SpaceView.of(Bounded()), random.Random(1))
    first = portfolio.propose(0).sample
    assert first.params == {"bounds": False, "blocks": 0}
    portfolio.learn(0, 1.0, "usual")
    changed, operator, *_ = portfolio.propose(1)
    assert (changed.params["bounds"], operator) == (True, "")
    assert changed.params["blocks"] in {1, 2, 3, 4}
