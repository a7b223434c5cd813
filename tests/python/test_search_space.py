from __future__ import annotations

from typing import Any

import optuna
import pytest
from optuna.trial import TrialState

from mneme.errors import InvalidArgument
from mneme.mneme_types import ExperimentConfiguration, dim3
from mneme.search.search_space import (
    CONSTRAINTS_ATTRIBUTE,
    PARAMS_ATTRIBUTE,
    BaseParam,
    BoolParam,
    CategoricalParam,
    FixedParam,
    IntRangeParam,
    SearchSpace,
    constraint_values,
)
from space_samples import Space, all_params, make_study


def test_exhaustive_sampling_is_the_product_in_order() -> None:
    space = Space(CategoricalParam("c", ["x", "y"]), IntRangeParam("i", 0, 2))
    assert [tuple(params.values()) for params in all_params(space)] == [
        ("x", 0),
        ("x", 1),
        ("x", 2),
        ("y", 0),
        ("y", 1),
        ("y", 2),
    ]


def test_parameters_may_be_the_fields_of_the_configuration() -> None:
    class Plain(SearchSpace):
        def dimensions(self) -> dict[str, BaseParam]:
            return {
                "block": CategoricalParam("block", ["32x8", (64, 2, 1), {"x": 16}, 128]),
                "specialize": BoolParam("specialize"),
            }

        def baseline(self) -> ExperimentConfiguration:
            return ExperimentConfiguration(grid=dim3(7), shared_mem=12)

    found = list(Plain().sample_exhaustive())
    assert [config.block for config in found[::2]] == [
        dim3(32, 8),
        dim3(64, 2),
        dim3(16),
        dim3(128),
    ]
    assert [config.specialize for config in found[:2]] == [True, False]
    assert {config.grid.x for config in found} == {7}
    assert {config.shared_mem for config in found} == {12}


def test_derived_may_return_fields() -> None:
    space = Space(IntRangeParam("n", 1, 2), derive=lambda p: {"codegen_opt": p["n"]})
    assert [config.codegen_opt for config in space.sample_exhaustive()] == [1, 2]


@pytest.mark.parametrize(
    ("derive", "sentence"),
    [
        (lambda _: 3, "search space Space returned 3"),
        (lambda _: {"bock": 1}, "'bock', which is not a field"),
        (lambda _: {"block": "axb"}, "dimension x"),
        (lambda _: {"block": ()}, "not an extent"),
        (lambda params: params["missing"], r"derived\(\) of the search space Space .*missing"),
    ],
)
def test_useless_derived_configurations_are_refused(derive: Any, sentence: str) -> None:
    with pytest.raises(InvalidArgument, match=sentence):
        Space(BoolParam("b"), derive=derive).sample_random()


def test_derived_cannot_change_the_parameters() -> None:
    def derive(params: dict[str, Any]) -> ExperimentConfiguration:
        params.clear()
        return ExperimentConfiguration()

    assert Space(BoolParam("b"), derive=derive).draw().params.keys() == {"b"}


def test_dimensions_have_to_be_parameters_with_names_of_their_own() -> None:
    space = Space()
    space.params = {"b": BoolParam("same"), "c": BoolParam("same")}
    with pytest.raises(InvalidArgument, match="'b' and 'c' .* same name 'same'"):
        space.sample_random()
    space.params = {"b": [1, 2]}  # type: ignore[dict-item]
    with pytest.raises(InvalidArgument, match="'b' of the search space Space"):
        space.sample_random()
    space.params = [BoolParam("b")]  # type: ignore[assignment]
    with pytest.raises(InvalidArgument, match="dictionary"):
        space.sample_random()


def test_a_space_without_dimensions_cannot_be_made() -> None:
    class Nothing(SearchSpace):
        pass

    with pytest.raises(TypeError, match="dimensions"):
        Nothing()  # type: ignore[abstract]


# Constraints.


def takes_config(x: Any) -> bool:
    return x.codegen_opt != 2


def takes_params(x: Any) -> bool:
    return x["codegen_opt"] != 2


@pytest.mark.parametrize("allow", [takes_config, takes_params])
def test_constraints_get_what_they_expect(allow: Any) -> None:
    space = Space(IntRangeParam("codegen_opt", 0, 3), allow=allow, derive=dict)
    assert [c.codegen_opt for c in space.sample_exhaustive()] == [0, 1, 3]
    assert {space.sample_random().codegen_opt for _ in range(40)} == {0, 1, 3}
    trials = make_study()
    assert {space.sample_optuna(trials)[0].codegen_opt for _ in range(40)} == {0, 1, 3}


def test_documented_first_arguments_of_constraints() -> None:
    def arguments(sample: Any) -> list[type]:
        seen: list[type] = []
        space = Space(BoolParam("b"), allow=lambda x: seen.append(type(x)) or True)
        sample(space)
        return seen

    assert arguments(lambda space: space.sample_random()) == [dict]
    assert arguments(lambda space: space.sample_optuna(make_study())) == [ExperimentConfiguration]
    assert set(arguments(lambda space: list(space.sample_exhaustive()))) == {
        ExperimentConfiguration
    }


def test_what_constraints_take_is_remembered() -> None:
    seen: list[type] = []

    def allow(x: Any) -> bool:
        seen.append(type(x))
        return bool(x["b"] in (True, False))

    space = Space(BoolParam("b"), allow=allow)
    list(space.sample_exhaustive())
    assert seen == [ExperimentConfiguration, dict, dict]


def test_a_mistake_in_constraints_is_told_with_the_space() -> None:
    def allow(x: Any) -> bool:
        return bool(1 / 0)

    trials = make_study()
    space = Space(BoolParam("b"), allow=allow)
    with pytest.raises(InvalidArgument, match="search space Space failed .*ZeroDivisionError") as e:
        space.sample_optuna(trials)
    assert isinstance(e.value.__cause__, ZeroDivisionError)
    assert [trial.state for trial in trials.trials] == [TrialState.FAIL]


def test_impossible_constraints_end_sampling() -> None:
    space = Space(BoolParam("b"), allow=lambda _: False)
    space.max_attempts = 5
    with pytest.raises(InvalidArgument, match="in 5 attempts"):
        space.sample_random()
    trials = make_study()
    with pytest.raises(InvalidArgument, match="in 5 attempts"):
        space.sample_optuna(trials)
    assert [trial.state for trial in trials.trials] == [TrialState.PRUNED] * 5
    assert list(space.sample_exhaustive()) == []


SAMPLERS = {
    "tpe": lambda: optuna.samplers.TPESampler(seed=2),
    "nsga2": lambda: optuna.samplers.NSGAIISampler(seed=2, population_size=8),
    "random": lambda: optuna.samplers.RandomSampler(seed=2),
}


@pytest.mark.parametrize("directions", [["minimize"], ["minimize", "maximize"]], ids=len)
@pytest.mark.parametrize("name", SAMPLERS)
def test_violations_are_told_as_pruned_and_never_as_a_number(
    name: str, directions: list[str]
) -> None:
    trials = make_study(SAMPLERS[name](), directions=directions)
    space = Space(IntRangeParam("codegen_opt", 0, 9), allow=takes_even, derive=dict)
    for _ in range(25):
        config, trial = space.sample_optuna(trials)
        assert config.codegen_opt % 2 == 0
        trials.tell(trial, [float(config.codegen_opt)] * len(directions))
    complete = [trial for trial in trials.trials if trial.state is TrialState.COMPLETE]
    pruned = [trial for trial in trials.trials if trial.state is TrialState.PRUNED]
    assert len(complete) == 25
    assert pruned
    assert len(pruned) + len(complete) == len(trials.trials)
    assert all(trial.values is None for trial in pruned)
    assert all(constraint_values(trial) == (1.0,) for trial in pruned)
    assert all(constraint_values(trial) == (0.0,) for trial in complete)
    assert all(trial.user_attrs[CONSTRAINTS_ATTRIBUTE] == [1.0] for trial in pruned)
    if hasattr(optuna.trial.Trial, "set_constraint"):
        told = [any("constraint" in key for key in trial.system_attrs) for trial in pruned]
        assert set(told) == {name != "random"}


def takes_even(x: Any) -> bool:
    return x["codegen_opt"] % 2 == 0


def test_trials_keep_parameters_that_optuna_cannot() -> None:
    trials = make_study()
    space = Space(CategoricalParam("c", [(1, 2)]), FixedParam("f", dim3(4)))
    sample, _ = space.ask(trials)
    assert sample.params == {"c": (1, 2), "f": dim3(4)}
    kept = trials.trials[0].user_attrs[PARAMS_ATTRIBUTE]
    assert kept == {"c": [1, 2], "f": {"x": 4, "y": 1, "z": 1}}
    plain = Space(BoolParam("b")).ask(make_study())[1]
    assert PARAMS_ATTRIBUTE not in plain.user_attrs


def test_enqueued_trials_come_first() -> None:
    trials = make_study()
    trials.enqueue_trial({"codegen_opt": 3})
    space = Space(IntRangeParam("codegen_opt", 0, 9), derive=dict)
    assert space.sample_optuna(trials)[0].codegen_opt == 3


def test_the_same_seed_gives_the_same_samples() -> None:
    def some(seed: int) -> list[int]:
        space = Space(IntRangeParam("codegen_opt", 0, 999), derive=dict)
        space.seed(seed)
        return [space.sample_random().codegen_opt for _ in range(8)]

    assert some(1) == some(1)
    assert some(1) != some(2)
