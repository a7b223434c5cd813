"""`mneme tune --all`: what is tuned of a recording, and what each launch stands for."""

from __future__ import annotations

import json
import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from mneme.errors import Unsupported
from mneme.measure.pool_task import BrokenPool
from mneme.recording import launch_facts
from mneme.session import all_launches
from mneme.session.events import TuneListener
from mneme.session.session import TuneOptions, TuningSession
from native_parts import needs_native
from tune_parts import FakeExecutor, command

pytestmark = needs_native
PROGRAM = Path(os.environ.get("MNEME_BUILD_DIR", "build")) / "examples" / "spmv_cg"


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three launches of axpby(n, alpha, x, beta, y), of 150, and the one of spmv, which came 50 times."""
    path = tmp_path_factory.mktemp("recording")
    done = command("record", "-rdb", path, "-mr", "3", "--device", "cpu", "--", PROGRAM)
    assert done.returncode == 0, done.stderr
    return path


class Heard(TuneListener):
    def __init__(self) -> None:
        self.notes: list[str] = []

    def note(self, sentence: str) -> None:
        self.notes.append(sentence)


def tuned(recording: Path, results: Path, **options: Any) -> tuple[dict[str, Any], list[str]]:
    """Tune all; return what was tuned, by kernel, and what was said."""
    listener = Heard()
    options = {"trials": 4, "device": "cpu", "no_proteus_output": True, **options}
    session = TuningSession(
        TuneOptions(record_database=recording, results_dir=results, all=True, **options),
        listener,
        make_executor=FakeExecutor(),
    )
    assert session.run() == 0
    is_written = (results / "proteus_tuned_kernels.json").exists()
    assert is_written is not options["no_proteus_output"]
    entries = json.loads((results / "all.json").read_text())["instances"]
    by_name = {one["demangled_name"].split("<")[0].split()[-1]: one for one in entries}
    assert len(by_name) == len(entries)
    return by_name, listener.notes


def options_of(entry: dict[str, Any], results: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((results / entry["directory"] / "config.json").read_text())
    return found


def test_launches_that_differ_each_time_are_tuned_as_one(recording: Path, tmp_path: Path) -> None:
    entries, notes = tuned(recording, tmp_path)
    assert {name: one["occurrences"] for name, one in entries.items()} == {"axpby": 3, "spmv": 50}
    (told,) = (one for one in notes if "is tuned for all of them" in one)
    assert told.startswith("3 launches of void axpby")
    assert entries["axpby"]["record_id"] in told
    # What alone differs are floating-point numbers, which production runs do not look at.
    assert options_of(entries["axpby"], tmp_path)["launch_dim"] == "auto"


def test_the_launch_that_is_tuned_is_the_usual_one(
    recording: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It comes most often, or changes memory, or takes longest; here it is any but the first."""
    chosen: list[str] = []

    def last(alike: list[Any]) -> Any:
        chosen.append(alike[-1].dynamic_hash)
        return alike[-1]

    monkeypatch.setattr(all_launches, "usual_launch", last)
    entries, _ = tuned(recording, tmp_path)
    assert entries["axpby"]["record_id"] in chosen


@pytest.mark.parametrize(
    ("facts", "usual"),
    [
        ([(1, True, 10), (5, False, 5), (1, True, 20)], 1),
        ([(1, False, 90), (1, True, 5), (1, True, 20)], 2),
    ],
)
def test_the_usual_launch_comes_most_often_or_changes_memory_or_takes_longest(
    monkeypatch: pytest.MonkeyPatch, facts: list[tuple[int, bool, int]], usual: int
) -> None:
    launches: list[Any] = [
        SimpleNamespace(occ=occ, is_changing=changes, recorded_ns=ns, dynamic_hash=str(number))
        for number, (occ, changes, ns) in enumerate(facts)
    ]
    monkeypatch.setattr(launch_facts, "leaves_changes", lambda one: one.is_changing)
    assert launch_facts.usual_launch(launches) is launches[usual]


def test_its_weight_is_that_of_all(recording: Path, tmp_path: Path) -> None:
    entries, _ = tuned(recording, tmp_path, no_proteus_output=False)
    # The executor's baselines take equally long, and the program has 150 launches of one, 50 of the other.
    assert entries["axpby"]["weight"] == pytest.approx(0.75)


@pytest.mark.parametrize(("asked", "used"), [("auto", "none"), ("x", "x")])
def test_no_dimensions_are_searched_that_only_one_launch_would_get(
    recording: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, asked: str, used: str
) -> None:
    monkeypatch.setattr(all_launches, "differ_in_floats_only", lambda _record, _launches: False)
    entries, _ = tuned(recording, tmp_path, launch_dim=asked)
    assert options_of(entries["axpby"], tmp_path)["launch_dim"] == used
    assert options_of(entries["spmv"], tmp_path)["launch_dim"] == asked


def test_trials_of_an_earlier_run_are_not_taken_over_unasked(
    recording: Path, tmp_path: Path
) -> None:
    tuned(recording, tmp_path)
    before = {one: one.read_bytes() for one in tmp_path.rglob("*.json*")}
    options = TuneOptions(record_database=recording, results_dir=tmp_path, all=True, trials=4)
    again = TuningSession(options, make_executor=FakeExecutor())
    assert again.run() == 3
    assert "holds trials of an earlier run; add --resume" in again.error
    assert {one: one.read_bytes() for one in tmp_path.rglob("*.json*")} == before


def test_it_can_be_gone_on_with(recording: Path, tmp_path: Path) -> None:
    first, _ = tuned(recording, tmp_path)
    again, _ = tuned(recording, tmp_path, resume=True, trials=6)
    assert [one["record_id"] for one in again.values()] == [
        one["record_id"] for one in first.values()
    ]


@pytest.mark.parametrize(
    ("options", "count"),
    [
        ({"specialize_space": "on"}, 3),
        ({"specialized_args": "0,1"}, 3),
        ({"specialized_args": "0"}, 1),
        ({"specialize_space": "off"}, 1),
    ],
)
def test_constants_that_are_asked_for_are_those_of_each_launch(
    recording: Path, tmp_path: Path, options: dict[str, str], count: int
) -> None:
    """In axpby(n, alpha, x, beta, y), n is the same in all launches, alpha is not."""
    session = TuningSession(
        TuneOptions(
            record_database=recording,
            results_dir=tmp_path,
            all=True,
            trials=1,
            device="cpu",
            no_proteus_output=True,
            **options,
        ),
        make_executor=FakeExecutor(),
    )
    assert session.run() == 0
    entries = json.loads((tmp_path / "all.json").read_text())["instances"]
    assert sum("axpby" in one["demangled_name"] for one in entries) == count


class Searcher:
    """Stands for the sessions of launches, each of which ends by itself after so many trials."""

    def __init__(self, lasts: dict[str, int], ratios: dict[str, float]) -> None:
        self.lasts, self.ratios = lasts, ratios
        self.searched: list[tuple[str, int]] = []
        self.code = 0
        self.is_pool_gone = False

    def make(self, options: Any, weight: float) -> Any:
        del weight
        session = SimpleNamespace(outcome=None, resume_with="", is_pool_gone=self.is_pool_gone)
        session.run = lambda: self._run(options, session)
        return session

    def _run(self, options: Any, session: Any) -> int:
        name = Path(options.results_dir).name
        done = min(options.trials, self.lasts[name])
        if options.optuna_storage:
            done //= 2  # another process has the others
        self.searched.append((name, options.trials))
        if self.code:
            return self.code
        session.outcome = SimpleNamespace(
            status="completed",
            progress=SimpleNamespace(done=done),
            gain=SimpleNamespace(ratio=self.ratios[name]),
        )
        return 0


def launches_named(**weights: float) -> list[Any]:
    return [
        all_launches._Launch(
            record=SimpleNamespace(told_name=name, path=Path("r")),  # type: ignore[arg-type]
            instance=SimpleNamespace(dynamic_hash=name),  # type: ignore[arg-type]
            directory=Path("all") / name,
            stands_for=(),
            weight=weight,
        )
        for name, weight in weights.items()
    ]


@pytest.mark.parametrize(
    ("lasts", "searched"),
    [
        ({"a": 999, "b": 999, "c": 999}, [("a", 52), ("b", 31), ("c", 17)]),
        # What the first leaves goes to the others, by their weights.
        ({"a": 20, "b": 999, "c": 999}, [("a", 52), ("b", 55), ("c", 25)]),
        # What the last leaves goes to where most of the time is still spent.
        ({"a": 999, "b": 999, "c": 5}, [("a", 52), ("b", 31), ("c", 17), ("b", 43)]),
        # Nobody needs it.
        ({"a": 20, "b": 20, "c": 5}, [("a", 52), ("b", 55), ("c", 60)]),
    ],
)
def test_trials_that_a_search_leaves_go_where_most_is_to_be_gained(
    monkeypatch: pytest.MonkeyPatch, lasts: dict[str, int], searched: list[tuple[str, int]]
) -> None:
    monkeypatch.setattr(all_launches, "_launch_dim", lambda *_: "none")
    monkeypatch.setattr(
        all_launches, "_names", lambda _, one: {"results_dir": one.directory, "all": False}
    )
    searcher = Searcher(lasts, {"a": 4.0, "b": 1.0, "c": 1.0})
    options = TuneOptions(record_database="r", trials=100)
    found = launches_named(a=0.6, b=0.3, c=0.1)
    code = all_launches._search(options, found, Heard(), searcher.make, 0.0)
    assert code == 0
    assert searcher.searched == searched


def test_a_shared_study_is_given_no_more_than_its_share(monkeypatch: pytest.MonkeyPatch) -> None:
    """What this process has not tried, another one has."""
    monkeypatch.setattr(all_launches, "_launch_dim", lambda *_: "none")
    monkeypatch.setattr(
        all_launches, "_names", lambda _, one: {"results_dir": one.directory, "all": False}
    )
    searcher = Searcher({"a": 999, "b": 999}, {"a": 1.0, "b": 1.0})
    options = TuneOptions(record_database="r", trials=100, optuna_storage="study.journal")
    found = launches_named(a=0.6, b=0.4)
    assert all_launches._search(options, found, Heard(), searcher.make, 0.0) == 0
    assert searcher.searched == [("a", 58), ("b", 42)]


@pytest.fixture
def has_two_launches(monkeypatch: pytest.MonkeyPatch) -> tuple[Searcher, list[Any]]:
    monkeypatch.setattr(all_launches, "_launch_dim", lambda *_: "none")
    monkeypatch.setattr(
        all_launches, "_names", lambda _, one: {"results_dir": one.directory, "all": False}
    )
    searcher = Searcher({"a": 15, "b": 999}, {"a": 1.0, "b": 1.0})
    return searcher, launches_named(a=0.6, b=0.4)


@pytest.mark.parametrize(
    ("code", "is_pool_gone", "searched"),
    [(6, True, ["a"]), (6, False, ["a", "b"]), (130, False, ["a"])],
)
def test_other_launches_are_tried_unless_nothing_is_left_that_measures(
    has_two_launches: Any, code: int, is_pool_gone: bool, searched: list[str]
) -> None:
    searcher, found = has_two_launches
    searcher.code, searcher.is_pool_gone = code, is_pool_gone
    options = TuneOptions(record_database="r", trials=100)
    assert all_launches._search(options, found, Heard(), searcher.make, 0.0) == code
    assert [name for name, _ in searcher.searched] == searched


def test_a_second_search_that_fails_leaves_the_first_its_outcome(has_two_launches: Any) -> None:
    searcher, found = has_two_launches
    options = TuneOptions(record_database="r", trials=100)
    assert all_launches._search_one(options, found[0], searcher.make, 10, None) == (0, False)
    first = found[0].outcome
    searcher.code = 6
    assert all_launches._search_one(options, found[0], searcher.make, 20, None) == (6, False)
    assert first is not None
    assert found[0].outcome is first


@pytest.mark.parametrize("is_pool_gone", [False, True])
def test_a_kernel_that_cannot_be_tuned_leaves_the_others_tuned(
    recording: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_pool_gone: bool
) -> None:
    """Such as one without IR; only what the pool has lost ends all."""
    refused: list[str] = []
    run_launch = TuningSession._run_launch

    def run(session: TuningSession, path: Path, record_id: str) -> int:
        name = Path(session.options.results_dir or "").name
        if "axpby" in name:
            refused.append(name)
            raise BrokenPool("it is gone") if is_pool_gone else Unsupported("'axpby' has no IR")
        return run_launch(session, path, record_id)

    monkeypatch.setattr(TuningSession, "_run_launch", run)
    options = TuneOptions(
        record_database=recording, results_dir=tmp_path, all=True, trials=4, device="cpu"
    )
    session = TuningSession(options, make_executor=FakeExecutor())
    assert session.run() == (6 if is_pool_gone else 0)
    assert len(refused) == 1
    if not is_pool_gone:
        (entry,) = json.loads((tmp_path / "all.json").read_text())["instances"]
        assert "spmv" in entry["demangled_name"]
        assert (tmp_path / "proteus_tuned_kernels.json").is_file()
