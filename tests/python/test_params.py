from __future__ import annotations

import json
import random
import warnings
from hashlib import sha256
from typing import Any

import numpy as np
import pytest

from mneme.errors import InvalidArgument
from mneme.mneme_types import dim3
from mneme.search.search_space import (
    BaseParam,
    BoolParam,
    CategoricalParam,
    FixedParam,
    IntRangeParam,
    RealRangeParam,
    sample_optuna_param,
    sample_random_param,
)
from space_samples import Space, make_study


def test_parameters_know_their_values() -> None:
    assert list(BoolParam("b").values()) == [True, False]
    assert list(IntRangeParam("i", 1, 8, 3).values()) == [1, 4, 7]
    assert list(IntRangeParam("i", 1, 7, 3).values()) == [1, 4, 7]
    assert list(FixedParam("f", "v").values()) == ["v"]
    assert list(CategoricalParam("c", ("x", "y")).values()) == ["x", "y"]
    assert CategoricalParam("c", ("x", "y")).choices == ["x", "y"]


def test_equal_choices_count_once_and_true_is_not_one() -> None:
    assert list(CategoricalParam("c", [1, True, 1.0, 1, "a", "a"]).values()) == [1, True, 1.0, "a"]
    assert CategoricalParam("c", [1, 2]).contains(True) is False


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: CategoricalParam("c", []), "'c' needs at least one choice"),
        (lambda: CategoricalParam("c", "abc"), "one text"),
        (lambda: IntRangeParam("i", 3, 2), "low <= high"),
        (lambda: IntRangeParam("i", 1, 2, 0), "step >= 1"),
        (lambda: IntRangeParam("i", 1.5, 2), "whole numbers"),
        (lambda: RealRangeParam("r", 1.0, 0.0), "low <= high"),
        (lambda: RealRangeParam("r", 0.0, float("inf")), "finite"),
        (lambda: RealRangeParam("r", "0", 1.0), "finite numbers"),
        (lambda: BoolParam(""), "name"),
        (lambda: BoolParam("b", when=3), "'when' of parameter 'b'"),
    ],
)
def test_impossible_parameters_are_refused(make: Any, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        make()


def test_numbers_of_arrays_become_plain_ones() -> None:
    choices = CategoricalParam("c", np.array([8, 16])).choices
    assert [type(value) for value in choices] == [int, int]
    assert list(CategoricalParam("c", [np.float32(0.5), np.True_]).values()) == [0.5, True]
    numbers = IntRangeParam("i", np.int64(1), np.int32(3)).values()
    assert json.dumps(list(numbers)) == "[1, 2, 3]"
    assert json.dumps(RealRangeParam("r", np.float64(0), 1).describe())
    assert json.dumps(CategoricalParam("c", np.array([8, 16])).describe())


def test_real_ranges_cannot_be_listed() -> None:
    with pytest.raises(InvalidArgument, match="'r' .* cannot be listed"):
        RealRangeParam("r", 0, 1).values()
    assert RealRangeParam("r", 0, 1).is_finite is False
    assert BoolParam("b").is_finite is True
    with pytest.raises(InvalidArgument, match="cannot be listed"):
        list(Space(RealRangeParam("r", 0, 1)).sample_exhaustive())


SAMPLED = [
    BoolParam("b"),
    CategoricalParam("c", [(1, 2), "x", None, 3.5]),
    IntRangeParam("i", -3, 11, 4),
    RealRangeParam("r", 0.25, 0.5),
    FixedParam("f", 7),
]


@pytest.mark.parametrize("param", SAMPLED, ids=lambda param: param.name)
def test_samples_are_values_of_the_parameter(param: BaseParam) -> None:
    rng = random.Random(3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        trials = make_study()
        suggested = [sample_optuna_param(trials.ask(), param) for _ in range(40)]
    drawn = [sample_random_param(param, rng) for _ in range(40)]
    assert all(param.contains(value) for value in suggested + drawn)
    if param.is_finite:
        wanted = {repr(value) for value in param.values()}
        assert {repr(value) for value in drawn} == wanted
        assert {repr(value) for value in suggested} == wanted


def test_random_sampling_leaves_the_global_generator_alone() -> None:
    random.seed(5)
    before = random.getstate()
    sample_random_param(BoolParam("b"))
    Space(IntRangeParam("i", 0, 9)).sample_random()
    assert random.getstate() == before


def test_parameters_describe_themselves() -> None:
    assert BoolParam("b").describe() == {"type": "bool"}
    assert FixedParam("f", dim3(2)).describe() == {
        "type": "fixed",
        "value": {"x": 2, "y": 1, "z": 1},
    }
    assert CategoricalParam("c", [(1, 2), "x"]).describe() == {
        "type": "categorical",
        "choices": [[1, 2], "x"],
    }
    assert IntRangeParam("i", 0, 4, 2).describe() == {
        "type": "int_range",
        "low": 0,
        "high": 4,
        "step": 2,
    }
    assert RealRangeParam("r", 0, 1).describe() == {"type": "real_range", "low": 0.0, "high": 1.0}
    assert "choices" in repr(CategoricalParam("c", [1]))


def test_long_choices_have_short_names_in_studies() -> None:
    texts = ["x" * 65, "short", "y" * 4096]
    names = [f"#{sha256(text.encode()).hexdigest()[:9]}" for text in texts]
    # What looks like the name of another one makes names longer.
    texts.append(names[0][:9])
    param = CategoricalParam("passes", texts)
    study = make_study()
    seen = set()
    for _ in range(40):
        trial = study.ask()
        value = param.sample_optuna(trial)
        assert param.in_study(value) == trial.params["passes"]
        assert param.in_study(trial.params["passes"]) == trial.params["passes"]
        seen.add((value, trial.params["passes"]))
    (long, short, longer, like_a_name) = texts
    assert seen == {
        (long, names[0]),
        (short, short),
        (longer, names[2]),
        (like_a_name, like_a_name),
    }


def test_other_long_choices_have_other_names_wherever_they_stand() -> None:
    first, second, third = ("x" * 65, "y" * 65, "z" * 65)
    here, there = CategoricalParam("p", [first, second]), CategoricalParam("p", [second, third])
    assert here.in_study(second) == there.in_study(second)
    assert len({here.in_study(first), here.in_study(second), there.in_study(third)}) == 3
