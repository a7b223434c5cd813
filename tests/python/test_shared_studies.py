"""Processes that share a study: one that was taken for dead, and one on another kind of device."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import optuna
import pytest

from mneme.errors import InvalidArgument
from mneme.measure.eval_future import EvalFuture
from mneme.mneme_types import ExperimentConfiguration
from mneme.search.params import CategoricalParam, IntRangeParam
from mneme.search.search_space import SearchSpace
from mneme.session import owners, storages
from mneme.session.result_store import read_trials
from mneme.session.session import TuneOptions, TuningSession
from mneme.session.shared_study import SharedStudy
from mneme.session.studies import OptunaSearch, make_search
from native_parts import needs_native
from tune_parts import FakeExecutor, Levels, recorded_launch, recording

__all__ = ["recording"]

pytestmark = [pytest.mark.compile, needs_native]


class Blocks(SearchSpace):
    """What depends on a device that has this many multiprocessors."""

    def __init__(self, multiprocessors: int) -> None:
        self._counts = [0, *(multiprocessors * each for each in (1, 2, 4))]

    def dimensions(self) -> dict[str, Any]:
        return {
            "blocks": CategoricalParam("blocks", self._counts),
            "codegen_opt": IntRangeParam("codegen_opt", 0, 3),
        }

    def derived(self, params: dict[str, Any]) -> ExperimentConfiguration:
        return ExperimentConfiguration(**recorded_launch(), codegen_opt=params["codegen_opt"])


class Elsewhere(FakeExecutor):
    """Evaluates while a process on another node fails what this one has under way."""

    study: Any = None

    def __init__(self) -> None:
        super().__init__()
        self.failed: list[int] = []

    def submit(self, config: ExperimentConfiguration, **wishes: Any) -> EvalFuture:
        if self.study is not None and len(self.submitted) == 2:
            running = (optuna.trial.TrialState.RUNNING,)
            for trial in self.study.get_trials(states=running):
                self.study.tell(trial.number, state=optuna.trial.TrialState.FAIL)
                self.failed.append(trial.number)
        return super().submit(config, **wishes)


def options(storage: Path, **more: Any) -> TuneOptions:
    values = {"record_database": "x", "sampler": "random", "trials": 4, **more}
    return TuneOptions(**values, optuna_storage=str(storage))


def load(storage: Path) -> optuna.Study:
    backend = optuna.storages.journal.JournalFileBackend(str(storage))
    return optuna.load_study(study_name="mneme", storage=optuna.storages.JournalStorage(backend))


@pytest.mark.parametrize("kind", ["journal", "sqlite"])
def test_who_was_taken_for_dead_goes_on(recording: Path, tmp_path: Path, kind: str) -> None:
    place = f"sqlite:///{tmp_path}/study.db" if kind == "sqlite" else str(tmp_path / "study.jnl")
    executor = Elsewhere()
    executor.study = optuna.create_study(storage=storages.open_storage(place), study_name="mneme")
    tuning = TuningSession(
        TuneOptions(
            record_database=recording,
            results_dir=tmp_path / "results",
            sampler="random",
            trials=4,
            seed=1,
            optuna_storage=place,
            no_proteus_output=True,
        ),
        space=Levels(),
        make_executor=executor,
    )
    assert tuning.run() == 0, tuning.error
    # The result that came too late is no longer a trial of the study, and is kept all the same.
    trials = read_trials(tmp_path / "results")
    assert [one.status for one in trials] == ["verified"] * 4
    assert (tmp_path / "results" / "best.json").is_file()
    assert executor.failed
    lost = [executor.study.trials[number] for number in executor.failed]
    assert {(one.state.name, "mneme.result" in one.user_attrs) for one in lost} == {("FAIL", False)}


def test_a_process_shows_that_it_lives_while_it_waits(
    recording: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    waiting: list[EvalFuture] = []
    beats: list[int] = []

    class Slow(FakeExecutor):
        def submit(self, config: ExperimentConfiguration, **wishes: Any) -> EvalFuture:
            done = super().submit(config, **wishes)
            if len(self.submitted) != 3:  # the first trial
                return done
            future = EvalFuture(3, config)
            waiting.append(future)
            # Without a beat the search would wait for ever.
            rescue = threading.Timer(5, finish)
            rescue.daemon = True
            rescue.start()
            return future

    def finish() -> None:
        while waiting:
            future = waiting.pop()
            future.set_result(executor.answer(future.config))

    def beat(shared: SharedStudy) -> None:
        original(shared)
        beats.append(len(waiting))
        if sum(beats) > 1:
            finish()

    original = SharedStudy.beat
    monkeypatch.setattr(SharedStudy, "beat", beat)
    executor = Slow()
    place = {"record_database": recording, "results_dir": tmp_path / "results", "trials": 1}
    tuning = TuningSession(
        options(tmp_path / "study.journal", **place), space=Levels(), make_executor=executor
    )
    assert tuning.run() == 0, tuning.error
    assert sum(beats) == 2


def test_a_beat_reaches_the_study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    search = make_search(options(tmp_path / "study.journal"), Levels(), record="r", capacity=2)
    assert isinstance(search, OptunaSearch)
    assert search.shared.owner is not None
    name = f"mneme.alive:{search.shared.owner.name}"
    first = load(tmp_path / "study.journal").user_attrs[name]
    search.beat()
    assert load(tmp_path / "study.journal").user_attrs[name] == first
    monkeypatch.setattr(owners, "BEAT_SECONDS", 0.0)
    search.beat()
    assert load(tmp_path / "study.journal").user_attrs[name] > first


def test_what_differs_on_another_kind_of_device_is_named(tmp_path: Path) -> None:
    storage = tmp_path / "study.journal"
    for multiprocessors in (132, 132):
        space = Blocks(multiprocessors)
        assert make_search(options(storage), space, record="r", capacity=2).ask() is not None
    other = make_search(options(storage), Blocks(108), record="r", capacity=2)
    with pytest.raises(InvalidArgument) as caught:
        other.ask()
    sentence = str(caught.value)
    assert sentence.startswith(
        "study 'mneme' was made for another search space ('blocks' is one of 0, 132, 264, 528 "
        "there, of 0, 108, 216, 432 here): with other options, or on another kind of device"
    )
    assert "multiprocessors" in sentence
    assert "codegen_opt" not in sentence
    assert sentence.endswith("choose another --study-name, one for each kind of device")


def test_a_trial_nobody_signed_is_given_up_after_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    study = optuna.create_study()
    study.ask()
    owner = owners.owner_of(study)
    assert [trial.state for trial in study.trials] == [optuna.trial.TrialState.RUNNING]
    monkeypatch.setattr(owners, "_UNSIGNED_SECONDS", 0.0)
    owner.fail_orphans()
    assert [trial.state for trial in study.trials] == [optuna.trial.TrialState.FAIL]
