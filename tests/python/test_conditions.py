from __future__ import annotations

import itertools
import random
from collections.abc import Mapping
from typing import Any

import optuna
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mneme.errors import InvalidArgument
from mneme.search.params import ABSENT
from mneme.search.search_space import (
    BaseParam,
    BoolParam,
    CategoricalParam,
    FixedParam,
    IntRangeParam,
)
from space_samples import Space, all_params, make_study


def test_a_parameter_exists_only_under_its_condition() -> None:
    space = Space(
        BoolParam("bounds"),
        IntRangeParam("blocks", 1, 2, when={"bounds": True}),
        IntRangeParam("level", 1, 2, when=lambda p: p.get("blocks") == 2, otherwise=0),
    )
    assert all_params(space) == [
        {"bounds": True, "blocks": 1, "level": 0},
        {"bounds": True, "blocks": 2, "level": 1},
        {"bounds": True, "blocks": 2, "level": 2},
        {"bounds": False, "level": 0},
    ]


def test_conditions_take_collections_and_later_dimensions() -> None:
    space = Space(
        BoolParam("late", when={"level": (2, 3), "mode": "a"}),
        IntRangeParam("level", 1, 3),
        CategoricalParam("mode", ["a", "b"]),
    )
    found = all_params(space)
    assert len(found) == 2 * 2 + 1 + 3
    assert all(("late" in p) == (p["level"] > 1 and p["mode"] == "a") for p in found)
    assert list(found[0]) == ["level", "mode"] or list(found[0]) == ["late", "level", "mode"]


def test_an_absent_parameter_meets_no_condition() -> None:
    space = Space(
        FixedParam("a", 1),
        FixedParam("b", 1, when={"a": 2}),
        FixedParam("c", 1, when={"b": 1}),
    )
    assert all_params(space) == [{"a": 1}]


def test_one_is_not_true_in_conditions() -> None:
    assert all_params(Space(FixedParam("a", 1), FixedParam("b", 1, when={"a": True}))) == [{"a": 1}]


@pytest.mark.parametrize(
    ("params", "sentence"),
    [
        ([BoolParam("a", when={"b": 1}), BoolParam("b", when={"a": 1})], "one another: a, b"),
        ([BoolParam("a", when={"a": 1})], "one another: a"),
        ([BoolParam("a", when={"z": 1})], "'a' .* names 'z', which is not a dimension"),
        ([BoolParam("a", when=lambda p: p["z"])], "condition of dimension 'a' .*KeyError"),
    ],
)
def test_senseless_conditions_are_refused(params: list[BaseParam], sentence: str) -> None:
    for sample in (lambda s: s.sample_random(), lambda s: list(s.sample_exhaustive())):
        with pytest.raises(InvalidArgument, match=sentence):
            sample(Space(*params))


def test_a_function_sees_what_is_declared_before_it() -> None:
    seen: set[tuple[str, ...]] = set()
    space = Space(
        BoolParam("a", when={"c": True}, otherwise=None),
        BoolParam("b", when=lambda p: seen.add(tuple(sorted(p))) or True),
        BoolParam("c"),
    )
    list(space.sample_exhaustive())
    assert seen == {("a", "c")}


@st.composite
def spaces(draw: Any) -> Space:
    count = draw(st.integers(1, 5))
    order = draw(st.permutations(range(count)))
    params: list[BaseParam] = []
    for i in range(count):
        others = [j for j in range(count) if order[j] < order[i]]
        when = None
        if others and draw(st.booleans()):
            when = {f"p{draw(st.sampled_from(others))}": draw(st.sampled_from([0, (0, 1), [2]]))}
        otherwise = draw(st.sampled_from([ABSENT, 0, 9]))
        kind = draw(st.integers(0, 2))
        if kind == 0:
            params.append(IntRangeParam(f"p{i}", 0, 2, when=when, otherwise=otherwise))
        elif kind == 1:
            choices = draw(st.lists(st.integers(0, 3), min_size=1, max_size=3))
            params.append(CategoricalParam(f"p{i}", choices, when=when, otherwise=otherwise))
        else:
            params.append(FixedParam(f"p{i}", 1, when=when, otherwise=otherwise))
    limit = draw(st.integers(0, 12))
    return Space(*params, allow=lambda x: sum(x.values()) <= limit)


def is_member(space: Space, params: Mapping[str, Any]) -> bool:
    """Whether parameters are a member, said without the code under test."""
    for name, param in space.params.items():
        when = param.when or {}
        assert isinstance(when, Mapping)
        is_active = all(
            key in params and params[key] in (wanted if not isinstance(wanted, int) else (wanted,))
            for key, wanted in when.items()
        )
        if is_active and not (name in params and param.contains(params[name])):
            return False
        if not is_active and params.get(name, ABSENT) is not param.otherwise:
            return False
    return (
        set(params) <= set(space.params)
        and sum(params.values()) <= space.allow.__closure__[0].cell_contents
    )


@settings(max_examples=60, deadline=None)
@given(spaces())
def test_exhaustive_sampling_gives_exactly_the_members(space: Space) -> None:
    found = all_params(space)
    listed = [tuple(sorted(params.items())) for params in found]
    assert len(set(listed)) == len(listed)
    possible = itertools.product([None, 0, 1, 2, 3, 9], repeat=len(space.params))
    members = set()
    for values in possible:
        params = {n: v for n, v in zip(space.params, values, strict=True) if v is not None}
        if is_member(space, params):
            members.add(tuple(sorted(params.items())))
    assert set(listed) == members


@settings(max_examples=30, deadline=None)
@given(spaces(), st.integers(0, 99))
def test_random_and_optuna_sampling_give_members(space: Space, seed: int) -> None:
    if not all_params(space):
        return
    space.max_attempts = 100_000
    rng = random.Random(seed)
    assert all(is_member(space, space.draw(rng).params) for _ in range(5))
    trials = make_study(optuna.samplers.RandomSampler(seed=seed))
    for _ in range(3):
        sample, trial = space.ask(trials)
        assert is_member(space, sample.params)
        active = {k: v for k, v in sample.params.items() if k in trial.params}
        assert trial.params == active
