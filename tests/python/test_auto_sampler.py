"""The sampler `auto` as one of Optuna's: what it knows comes from the study."""

from __future__ import annotations

import multiprocessing
from pathlib import Path
from typing import Any

import optuna
import pytest

from mneme.mneme_types import ExperimentConfiguration, ExperimentResult
from mneme.search.auto_sampler import AutoSampler
from mneme.search.params import CategoricalParam, IntRangeParam
from mneme.search.search_space import SearchSpace
from mneme.session import owners
from mneme.session.options import TuneOptions
from mneme.session.storages import open_storage, open_study
from mneme.session.studies import AutoSearch, make_search
from mneme.session.trials import CompletedCandidate

NUMBERS = 6


class Space(SearchSpace):
    """Six numbers and a switch of values that are no plain ones."""

    def dimensions(self) -> dict[str, Any]:
        found: dict[str, Any] = {
            f"n{index}": IntRangeParam(f"n{index}", 0, 9) for index in range(NUMBERS)
        }
        return {**found, "pair": CategoricalParam("pair", [(1, 2), (3, 4)])}

    def derived(self, params: dict[str, Any]) -> ExperimentConfiguration:
        return ExperimentConfiguration(passes=str(sorted(params.items())))


def cost(params: dict[str, Any]) -> float:
    return 1.0 + sum((params[f"n{index}"] - index) ** 2 for index in range(NUMBERS))


def studies(count: int) -> list[optuna.Study]:
    """Views of one study, as processes have them, each with a sampler of its own."""
    storage = optuna.storages.InMemoryStorage()
    optuna.create_study(storage=storage, study_name="shared")
    return [
        optuna.load_study(
            study_name="shared", storage=storage, sampler=AutoSampler(Space(), seed=number)
        )
        for number in range(count)
    ]


def asked(study: optuna.Study) -> tuple[optuna.Trial, dict[str, Any]]:
    sampler = study.sampler
    assert isinstance(sampler, AutoSampler)
    trial = study.ask()
    return trial, sampler.sample_for(trial.number).params


def search(views: list[optuna.Study], trials: int) -> list[dict[str, Any]]:
    """Search in turn, each with one trial under way."""
    running = [asked(view) for view in views]
    found = [params for _, params in running]
    for number in range(trials - len(views)):
        place = number % len(views)
        trial, params = running[place]
        views[place].tell(trial, cost(params))
        running[place] = asked(views[place])
        found.append(running[place][1])
    return found


@pytest.mark.parametrize("count", [1, 4, 16])
def test_processes_repeat_nothing_and_find_what_one_finds(count: int) -> None:
    found = search(studies(count), 300)
    assert len({str(one) for one in found}) == len(found)
    assert min(map(cost, found)) <= 4.0


def test_another_process_knows_all_that_one_learned() -> None:
    first, second = studies(2)
    for _ in range(120):
        trial, params = asked(first)
        first.tell(trial, cost(params))
    best = min(map(cost, search([second], 40)))
    assert best <= first.best_value


def test_a_study_that_another_sampler_began_is_gone_on_with() -> None:
    (study,) = studies(1)
    study.sampler, auto = optuna.samplers.RandomSampler(seed=1), study.sampler
    space = Space()
    for _ in range(80):
        sample, trial = space.ask(study)
        study.tell(trial, cost(sample.params))
    assert isinstance(auto, AutoSampler)
    study.sampler = auto
    found = search([study], 80)
    assert auto.portfolio.idle <= 160
    assert min(map(cost, found)) < study.trials[0].value  # type: ignore[operator]
    known = [trial.params for trial in study.trials[:80]]
    plain = [{**one, "pair": f"tuple:{one['pair']!r}"} for one in found]
    assert not [one for one in plain if one in known]


def test_what_another_process_is_choosing_is_left_to_it() -> None:
    first, second = studies(2)
    bare = optuna.load_study(
        study_name="shared", storage=first._storage, sampler=optuna.samplers.RandomSampler()
    )
    bare.ask()  # has not shown what it tries
    _, usual = asked(studies(1)[0])
    _, chosen = asked(second)
    assert chosen != usual


def test_a_trial_without_a_result_is_tried_once_more() -> None:
    first, second = studies(2)
    trial, lost = asked(first)
    first.tell(trial, state=optuna.trial.TrialState.FAIL)
    trial, again = asked(second)
    assert again == lost
    second.tell(trial, state=optuna.trial.TrialState.FAIL)
    assert lost not in [asked(second)[1] for _ in range(20)]


def test_what_does_not_work_is_learned_too() -> None:
    first, second = studies(2)
    for _ in range(150):
        trial, params = asked(first)
        if params["n0"] == 3:
            first.tell(trial, 1.0)
        else:
            first.tell(trial, state=optuna.trial.TrialState.PRUNED)
    right = [asked(second)[1]["n0"] == 3 for _ in range(60)]
    assert sum(right) > 15


def test_a_function_of_trials_gets_the_same_values() -> None:
    (study,) = studies(1)

    def objective(trial: optuna.Trial) -> float:
        return cost({name: trial.suggest_int(name, 0, 9) for name in map("n{}".format, range(6))})

    study.optimize(objective, n_trials=150)
    assert study.best_value <= 6.0


def test_what_somebody_queued_is_tried() -> None:
    (study,) = studies(1)
    study.enqueue_trial({"n3": 8})
    assert asked(study)[1]["n3"] == 8


def result(candidate: Any) -> CompletedCandidate:
    found = ExperimentResult(verified=True, executed=True, image_hash=str(candidate.params))
    metric = cost(candidate.params)
    return CompletedCandidate(
        candidate=candidate, status="verified", result=found, metric=metric, baseline_metric=9.0
    )


def tune(storage: str, count: int, seed: int) -> list[str]:
    options = TuneOptions(record_database="x", seed=seed, optuna_storage=storage)
    search = make_search(options, Space(), record="r", capacity=2)
    assert isinstance(search, AutoSearch)
    tried = []
    under_way = [search.ask(), search.ask()]
    for _ in range(count):
        candidate = under_way.pop(0)
        assert candidate is not None
        tried.append(candidate.config_hash)
        search.tell(result(candidate))
        under_way.append(search.ask())
    search.give_up([one for one in under_way if one is not None])
    return tried


def put(storage: str, seed: int, found: Any) -> None:
    found.put(tune(storage, 30, seed))


@pytest.mark.parametrize("kind", ["journal", "sqlite"])
def test_real_processes_share_one_search(tmp_path: Path, kind: str) -> None:
    place = f"sqlite:///{tmp_path}/study.db" if kind == "sqlite" else str(tmp_path / "study.jnl")
    context = multiprocessing.get_context("spawn")
    found: Any = context.Queue()
    # Even with the same seed.
    processes = [context.Process(target=put, args=(place, 1, found)) for _ in range(2)]
    for process in processes:
        process.start()
    tried = [*found.get(timeout=60), *found.get(timeout=60)]
    for process in processes:
        process.join(60)
    assert len(tried) == 60
    assert len(set(tried)) >= 59


def test_a_resumed_shared_study_remembers(tmp_path: Path) -> None:
    place = str(tmp_path / "study.jnl")
    first = tune(place, 20, 1)
    second = tune(place, 20, 1)
    assert not set(first) & set(second)


def test_a_new_shared_study_is_taught_what_a_directory_holds(tmp_path: Path) -> None:
    options = TuneOptions(record_database="x", seed=1)
    search = make_search(options, Space(), record="r", capacity=1)
    history = [result(search.ask()) for _ in range(20)]
    shared = TuneOptions(
        record_database="x", seed=1, optuna_storage=str(tmp_path / "study.journal")
    )
    for _ in range(2):  # once only
        more = make_search(shared, Space(), record="r", capacity=1, history=history)
        candidate = more.ask()
        assert candidate is not None
        assert candidate.config_hash not in {one.candidate.config_hash for one in history}
    storage = open_storage(str(tmp_path / "study.journal"))
    study = optuna.load_study(study_name="mneme", storage=storage)
    assert [trial.state.name for trial in study.trials].count("COMPLETE") == 20


def test_a_dead_process_is_noticed_by_its_heartbeat(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = f"sqlite:///{tmp_path}/study.db"
    random = optuna.samplers.RandomSampler()
    study = open_study(open_storage(place), "mneme", ["minimize"], random, "r")
    dead, alive = owners.owner_of(study), owners.owner_of(study)
    assert type(alive) is owners.Owner
    with pytest.warns(UserWarning, match="Heartbeat"):  # of a loop that is not Optuna's
        lost, kept = study.ask(), study.ask()
    dead.sign(lost)
    alive.sign(kept)
    database = study._storage._backend  # type: ignore[attr-defined]
    monkeypatch.setattr(database, "grace_period", 1)
    with database.engine.begin() as connection:
        import sqlalchemy  # noqa: PLC0415

        change = "UPDATE trial_heartbeats SET heartbeat = datetime('now', '-1 hour')"
        connection.execute(sqlalchemy.text(change))
    alive._last = -1e9
    alive.beat()
    states = [trial.state.name for trial in study.get_trials()]
    assert states == ["FAIL", "RUNNING"]


def test_a_dead_process_of_this_machine_is_noticed_at_once(tmp_path: Path) -> None:
    random = optuna.samplers.RandomSampler()
    storage = open_storage(f"sqlite:///{tmp_path}/study.db")
    study = open_study(storage, "mneme", ["minimize"], random, "r")
    dead = owners.owner_of(study)
    dead.name = dead.name.rpartition("/")[0] + "/0"  # of another start
    with pytest.warns(UserWarning, match="Heartbeat"):  # of a loop that is not Optuna's
        lost, kept = study.ask(), study.ask()
    dead.sign(lost)
    elsewhere = owners.owner_of(study)
    elsewhere.name = f"elsewhere/{elsewhere.name}"
    elsewhere.sign(kept)
    owners.owner_of(study)
    assert [trial.state.name for trial in study.get_trials()] == ["FAIL", "RUNNING"]


def test_a_dead_process_of_a_journal_is_noticed_by_silence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [1000.0]
    monkeypatch.setattr(owners.time, "monotonic", lambda: now[0])
    random = optuna.samplers.RandomSampler()
    storage = open_storage(str(tmp_path / "study.journal"))
    study = open_study(storage, "mneme", ["minimize"], random, "r")
    monkeypatch.setattr(owners, "_machine", lambda: "one/node")
    dead, slow = owners.owner_of(study), owners.owner_of(study)
    slow.name += "0"
    lost, kept = study.ask(), study.ask()
    dead.sign(lost)
    slow.sign(kept)
    monkeypatch.setattr(owners, "_machine", lambda: "another/node")
    alive = owners.owner_of(study)
    for _ in range(8):
        now[0] += owners.BEAT_SECONDS
        slow._show_all()
        alive.beat()
    states = [trial.state.name for trial in study.get_trials()]
    assert states == ["FAIL", "RUNNING"]
