"""What sessions remember, and what they begin with: on an executor that answers at once."""

from __future__ import annotations

import random
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from knowledge_samples import entry
from mneme.knowledge.entry import NOTHING, Entry
from mneme.knowledge.recall import Match
from mneme.knowledge.store import KnowledgeStore
from mneme.mneme_types import ExperimentConfiguration, ExperimentResult, dim3
from mneme.recording.recorded_execution import RecordedExecution
from mneme.search.builtin_spaces import BuiltinTuneSearchSpace
from mneme.search.params import BoolParam, CategoricalParam, IntRangeParam
from mneme.search.pass_choices import UNROLLED
from mneme.search.portfolio import Portfolio
from mneme.search.seeds import find_seeds
from mneme.search.space_view import SpaceView
from mneme.session.events import TuneListener
from mneme.session.session import TuneOptions, TuningSession
from native_parts import needs_native
from tune_parts import FakeExecutor, Levels, measured, recorded_launch, recording, steady

__all__ = ["recording"]

pytestmark = [pytest.mark.compile, needs_native]


class Heard(TuneListener):
    def __init__(self) -> None:
        self.notes: list[str] = []
        self.warnings: list[str] = []

    def note(self, sentence: str) -> None:
        self.notes.append(sentence)

    def warn(self, sentence: str) -> None:
        self.warnings.append(sentence)


class Needle(Levels):
    """512 configurations, one of which is twice as fast."""

    def dimensions(self) -> dict[str, Any]:
        return {
            **super().dimensions(),
            "max_registers": CategoricalParam("max_registers", list(range(32))),
        }

    @staticmethod
    def answer(config: ExperimentConfiguration) -> ExperimentResult:
        is_found = config.max_registers == 21 and config.specialize and config.codegen_opt == 1
        return measured(config, [50_000 if is_found else 100_000] * 5)


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> KnowledgeStore:
    path = tmp_path / "data" / "knowledge.sqlite"
    monkeypatch.setenv("MNEME_KNOWLEDGE", str(path))
    return KnowledgeStore(path)


@pytest.fixture
def built_as_the_baseline(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let gains be over the baseline of `Levels`."""
    monkeypatch.setattr(RecordedExecution, "pipeline_on", lambda *_: ("default<O3>", 0))


class Tuned:
    """A session that has run."""

    def __init__(
        self,
        recording: Path,
        results: Path,
        answer: Callable[[ExperimentConfiguration], ExperimentResult] = steady,
        space: Levels | None = None,
        **options: Any,
    ) -> None:
        self.heard = Heard()
        self.executor = FakeExecutor(answer)
        values = {"sampler": "exhaustive", "no_proteus_output": True, **options}
        self.session = TuningSession(
            TuneOptions(record_database=recording, results_dir=results, **values),
            self.heard,
            space=space or Levels(),
            make_executor=self.executor,
        )
        self.code = self.session.run()


@pytest.mark.usefixtures("built_as_the_baseline")
def test_the_winner_and_what_came_next_are_remembered(
    recording: Path, tmp_path: Path, store: KnowledgeStore
) -> None:
    assert Tuned(recording, tmp_path / "r").code == 0
    found = sorted(store.entries(), key=lambda one: one.rank)
    assert [one.rank for one in found] == [0, 1, 2, 3]
    best = found[0]
    assert best.gain == pytest.approx(100 / 39)
    assert best.low is not None
    assert best.low > 1
    assert (best.config["codegen_opt"], best.params["specialize"]) == (3, True)
    assert best.baseline["codegen_opt"] == 0
    assert (best.baseline_ns, best.trials) == (100_000, 16)
    assert (best.family, best.arch) == ("cpu", "cpu")
    assert (best.grid, best.block) == ((4, 1, 1), (256, 1, 1))
    assert best.kernel.startswith("_Z9vectorAdd")
    assert best.features["loads"] > 0
    assert [one.low for one in found[1:]] == [None] * 3
    assert found[1].gain >= found[3].gain > 1


def test_nothing_private_is_remembered(
    recording: Path, tmp_path: Path, store: KnowledgeStore
) -> None:
    class Placed(Levels):
        def dimensions(self) -> dict[str, Any]:
            return {**super().dimensions(), "data": CategoricalParam("data", ["/home/somebody/x"])}

        def derived(self, params: dict[str, Any]) -> ExperimentConfiguration:
            return super().derived({k: v for k, v in params.items() if k != "data"})

    Tuned(recording, tmp_path / "results-of-somebody", space=Placed())
    assert store.entries()[0].params["passes"] == "default<O3>"
    content = store.path.read_bytes()
    (record,) = recording.glob("[0-9]*.json")
    for private in (
        "somebody",
        str(tmp_path),
        str(recording),
        record.name,
        "vector_add",
    ):
        assert private.encode() not in content


def test_that_nothing_was_faster_is_remembered_too(
    recording: Path, tmp_path: Path, store: KnowledgeStore
) -> None:
    Tuned(recording, tmp_path / "r", lambda config: measured(config, [100_000] * 5))
    (known,) = store.entries()
    assert (known.rank, known.gain, known.low) == (NOTHING, 1.0, None)


def test_what_was_not_faster_while_searching_does_not_come_next(
    recording: Path, tmp_path: Path, store: KnowledgeStore
) -> None:
    Tuned(recording, tmp_path / "r", Needle.answer, Needle(), sampler="random", trials=3, seed=1)
    assert [one.rank for one in store.entries()] == [NOTHING]


def test_a_search_for_something_else_tells_nothing_of_speed(
    recording: Path, tmp_path: Path, store: KnowledgeStore
) -> None:
    Tuned(recording, tmp_path / "r", objective="registers")
    assert not store.path.exists()


@pytest.mark.parametrize("how", ["option", "variable"])
def test_who_opts_out_leaves_no_file_and_reads_none(
    recording: Path,
    tmp_path: Path,
    store: KnowledgeStore,
    monkeypatch: pytest.MonkeyPatch,
    how: str,
) -> None:
    store.path.parent.mkdir()
    store.path.write_text("what nobody may read")
    if how == "variable":
        monkeypatch.setenv("MNEME_KNOWLEDGE", "off")
    told = Tuned(
        recording, tmp_path / "r", sampler="auto", trials=4, seed=1, knowledge=how == "variable"
    )
    assert told.code == 0
    assert told.heard.warnings == []
    assert store.path.read_text() == "what nobody may read"


@pytest.mark.usefixtures("built_as_the_baseline")
def test_a_search_begins_with_what_won_before(
    recording: Path, tmp_path: Path, store: KnowledgeStore
) -> None:
    options = {"sampler": "auto", "seed": 1}
    first = Tuned(recording, tmp_path / "1", Needle.answer, Needle())
    assert [one.gain for one in store.entries() if one.rank == 0] == [2.0], "found once"
    again = Tuned(recording, tmp_path / "2", Needle.answer, Needle(), trials=3, **options)
    assert any(one.max_registers == 21 for one in again.executor.searched[:3])
    assert again.heard.notes[0].startswith(
        "the search begins with known configurations: 2 that helped this kernel before"
    )
    assert again.session.outcome is not None
    assert again.session.outcome.progress.done == 3
    assert "known" in (tmp_path / "2" / "logs" / "tune.log").read_text()
    assert first.heard.notes == []


def test_other_samplers_have_no_seeds(
    recording: Path, tmp_path: Path, store: KnowledgeStore
) -> None:
    Tuned(recording, tmp_path / "1")
    again = Tuned(recording, tmp_path / "2", sampler="random", trials=2, seed=3)
    assert again.heard.notes == []


def test_several_objectives_are_searched_without_seeds_and_teach_speed(
    recording: Path, tmp_path: Path, store: KnowledgeStore
) -> None:
    options = {"sampler": "auto", "objective": ("time", "registers"), "trials": 12, "seed": 1}
    first = Tuned(recording, tmp_path / "1", **options)
    assert {one.rank for one in store.entries()} >= {0}
    again = Tuned(recording, tmp_path / "2", **options)
    assert first.heard.notes == again.heard.notes == []


def test_a_damaged_file_is_said_once_and_left_alone(
    recording: Path, tmp_path: Path, store: KnowledgeStore
) -> None:
    store.path.parent.mkdir()
    store.path.write_text("something else")
    told = Tuned(recording, tmp_path / "r", sampler="auto", trials=4, seed=1)
    assert told.code == 0
    (sentence,) = told.heard.warnings
    assert "is not a knowledge file of mneme" in sentence
    assert store.path.read_text() == "something else"


def test_a_home_that_cannot_be_written_is_a_note(
    recording: Path, tmp_path: Path, store: KnowledgeStore
) -> None:
    store.path.parent.write_text("a file where a directory should be")
    told = Tuned(recording, tmp_path / "r", sampler="auto", trials=4, seed=1)
    assert told.code == 0
    assert told.heard.warnings == []
    (sentence,) = [one for one in told.heard.notes if "is not remembered" in one]
    assert str(store.path) in sentence


def test_a_python_without_sqlite_tunes(
    recording: Path, tmp_path: Path, store: KnowledgeStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "sqlite3", None)
    monkeypatch.delitem(sys.modules, "mneme.knowledge.store")
    told = Tuned(recording, tmp_path / "r", sampler="auto", trials=4, seed=1)
    assert told.code == 0
    (sentence,) = told.heard.notes
    assert "this Python has no SQLite" in sentence
    assert not store.path.exists()


def test_many_searches_complain_once(
    recording: Path, tmp_path: Path, store: KnowledgeStore
) -> None:
    store.path.parent.mkdir()
    store.path.write_text("something else")
    told = [Tuned(recording, tmp_path / name, sampler="auto", trials=2) for name in "abc"]
    assert [len(one.heard.warnings) for one in told] == [1, 0, 0]


def same(known: Entry, *, is_same: bool = True, similarity: float = 1.0) -> Match:
    return Match(entry=known, is_same=is_same, similarity=similarity)


def view(preset: str = "full", **options: Any) -> SpaceView:
    class Launch:
        grid_dim = dim3(64, 1, 1)
        block_dim = dim3(256, 1, 1)
        shared_mem = 0
        available_specializations = (0,)

    return SpaceView.of(BuiltinTuneSearchSpace(Launch(), device="cpu", preset=preset, **options))


WINNER = ExperimentConfiguration(
    **{**recorded_launch(), "block": {"x": 128, "y": 1, "z": 1}},
    passes="function(mneme-unroll<16>),default<O1>",
    specialize=True,
    codegen_opt=2,
).to_dict()
PARAMS = {"block_shape": "128x1x1", "passes": "default<O1>", "unroll": 16, "specialize": True}


def test_blocks_come_from_the_same_code_only() -> None:
    known = entry(config=WINNER, params=PARAMS)
    space = view()
    own = find_seeds(space, [same(known)])
    other = find_seeds(space, [same(known, is_same=False)])
    assert (own.of_same, own.of_similar, other.of_same, other.of_similar) == (1, 0, 0, 1)
    assert own.points[0]["block_shape"] == "128x1x1"
    assert other.points[0]["block_shape"] == "256x1x1"
    for point in (own.points[0], other.points[0]):
        assert (point["passes"], point["unroll"], point["codegen_opt"]) == ("default<O1>", 16, 2)
        config = space.sample_of(point).config
        assert config.passes == "function(mneme-unroll<16>),default<O1>"
        assert config.specialize is True


def test_the_configuration_alone_says_enough() -> None:
    found = find_seeds(view(), [same(entry(config=WINNER))])
    assert {**found.points[0], **PARAMS, "block_shape": "256x1x1"} == found.points[0]


def test_a_pipeline_that_the_space_does_not_list_is_drawn_where_it_draws() -> None:
    passes = "function(gvn,instcombine),default<O2>,function(adce)"
    known = entry(
        config={**WINNER, "passes": passes}, params={"passes": "drawn", "pipeline": passes}
    )
    (point,) = find_seeds(view(), [same(known)]).points[:1]
    assert (point["passes"], point["pipeline"]) == ("drawn", passes)
    (point,) = find_seeds(view("standard"), [same(known)]).points[:1]
    assert point["passes"] == "default<O3>"
    assert "pipeline" not in point


def test_passes_that_this_llvm_does_not_know_are_left_out() -> None:
    known = entry(config={**WINNER, "passes": "function(pass-of-tomorrow)"})
    (point,) = find_seeds(view(), [same(known)]).points[:1]
    assert point["passes"] == "default<O3>"


def test_what_is_as_usual_or_known_already_is_no_seed() -> None:
    usual = entry(config={"passes": "default<O3>", "codegen_opt": 3, "no_such_field": 7})
    twice = [same(entry(config={**WINNER, "shared_mem": n})) for n in range(3)]
    found = find_seeds(view(), [same(usual), *twice, same(entry(rank=NOTHING, config=WINNER))])
    assert found.of_same == 1


def test_values_of_any_kind_are_refused_quietly() -> None:
    strange = [[1], {"x": 1}, None, "text", 10**30, -1, 0.5]
    for value in strange:
        params = dict.fromkeys(PARAMS, value)
        find_seeds(view(), [same(entry(config=dict.fromkeys(WINNER, value), params=params))])


def test_at_most_eight_come_from_the_file() -> None:
    bounds = {"set_launch_bounds": True, "max_threads": 256}
    many = [same(entry(config={**WINNER, **bounds, "codegen_opt": n % 4, "min_blocks_per_sm": m}))
            for n in range(4) for m in range(1, 5)]  # fmt: skip
    found = find_seeds(view(), many)
    assert (found.of_same, len(found.points)) == (8, 8 + found.usual)


def test_what_usually_wins_is_in_the_builtin_spaces() -> None:
    found = find_seeds(view(), [])
    assert found.usual == 12
    assert found.sentence == "the search begins with known configurations: 12 that usually win"
    assert all(view().sample_of(point).config.specialize for point in found.points)
    assert find_seeds(view("quick"), []).usual == 1
    assert find_seeds(SpaceView.of(Levels()), []).sentence == ""


def test_what_usually_wins_is_tried_without_constants_too() -> None:
    found = find_seeds(view(specialize_space="off"), [])
    assert found.usual == 11
    assert all(point["specialize_dims"] for point in found.points if point["passes"] == UNROLLED)


def test_another_space_takes_what_it_has() -> None:
    found = find_seeds(SpaceView.of(Levels()), [same(entry(config=WINNER, params=PARAMS))])
    assert found.points == [{"codegen_opt": 2, "specialize": True, "passes": "default<O1>"}]


def test_a_space_may_refuse_a_seed() -> None:
    class Picky(Levels):
        def constraints(self, x: Any) -> bool:
            return not x["specialize"]

    assert find_seeds(SpaceView.of(Picky()), [same(entry(config=WINNER))]).points == []


def test_parameters_of_a_users_space_say_nothing_of_another_kernel() -> None:
    class Tiles(Levels):
        def dimensions(self) -> dict[str, Any]:
            return {"tile": IntRangeParam("tile", 1, 64), "specialize": BoolParam("specialize")}

        def derived(self, params: dict[str, Any]) -> ExperimentConfiguration:
            return ExperimentConfiguration(specialize=params["specialize"])

    known = entry(config=WINNER, params={"tile": 32})
    space = SpaceView.of(Tiles())
    assert find_seeds(space, [same(known)]).points == [{"tile": 32, "specialize": True}]
    other = replace(same(known), is_same=False)
    assert find_seeds(space, [other]).points == [{"tile": 1, "specialize": True}]


def test_seeds_come_right_after_the_usual_configuration() -> None:
    space = view()
    seeds = find_seeds(space, [same(entry(config=WINNER, params=PARAMS))]).points
    portfolio = Portfolio(space, random.Random(1), seeds)
    proposed = [portfolio.propose(number).sample.params for number in range(1 + len(seeds))]
    assert proposed[0]["passes"] == "default<O3>"
    assert proposed[1:] == seeds


def test_a_dry_run_shows_what_the_search_asks_first(
    recording: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MNEME_KNOWLEDGE", str(tmp_path / "knowledge.sqlite"))
    shown: list[dict[str, Any]] = []

    class Listener(TuneListener):
        def space(self, description: dict[str, Any], candidates: list[dict[str, Any]]) -> None:
            del description
            shown.extend(candidates)

    def run(executor: FakeExecutor | None = None, **changes: Any) -> None:
        options = TuneOptions(
            record_database=str(recording), device="cpu", results_dir=str(tmp_path / "r"), **changes
        )
        session = TuningSession(options, Listener(), make_executor=executor)
        assert session.run() == 0, session.error

    run(dry_run=True)
    executor = FakeExecutor()
    run(executor, trials=30)
    asked: list[dict[str, Any]] = []
    for config, wishes in zip(executor.submitted, executor.wishes, strict=True):
        is_try = wishes["iterations"] == 1  # of whether other launches work at all
        if not is_try and config.to_dict() not in asked:
            asked.append(config.to_dict())
    assert len(shown) > 10
    assert shown == asked[: len(shown)]
    first = shown[:3]
    shown.clear()
    run(dry_run=True, trials=3, knowledge=False)
    assert shown == first
    shown.clear()
    run(dry_run=True, space_preset="quick", knowledge=False)
    assert len(shown) == len({str(one) for one in shown}) >= 4
