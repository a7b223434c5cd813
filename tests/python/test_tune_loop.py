"""The search loop where the executor or the storage gives up."""

from __future__ import annotations

import json
import threading
import time
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy

from mneme.errors import InternalError
from mneme.measure.eval_future import EvalFuture
from mneme.mneme_types import ExperimentConfiguration
from mneme.session import loop
from mneme.session.result_store import read_trials
from mneme.session.session import TuneOptions, TuningSession
from mneme.session.storages import storage_errors
from mneme.session.studies import EnumeratedSearch
from native_parts import needs_native
from tune_parts import FakeExecutor, Levels, recording

__all__ = ["recording"]

pytestmark = [pytest.mark.compile, needs_native]


class Dying(FakeExecutor):
    """Evaluates a few configurations, then has no workers any more."""

    def submit(self, config: ExperimentConfiguration, **wishes: Any) -> EvalFuture:
        if len(self.submitted) < 4:
            return super().submit(config, **wishes)
        self.submitted.append(config)
        future = EvalFuture(0, config)
        future.set_error(InternalError("worker 0 does not start any more"))
        return future


def session(
    recording: Path, results: Path, executor: FakeExecutor, **options: Any
) -> TuningSession:
    values = {"record_database": recording, "results_dir": results, "sampler": "grid", **options}
    return TuningSession(TuneOptions(**values), space=Levels(), make_executor=executor)


def test_without_workers_a_search_ends_soon_and_can_go_on(recording: Path, tmp_path: Path) -> None:
    dying = Dying()
    tuning = session(recording, tmp_path, dying)
    assert tuning.run() == 6
    assert not tuning.is_pool_gone  # other launches may do better
    assert "worker 0 does not start any more; every trial that finished is kept" in tuning.error
    assert len(dying.submitted) < 12
    assert tuning.error.endswith(f", go on with --resume --results-dir {tmp_path}")
    part = session(recording, tmp_path / "part", Dying())
    part.resume_with = "a whole command --resume"
    assert part.run() == 6
    assert part.error.endswith(", go on with a whole command --resume")
    executor = FakeExecutor()
    assert session(recording, tmp_path, executor, resume=True).run() == 0
    trials = read_trials(tmp_path)
    assert len(trials) == 16
    assert {one.status for one in trials} == {"verified"}
    assert len(executor.searched) == 14


class Slow(FakeExecutor):
    """Takes a while for what is searched first, the baseline apart."""

    is_under_way = False

    def submit(self, config: ExperimentConfiguration, **wishes: Any) -> EvalFuture:
        done = super().submit(config, **wishes)
        if [one for one in self.searched if one.specialize] != [config]:
            return done
        future = EvalFuture(0, config)
        self.is_under_way = True

        def end() -> None:
            self.is_under_way = False
            future.set_result(self.answer(config))

        threading.Timer(0.5, end).start()
        return future


class Insisting(Levels):
    """Names what is under way again and again."""

    def __init__(self, executor: Slow) -> None:
        super().__init__()
        self._executor = executor
        self._rest = iter(range(4))

    def sample_random(self) -> ExperimentConfiguration:
        level = 0 if self._executor.is_under_way else next(self._rest, 3)
        return self.derived({"codegen_opt": level, "specialize": True, "passes": "default<O3>"})


def test_what_is_under_way_is_no_sign_of_an_end(recording: Path, tmp_path: Path) -> None:
    executor = Slow()
    options = TuneOptions(
        record_database=recording, results_dir=tmp_path, sampler="random", trials=4
    )
    tuning = TuningSession(options, space=Insisting(executor), make_executor=executor)
    assert tuning.run() == 0, tuning.error
    levels = {one.codegen_opt for one in executor.searched if one.specialize}
    assert levels == {0, 1, 2, 3}


class Hanging(FakeExecutor):
    """One configuration never ends."""

    def has_all(self) -> bool:
        return len({one.hash() for one in self.searched}) == 16

    def submit(self, config: ExperimentConfiguration, **wishes: Any) -> EvalFuture:
        done = super().submit(config, **wishes)
        facts = (config.codegen_opt, config.passes, config.specialize)
        is_hanging = facts == (2, "default<O1>", False) and not self.is_cancelled
        return EvalFuture(0, config) if is_hanging else done


class Clock:
    """Stands still until an executor has all configurations; a second is a millisecond from then on."""

    def __init__(self, executor: Hanging) -> None:
        self._executor = executor
        self._since: float | None = None

    def monotonic(self) -> float:
        if self._since is None and self._executor.has_all():
            self._since = time.monotonic()
        return 0.0 if self._since is None else 1000 * (time.monotonic() - self._since)


@pytest.mark.parametrize("limit", [60.0, 61.0])
def test_what_takes_much_longer_than_all_others_is_ended(
    recording: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: float
) -> None:
    executor = Hanging()
    monkeypatch.setattr(loop, "time", Clock(executor))
    asked: list[tuple[float, float]] = []
    end_hanging = lambda *limits: asked.append(limits)  # noqa: E731
    monkeypatch.setattr(executor, "end_hanging", end_hanging, raising=False)
    tuning = session(recording, tmp_path, executor, timeout=500, trial_timeout=limit)
    assert tuning.run() == 0, tuning.error
    # Its limit is the user's, if there is one.
    assert set(asked) == ({(10.0, 20.0)} if limit == 60.0 else set())


def test_what_hangs_does_not_keep_a_search_from_its_end(
    recording: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    executor = Hanging()
    monkeypatch.setattr(loop, "time", Clock(executor))
    tuning = session(recording, tmp_path, executor, timeout=50)
    assert tuning.run() == 0, tuning.error
    assert executor.is_cancelled, "what hangs is ended before the last rounds"
    assert "what did not end in time is left out" in (tmp_path / "logs" / "tune.log").read_text()
    best = json.loads((tmp_path / "best.json").read_text())
    assert (best["status"], best["config"]["codegen_opt"]) == ("timeout", 3)
    assert len(read_trials(tmp_path)) == 15, "one of 16 hangs"


def test_a_storage_that_breaks_costs_no_result(
    recording: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    original = EnumeratedSearch.tell

    def tell(self: Any, done: Any, *, is_repeated: bool = False) -> None:
        if done.candidate.trial == 4:
            with storage_errors("postgresql://host"):
                raise sqlalchemy.exc.OperationalError("insert", {}, Exception("gone"))
        original(self, done, is_repeated=is_repeated)

    monkeypatch.setattr(EnumeratedSearch, "tell", tell)
    tuning = session(recording, tmp_path, FakeExecutor())
    assert tuning.run() == 8
    assert tuning.error.startswith("the study storage 'postgresql://host' failed:")
    assert tuning.error.endswith(
        f"every trial that finished is kept, go on with --resume --results-dir {tmp_path}"
    )
    # The sixth had finished, too, and waited for its turn.
    assert [one.candidate.trial for one in read_trials(tmp_path)] == list(range(6))
