"""`study.journal`: the trials of a results directory as a study of Optuna."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from zlib import crc32

import pytest

from mneme.search.params import CategoricalParam
from mneme.session.result_store import read_trials
from mneme.session.session import TuneOptions, TuningSession
from native_parts import needs_native
from tune_parts import FakeExecutor, Levels, measured, recording, study_of

__all__ = ["recording"]

pytestmark = [pytest.mark.compile, needs_native]


def test_the_journal_keeps_pipelines_that_no_draws_give(recording: Path, tmp_path: Path) -> None:
    options = TuneOptions(
        record_database=recording,
        results_dir=tmp_path,
        device="cpu",
        trials=80,
        seed=1,
        knowledge=False,
        launch_dim="none",
    )
    executor = FakeExecutor()
    executor.answer = lambda config: measured(config, [1000 + crc32(config.passes.encode())] * 5)
    tuning = TuningSession(options, make_executor=executor)
    assert tuning.run() == 0, tuning.error
    trials = read_trials(tmp_path)
    assert any("pipeline" in one.candidate.params for one in trials)
    kept = study_of(tmp_path).trials
    assert len(kept) == len(trials) == 80
    for trial, done in zip(kept, trials, strict=True):
        assert trial.user_attrs["mneme.result"]["params"] == done.candidate.params
        assert trial.value == done.metric


@pytest.mark.parametrize("sampler", ["exhaustive", "random", "tpe"])
def test_the_journal_does_not_repeat_long_pipelines_with_each_trial(
    recording: Path, tmp_path: Path, sampler: str
) -> None:
    pipelines = [",".join(["instcombine"] * (400 + number)) for number in range(16)]

    class Long(Levels):
        def dimensions(self) -> dict[str, Any]:
            return {"passes": CategoricalParam("passes", pipelines)}

    options = TuneOptions(
        record_database=recording,
        results_dir=tmp_path,
        sampler=sampler,
        seed=1,
        trials=None if sampler == "exhaustive" else 8,
    )
    tuning = TuningSession(options, space=Long(), make_executor=FakeExecutor())
    assert tuning.run() == 0, tuning.error
    kept = study_of(tmp_path).trials
    assert len(kept) == len(read_trials(tmp_path)) >= 8
    by_name = {Long().dimensions()["passes"].in_study(text): text for text in pipelines}
    for one in kept:
        passes = one.user_attrs["mneme.result"]["config"]["passes"]
        assert by_name[one.params["passes"]] == passes
    size = (tmp_path / "study.journal").stat().st_size
    assert size / len(kept) < 4 * len(pipelines[0]), "the texts of one trial, not of all choices"
