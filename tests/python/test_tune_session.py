"""Sessions on an executor that answers at once: files, resuming, failures, samplers, interrupts."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, cast

import optuna
import pytest

from mneme.errors import InvalidArgument, MnemeError
from mneme.mneme_types import ExperimentConfiguration, ExperimentResult
from mneme.search.samplers import make_sampler
from mneme.session import loop, session_run
from mneme.session.events import Progress, TuneListener
from mneme.session.option_files import combine_options
from mneme.session.result_store import read_trials
from mneme.session.session import TuneOptions, TuningSession
from mneme.session.storages import bounded_memory
from mneme.session.studies import AutoSearch, make_search
from mneme.session.trials import CompletedCandidate
from native_parts import needs_native
from tune_parts import FakeExecutor, Levels, measured, recorded_launch, recording, steady, study_of

__all__ = ["recording"]

pytestmark = [pytest.mark.compile, needs_native]


class Heard(TuneListener):
    def __init__(self) -> None:
        self.sentences: list[str] = []
        self.counts: list[int] = []

    def failed(self, sentence: str, error: MnemeError | None = None) -> None:  # noqa: ARG002
        self.sentences.append(sentence)

    def warn(self, sentence: str) -> None:
        self.sentences.append(sentence)

    def progress(self, progress: Progress) -> None:
        self.counts.append(progress.done)


def session(
    recording: Path, results: Path, executor: FakeExecutor | None = None, **options: Any
) -> TuningSession:
    values = {"sampler": "exhaustive", "no_proteus_output": False, **options}
    return TuningSession(
        TuneOptions(record_database=recording, results_dir=results, **values),
        Heard(),
        space=Levels(),
        make_executor=executor or FakeExecutor(),
    )


def read(path: Path) -> Any:
    return json.loads(path.read_text())


def test_a_session_writes_every_file(recording: Path, tmp_path: Path) -> None:
    assert session(recording, tmp_path).run() == 0
    assert {one.name for one in tmp_path.iterdir()} >= {
        *("config.json", "search_space.json", "baseline.json", "trials.jsonl", "best.json"),
        *("summary.json", "proteus_tuned_kernels.json", "proteus_usage.txt", "study.journal"),
        *("logs", "artifacts"),
    }
    assert {one.name for one in (tmp_path / "artifacts").iterdir()} == {
        *("baseline.ll", "baseline.s", "best.ll", "best.s"),
    }
    best = read(tmp_path / "best.json")
    assert best["config"]["codegen_opt"] == 3
    assert best["config"]["specialize"] is True
    assert best["speedup"] == pytest.approx(100 / 39)
    assert best["best_metric"] == pytest.approx(39_000)
    assert best["gain"]["significant"] is True
    assert best["gain"]["rounds"] == 12
    # Level 3 is the program's own, the baseline has level 0: nobody gains what that makes of it.
    assert best["as_built_metric"] == 40_000
    assert best["gain"]["ratio"] == pytest.approx(40 / 39)
    assert best["same_launch"]["trial"] == best["trial"]
    assert best["launch_rule"] == "exact"
    assert best["weight"] == 1.0
    assert best["facts"]["kernel_name"] == best["record"]["kernel_name"]
    (record,) = recording.glob("[0-9]*.json")
    assert Path(best["record"]["record_database"]) == record.resolve()
    summary = read(tmp_path / "summary.json")
    assert (summary["status"], summary["best_trial"]) == ("completed", best["trial"])
    assert (summary["num_trials_completed"], summary["num_verified"]) == (16, 16)
    tuned = read(tmp_path / "proteus_tuned_kernels.json")
    assert tuned[best["record"]["kernel_name"]]["CodeGenOptLevel"] == 3
    assert "PROTEUS_TUNED_KERNELS=" in (tmp_path / "proteus_usage.txt").read_text()


def test_every_configuration_is_tried_once_and_told_apart(recording: Path, tmp_path: Path) -> None:
    executor = FakeExecutor()
    session(recording, tmp_path, executor).run()
    trials = read_trials(tmp_path)
    assert len({one.candidate.config_hash for one in trials}) == len(trials) == 16
    assert sorted(one.candidate.trial for one in trials) == list(range(16))
    study = study_of(tmp_path)
    assert len(study.trials) == 16
    assert study.best_trial.params["codegen_opt"] == 3
    assert study.best_value == 39_000


@pytest.mark.parametrize("is_shared", [False, True])
def test_what_proposed_a_configuration_hears_of_its_result(tmp_path: Path, is_shared: bool) -> None:
    storage = f"sqlite:///{tmp_path / 'study.db'}" if is_shared else None
    options = TuneOptions(record_database=tmp_path, sampler="auto", seed=1, optuna_storage=storage)
    search = make_search(options, Levels(), record="a launch", capacity=1)
    assert isinstance(search, AutoSearch)
    for _ in range(16):
        candidate = search.ask()
        assert candidate is not None
        done = CompletedCandidate(
            candidate=candidate, status="verified", result=steady(candidate.config), metric=1.0
        )
        search.tell(done)
    assert 4 <= sum(search.portfolio.uses.values()) <= 16


def test_no_significant_gain_leaves_an_empty_tuned_file(recording: Path, tmp_path: Path) -> None:
    def answer(config: ExperimentConfiguration) -> ExperimentResult:
        return measured(config, [100_000] * 5)

    assert session(recording, tmp_path, FakeExecutor(answer)).run() == 0
    best = read(tmp_path / "best.json")
    assert (best["trial"], best["speedup"]) == (-1, 1.0)
    assert best["gain"]["significant"] is False
    assert best["same_launch"]["trial"] == -1
    assert read(tmp_path / "proteus_tuned_kernels.json") == {}


def test_what_was_tried_is_not_tried_again(recording: Path, tmp_path: Path) -> None:
    first = FakeExecutor()
    session(recording, tmp_path, first, sampler="random", trials=5, seed=1).run()
    second = FakeExecutor()
    again = session(recording, tmp_path, second, sampler="random", trials=9, seed=1, resume=True)
    assert again.run() == 0
    old = {one.hash() for one in first.searched}
    new = {one.hash() for one in second.searched}
    assert len(new) == 4
    assert not old & new
    assert [one.candidate.trial for one in read_trials(tmp_path)] == list(range(9))
    # The baseline was not measured again either.
    assert read(tmp_path / "baseline.json")["metric"] == 100_000


def test_a_resumed_sampler_learns_from_the_history(recording: Path, tmp_path: Path) -> None:
    session(recording, tmp_path, sampler="tpe", trials=6, seed=1).run()
    (tmp_path / "study.journal").unlink()
    session(recording, tmp_path, sampler="tpe", trials=8, seed=1, resume=True).run()
    backend = optuna.storages.journal.JournalFileBackend(str(tmp_path / "study.journal"))
    study = optuna.load_study(study_name="mneme", storage=optuna.storages.JournalStorage(backend))
    numbers = [one.user_attrs["mneme.result"]["trial"] for one in study.trials]
    assert numbers == list(range(8))


def test_another_launch_does_not_go_into_the_directory(recording: Path, tmp_path: Path) -> None:
    session(recording, tmp_path).run()
    summary = read(tmp_path / "summary.json")
    summary["record"]["record_id"] = "17"
    (tmp_path / "summary.json").write_text(json.dumps(summary))
    again = session(recording, tmp_path, resume=True)
    assert again.run() == 3
    assert "tuned instance 17, not" in again.error


def broken(config: ExperimentConfiguration) -> ExperimentResult:
    """Level 1 fails to compile, level 2 is wrong, level 3 is refused; level 0 works."""
    result = steady(config)
    if config.codegen_opt == 2:
        result.verified = False
    if config.codegen_opt in (1, 3):
        result.verified, result.executed, result.failed = False, False, True
        result.obj_size, result.image_hash = 0, ""
        result.error = "code generation failed: no"
    if config.codegen_opt == 3:
        result.error = "block (256, 1, 1) is impossible: every dimension must be from 1 to 64"
    return result


def test_failures_are_counted_and_told_to_the_study_as_such(
    recording: Path, tmp_path: Path
) -> None:
    assert session(recording, tmp_path, FakeExecutor(broken)).run() == 0
    summary = read(tmp_path / "summary.json")
    counts = {name: summary[f"num_{name}"] for name in ("verified", "compile_error")}
    assert counts == {"verified": 4, "compile_error": 4}
    assert (summary["num_failed_verification"], summary["num_invalid_launch"]) == (4, 4)
    backend = optuna.storages.journal.JournalFileBackend(str(tmp_path / "study.journal"))
    study = optuna.load_study(study_name="mneme", storage=optuna.storages.JournalStorage(backend))
    assert all(one.values is None for one in study.trials if one.state.name == "PRUNED")
    states = [one.state.name for one in study.trials]
    assert (states.count("COMPLETE"), states.count("PRUNED")) == (4, 12)
    violated = [one for one in study.trials if "mneme.constraints" in one.user_attrs]
    assert {one.state.name for one in violated} == {"PRUNED"}
    assert len(violated) == 12


def test_an_enumeration_goes_on_behind_all_that_is_known(
    recording: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loop, "_KNOWN_IN_A_ROW", 3)

    def answer(config: ExperimentConfiguration) -> ExperimentResult:
        if len(executor.submitted) == 10:
            raise KeyboardInterrupt
        return steady(config)

    executor = FakeExecutor(answer)
    assert session(recording, tmp_path, executor).run() == 130
    assert session(recording, tmp_path, resume=True).run() == 0
    assert len(read_trials(tmp_path)) == 16


def test_a_sampler_that_names_only_what_is_known_ends_the_search(
    recording: Path, tmp_path: Path
) -> None:
    assert session(recording, tmp_path, sampler="random", trials=100).run() == 0
    assert len(read_trials(tmp_path)) == 16


def test_what_to_resume_is_found_from_any_directory(
    recording: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(recording.parent)
    session(Path(recording.name), tmp_path, sampler="random", trials=2).run()
    monkeypatch.chdir(tmp_path)
    options = combine_options({"resume": True, "results_dir": tmp_path, "trials": 3})
    again = TuningSession(options, space=Levels(), make_executor=FakeExecutor())
    assert again.run() == 0, again.error
    assert len(read_trials(tmp_path)) == 3


def test_fail_fast_ends_at_the_first_failure(recording: Path, tmp_path: Path) -> None:
    executor = FakeExecutor(broken)
    failing = session(recording, tmp_path, executor, fail_fast=True)
    assert failing.run() == 7
    assert "ended at the first configuration that failed: code generation failed" in failing.error
    assert read(tmp_path / "summary.json")["status"] == "failed_fast"
    assert len(executor.searched) < 16
    assert not (tmp_path / "best.json").exists()


def test_a_block_shape_that_is_wrong_is_left_out(recording: Path, tmp_path: Path) -> None:
    class Shapes(Levels):
        def derived(self, params: dict[str, Any]) -> ExperimentConfiguration:
            launch = recorded_launch()
            launch["block"]["x"] = 128 if params["specialize"] else 256
            return ExperimentConfiguration(**{**launch, **params})

    def answer(config: ExperimentConfiguration) -> ExperimentResult:
        result = steady(config)
        result.verified = config.block.x == 256
        return result

    for wanted, expected in ((True, 8 + 2), (False, 16)):
        executor = FakeExecutor(answer)
        tuning = session(recording, tmp_path / str(wanted), executor, adaptive_invalid_ban=wanted)
        tuning._space = Shapes()
        assert tuning.run() == 0
        assert len(read_trials(tmp_path / str(wanted))) <= expected


def test_a_baseline_that_is_wrong_ends_the_session(recording: Path, tmp_path: Path) -> None:
    def answer(config: ExperimentConfiguration) -> ExperimentResult:
        result = steady(config)
        result.verified, result.suggestion = False, "rel:1e-6"
        return result

    failing = session(recording, tmp_path, FakeExecutor(answer))
    assert failing.run() == 1
    assert "cannot be used (failed_verification)" in failing.error
    assert "try --tolerance rel:1e-6" in failing.error
    assert read(tmp_path / "summary.json")["status"] == "baseline_failed"


def test_a_resumed_session_measures_a_baseline_that_was_wrong_again(
    recording: Path, tmp_path: Path
) -> None:
    is_right = False

    def answer(config: ExperimentConfiguration) -> ExperimentResult:
        result = steady(config)
        result.verified = is_right
        return result

    assert session(recording, tmp_path, FakeExecutor(answer)).run() == 1
    again = session(recording, tmp_path, FakeExecutor(answer), resume=True)
    assert again.run() == 1
    assert "cannot be used (failed_verification)" in again.error
    is_right = True
    assert session(recording, tmp_path, FakeExecutor(answer), resume=True).run() == 0
    assert read(tmp_path / "baseline.json")["result"]["verified"]


def test_a_baseline_that_differs_every_time_is_said_to(recording: Path, tmp_path: Path) -> None:
    def answer(config: ExperimentConfiguration) -> ExperimentResult:
        result = steady(config)
        result.verified, result.result_class = False, "nondeterministic"
        return result

    failing = session(recording, tmp_path, FakeExecutor(answer))
    assert failing.run() == 1
    assert "it depends on the order of its threads" in failing.error


def test_time_that_the_last_rounds_do_not_need_is_the_search_s(
    recording: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[float] = []
    spare = iter([3.0, 2.0, 0.0])

    def run(_self: loop.SearchLoop, *, trials: int | None, timeout: float) -> str:
        asked.append(timeout)
        return "timeout"

    monkeypatch.setattr(session_run.SearchLoop, "run", run)
    monkeypatch.setattr(session_run, "seconds_to_spare", lambda *_, **__: next(spare))
    options: dict[str, Any] = {"timeout": 60.0, "sampler": "random"}
    assert session(recording, tmp_path / "a", **options, times_everything=True).run() == 0
    assert asked[1:] == [3.0, 2.0]
    # A timeout that is for the search alone is kept as it is.
    asked.clear()
    assert session(recording, tmp_path / "b", **options).run() == 0
    assert asked == [60.0]


def test_a_timeout_ends_the_search_with_a_winner(recording: Path, tmp_path: Path) -> None:
    executor = FakeExecutor()
    # Too short for a second configuration.
    tuning = session(recording, tmp_path, executor, timeout=1e-9, sampler="random", trials=16)
    assert tuning.run() == 0
    assert read(tmp_path / "summary.json")["status"] == "timeout"
    assert read(tmp_path / "summary.json")["num_trials_completed"] == 0


def test_an_interrupt_keeps_what_finished(recording: Path, tmp_path: Path) -> None:
    def answer(config: ExperimentConfiguration) -> ExperimentResult:
        if len(executor.submitted) == 6:
            raise KeyboardInterrupt
        return steady(config)

    executor = FakeExecutor(answer)
    assert session(recording, tmp_path, executor).run() == 130
    assert executor.is_cancelled
    assert read(tmp_path / "summary.json")["status"] == "interrupted"
    assert 2 <= len(read_trials(tmp_path)) <= 4
    assert not (tmp_path / "best.json").exists()
    assert session(recording, tmp_path, resume=True).run() == 0
    assert len(read_trials(tmp_path)) == 16
    assert read(tmp_path / "best.json")["config"]["codegen_opt"] == 3


def test_results_that_cannot_be_written_end_with_a_sentence(
    recording: Path, tmp_path: Path
) -> None:
    (tmp_path / "trials.jsonl").symlink_to("/dev/full")
    tuning = session(recording, tmp_path)
    assert tuning.run() == 8
    heard = cast("Heard", tuning.listener)
    # While there is time to make room.
    (told,) = [one for one in heard.sentences if "in memory only" in one]
    assert told.endswith("No space left on device; until that works, trials are in memory only")
    assert "No space left on device" in tuning.error
    assert "16 trials are not on disk" in tuning.error


@pytest.mark.parametrize(
    "name",
    ["auto", "random", "tpe", "nsga2", *(f"optuna.samplers:{n}Sampler" for n in ("CmaEs", "QMC"))],
)
def test_every_sampler_finds_the_best(recording: Path, tmp_path: Path, name: str) -> None:
    assert session(recording, tmp_path, sampler=name, trials=16, seed=3).run() == 0
    assert read(tmp_path / "best.json")["config"]["codegen_opt"] == 3


def test_a_search_that_ends_by_itself_says_why(
    recording: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mneme.search.portfolio._PATIENCE", 3)
    monkeypatch.setattr("mneme.search.portfolio._PATIENCE_FACTOR", 0.0)
    assert session(recording, tmp_path, sampler="auto", timeout=60).run() == 0
    said = (tmp_path / "logs" / "tune.log").read_text()
    assert "the search ended by itself: nothing better in " in said


def test_a_sampler_of_the_users_own(recording: Path, tmp_path: Path) -> None:
    tuning = session(recording, tmp_path, sampler="optuna.samplers:BruteForceSampler", trials=16)
    assert tuning.run() == 0
    assert len(read_trials(tmp_path)) == 16


def test_a_sampler_that_is_not_there_is_explained() -> None:
    with pytest.raises(
        InvalidArgument, match="there is no sampler 'tpee'; known are auto, random, tpe"
    ):
        make_sampler("tpee", seed=None, is_parallel=False)
    with pytest.raises(InvalidArgument, match="cannot load sampler 'nowhere:Sampler'"):
        make_sampler("nowhere:Sampler", seed=None, is_parallel=False)


def test_a_long_search_shows_the_sampler_the_best_and_the_latest() -> None:
    study = optuna.create_study(storage=bounded_memory())
    for value in range(300):
        study.add_trial(optuna.trial.create_trial(value=float(value)))
    seen = [one.value for one in study.trials]
    assert seen == [*map(float, range(50)), *map(float, range(100, 300))]


@pytest.mark.parametrize("sampler", ["nsga2", "auto"])
def test_two_objectives_give_a_front(recording: Path, tmp_path: Path, sampler: str) -> None:
    objective = ("speedup", "code-size")
    assert session(recording, tmp_path, sampler=sampler, trials=16, objective=objective).run() == 0
    best = read(tmp_path / "best.json")
    assert best["objectives"] == ["speedup", "code-size"]
    sizes = [one["values"]["code-size"] for one in best["pareto"]]
    assert sorted(sizes) == [1000.0, 1001.0, 1002.0, 1003.0]
    assert read(tmp_path / "summary.json")["pareto"] == [one["trial"] for one in best["pareto"]]


def test_another_objective_is_told_beside_the_time(recording: Path, tmp_path: Path) -> None:
    assert session(recording, tmp_path, objective="registers").run() == 0
    best = read(tmp_path / "best.json")
    # Nothing has fewer registers than the program as built; of equal ones, the fastest wins.
    assert best["values"] == {"registers": [29.0, 29.0]}
    assert best["config"]["specialize"] is True


def test_an_objective_without_values_ends_the_search(recording: Path, tmp_path: Path) -> None:
    run = session(recording, tmp_path, objective="spills")
    assert run.run() == 3
    assert "--objective is 'spills', but code for" in run.error


def test_hopeless_configurations_are_measured_only_shortly(recording: Path, tmp_path: Path) -> None:
    executor = FakeExecutor()
    session(recording, tmp_path, executor).run()
    limits = [one["measuring"].stop_above_ns for one in executor.wishes if "fresh" not in one]
    # First from the baseline, in the end from the best.
    assert limits[2] == 150_000
    assert limits[-1] == 1.5 * 39_000
    # What is queued already hears of it.
    assert executor.limits[0] == 0
    assert executor.limits[1:] == sorted(executor.limits[1:], reverse=True)
    assert executor.limits[-1] == 1.5 * 39_000
    executor = FakeExecutor()
    session(recording, tmp_path / "all", executor, early_stop=0.0).run()
    assert {one["measuring"].stop_above_ns for one in executor.wishes} | {*executor.limits} == {0}


def test_long_kernels_are_launched_few_times(recording: Path, tmp_path: Path) -> None:
    def answer(config: ExperimentConfiguration) -> ExperimentResult:
        return measured(config, [14_000_000])

    for asked, expected in ((5, 2), (7, 7)):
        executor = FakeExecutor(answer)
        session(recording, tmp_path / str(asked), executor, iterations=asked).run()
        found = {one["iterations"] for one in executor.wishes[1:] if "fresh" not in one}
        assert found == {expected}


def test_a_space_without_baseline_takes_the_recorded_launch(
    recording: Path, tmp_path: Path
) -> None:
    class Bare(Levels):
        def baseline(self) -> None:  # type: ignore[override]
            return None

    executor = FakeExecutor()
    tuning = session(recording, tmp_path, executor, baseline_only=True)
    tuning._space = Bare()
    assert tuning.run() == 0
    (config,) = executor.submitted
    assert (config.grid.x, config.block.x, config.passes) == (4, 256, "default<O3>")
    assert read(tmp_path / "summary.json")["status"] == "baseline_only"


@pytest.mark.parametrize(
    ("options", "code", "sentence"),
    [
        ({"sampler": "random"}, 3, "needs --trials N"),
        ({"record_id": "17"}, 4, "has no instance 17|holds no instance 17"),
        ({"sampler": "gone:Sampler", "trials": 1}, 3, "cannot load sampler"),
        ({"optuna_storage": "mysql+nothing://x"}, 3, "cannot use the study storage"),
        ({"optuna_storage": "/nowhere/at/all.journal"}, 8, "directory of the journal file"),
        ({"tolerance": ("much",)}, 3, "tolerance"),
    ],
)
def test_exit_codes_of_what_is_wrong(
    recording: Path, tmp_path: Path, options: dict[str, Any], code: int, sentence: str
) -> None:
    tuning = session(recording, tmp_path, **options)
    assert tuning.run() == code
    assert re.search(sentence, tuning.error)
    assert not (tmp_path / "best.json").exists()
