from __future__ import annotations

import random
from typing import Any

import optuna
import pytest

from mneme.errors import InvalidArgument
from mneme.mneme_types import ExperimentConfiguration
from mneme.search.sample_strategy import (
    ExhaustiveSamplingStrategy,
    OptunaSamplingStrategy,
    RandomSamplingStrategy,
    SamplingStrategy,
)
from mneme.search.search_space import BaseParam, IntRangeParam, SearchSpace

optuna.logging.set_verbosity(optuna.logging.ERROR)


class Levels(SearchSpace):
    def dimensions(self) -> dict[str, BaseParam]:
        return {"codegen_opt": IntRangeParam("codegen_opt", 0, 5)}

    def constraints(self, x: Any) -> bool:
        return x.codegen_opt != 4


def test_exhaustive_strategy_yields_every_configuration() -> None:
    strategy = ExhaustiveSamplingStrategy(Levels())
    assert [config.codegen_opt for config in strategy] == [0, 1, 2, 3, 5]
    assert [config.codegen_opt for config in strategy] == [0, 1, 2, 3, 5]


def test_random_strategy_yields_as_many_configurations_as_asked_for() -> None:
    found = list(RandomSamplingStrategy(Levels(), 40))
    assert len(found) == 40
    assert all(isinstance(config, ExperimentConfiguration) for config in found)
    assert {config.codegen_opt for config in found} == {0, 1, 2, 3, 5}


def test_random_strategy_repeats_itself_with_a_generator() -> None:
    runs = [RandomSamplingStrategy(Levels(), 9, rng=random.Random(4)) for _ in range(2)]
    first, second = ([config.codegen_opt for config in run] for run in runs)
    assert first == second


def test_next_works_on_a_strategy() -> None:
    strategy = ExhaustiveSamplingStrategy(Levels())
    assert [next(strategy).codegen_opt for _ in range(5)] == [0, 1, 2, 3, 5]
    with pytest.raises(StopIteration):
        next(strategy)


def test_optuna_strategy_goes_on_where_the_study_ended(tmp_path: Any) -> None:
    storage = f"sqlite:///{tmp_path}/study.db"

    def run(n_trials: int) -> tuple[int, optuna.Study]:
        study = optuna.create_study(study_name="s", storage=storage, load_if_exists=True)
        count = 0
        for config, trial in OptunaSamplingStrategy(Levels(), study, n_trials):
            study.tell(trial, config.codegen_opt)
            count += 1
        return count, study

    assert run(6)[0] == 6
    count, study = run(10)
    assert count == 4
    values = [trial.value for trial in study.trials if trial.value is not None]
    assert len(values) == 10
    assert 4 not in values


def test_trials_that_violate_constraints_do_not_count() -> None:
    study = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=0))
    told = 0
    for _, trial in OptunaSamplingStrategy(Levels(), study, 50):
        study.tell(trial, 0)
        told += 1
    assert told == 50
    assert len(study.trials) > 50


def test_a_failed_trial_counts() -> None:
    study = optuna.create_study()
    for _, trial in OptunaSamplingStrategy(Levels(), study, 3):
        study.tell(trial, state=optuna.trial.TrialState.FAIL)
    assert sum(t.state is optuna.trial.TrialState.FAIL for t in study.trials) == 3


def test_negative_numbers_are_refused() -> None:
    with pytest.raises(InvalidArgument, match="num_samples"):
        RandomSamplingStrategy(Levels(), -1)
    with pytest.raises(InvalidArgument, match="n_trials"):
        OptunaSamplingStrategy(Levels(), optuna.create_study(), -1)


def test_strategies_can_be_derived_from() -> None:
    class Twice(SamplingStrategy):
        def __iter__(self) -> Any:
            for config in self.space.sample_exhaustive():
                yield from (config, config)

    assert len(list(Twice(Levels()))) == 10
