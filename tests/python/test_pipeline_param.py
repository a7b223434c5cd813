from __future__ import annotations

import random

import optuna
import pytest
from optuna.trial import TrialState

from mneme.errors import InvalidArgument
from mneme.pipelines.pipeline import PipelineManager, flatten_passes
from mneme.search.search_space import PipelineParam, sample_optuna_param, sample_random_param
from native_parts import needs_native

optuna.logging.set_verbosity(optuna.logging.ERROR)

pytestmark = needs_native


@pytest.fixture(scope="module")
def param() -> PipelineParam:
    return PipelineParam("passes", 6)


def check(text: str) -> None:
    from mneme import _native  # noqa: PLC0415 - tests may run without it

    _native.check_passes(text)


def test_the_documented_attributes_are_there(param: PipelineParam) -> None:
    assert isinstance(param.pass_manager, PipelineManager)
    assert param.available_passes == sorted(set(param.available_passes))
    assert len(param.available_passes) > 150
    assert param.num_draws == 6


def test_random_pipelines_parse_and_vary_in_length(param: PipelineParam) -> None:
    rng = random.Random(0)
    found = [sample_random_param(param, rng) for _ in range(100)]
    for text in found:
        check(text)
        assert param.contains(text)
        assert set(flatten_passes(text)) <= set(param.available_passes)
    assert {len(flatten_passes(text)) for text in found} == {1, 2, 3, 4, 5, 6}


@pytest.mark.parametrize("sampler", [optuna.samplers.RandomSampler, optuna.samplers.TPESampler])
def test_suggested_pipelines_parse(
    param: PipelineParam, sampler: type[optuna.samplers.BaseSampler]
) -> None:
    study = optuna.create_study(sampler=sampler(seed=3))  # type: ignore[call-arg]
    for _ in range(25):
        trial = study.ask()
        text = sample_optuna_param(trial, param)
        check(text)
        assert param.contains(text)
        # The same variables every time, whatever is drawn.
        assert list(trial.params) == [f"passes_{i}" for i in range(6)]
        study.tell(trial, len(text))
    assert all(trial.state is TrialState.COMPLETE for trial in study.trials)


def test_no_draw_gives_the_base_alone() -> None:
    param = PipelineParam("passes", 2, base="default<O2>")
    study = optuna.create_study()
    study.enqueue_trial({"passes_0": "none", "passes_1": "none"})
    study.enqueue_trial({"passes_0": "none", "passes_1": "licm"})
    assert sample_optuna_param(study.ask(), param) == "default<O2>"
    text = sample_optuna_param(study.ask(), param)
    assert text == "default<O2>,function<eager-inv>(loop-mssa(licm))"
    assert param.contains(text)
    assert param.contains("default<O2>")
    assert not param.contains("default<O3>")
    assert not param.contains("default<O2>,verify")
    assert not param.contains("default<O2>,nonsense")
    assert not param.contains(text + ",globaldce,globalopt")
    assert not param.contains(3)


def test_passes_of_a_pipeline_cannot_be_listed(param: PipelineParam) -> None:
    assert not param.is_finite
    with pytest.raises(InvalidArgument, match="'passes' .PipelineParam. cannot be listed"):
        param.values()


@pytest.mark.parametrize("draws", [0, -1, 1.5, True])
def test_the_number_of_draws_is_checked(draws: int) -> None:
    with pytest.raises(InvalidArgument, match="num_draws >= 1"):
        PipelineParam("passes", draws)


def test_a_pipeline_describes_itself(param: PipelineParam) -> None:
    found = param.describe()
    assert (found["type"], found["num_draws"], found["base"]) == ("pipeline", 6, "")
    assert found["passes"] == param.available_passes
