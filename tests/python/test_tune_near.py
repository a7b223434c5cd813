"""What is not verified for a few units in the last place is named, counted and offered."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from mneme.arguments import ArgKind, Argument
from mneme.cli._tune_output import summary
from mneme.kernel_names import KernelName
from mneme.mneme_types import ExperimentConfiguration, ExperimentResult
from mneme.optimize import searches as optimize_searches
from mneme.optimize.events import OptimizeListener
from mneme.optimize.heavy import Target
from mneme.optimize.options import OptimizeOptions
from mneme.optimize.profile import Profile
from mneme.optimize.result import KernelResult, OptimizeResult
from mneme.optimize.searches import Searches
from mneme.recording.directory import Recording
from mneme.session.events import Outcome
from mneme.session.final_round import no_gain
from mneme.session.near import Near, tolerance_options
from mneme.session.session import TuneOptions, TuningSession
from mneme.session.tolerances import SharedTolerances
from native_parts import needs_native
from tune_parts import FakeExecutor, Levels, recording, steady

__all__ = ["recording"]

RULE = "r=f64:ulp:1"


def off_by_one(config: ExperimentConfiguration) -> ExperimentResult:
    """As `steady`; specialised kernels take a third, and round the last bit otherwise."""
    result = steady(config)
    if config.specialize:
        result.exec_time = [one // 3 for one in result.exec_time]
        result.verified, result.result_class = False, "few_ulp"
        result.max_ulp, result.suggestion = 1, RULE
    return result


def accepted(config: ExperimentConfiguration) -> ExperimentResult:
    """As `off_by_one`, where a tolerance accepts it."""
    result = off_by_one(config)
    if config.specialize:
        result.verified, result.result_class, result.suggestion = True, "within_tolerance", ""
    return result


def tuned(recording: Path, results: Path, answer: Any, **more: Any) -> Outcome:
    executor = answer if isinstance(answer, FakeExecutor) else FakeExecutor(answer)
    options = {"sampler": "exhaustive", **more}
    session = TuningSession(
        TuneOptions(record_database=recording, results_dir=results, **options),
        space=Levels(),
        make_executor=executor,
    )
    assert session.run() == 0, session.error
    assert session.outcome is not None
    return session.outcome


@needs_native
@pytest.mark.compile
def test_a_faster_kernel_that_is_one_ulp_off_is_offered(recording: Path, tmp_path: Path) -> None:
    outcome = tuned(recording, tmp_path, off_by_one)
    near = outcome.near
    assert near is not None
    # 40 us as built, which nothing that is right beats; a third of 39 us for what is a little off.
    assert near.speedup == pytest.approx(40 / 13, rel=0.01)
    offer = f"3.08x if 1 ULP is acceptable: --tolerance {RULE}"
    assert offer in summary(outcome)
    assert "8 a few ULP off" in "\n".join(summary(outcome))
    counts = json.loads((tmp_path / "summary.json").read_text())
    assert (counts["num_few_ulp"], counts["num_failed_verification"]) == (8, 8)
    best = json.loads((tmp_path / "best.json").read_text())
    assert best["near"] == near.to_dict()
    assert not best["config"]["specialize"]


@needs_native
@pytest.mark.compile
def test_what_is_no_faster_than_the_winner_is_not_offered(recording: Path, tmp_path: Path) -> None:
    def answer(config: ExperimentConfiguration) -> ExperimentResult:
        result = off_by_one(config)
        result.exec_time = steady(config).exec_time
        return result

    outcome = tuned(recording, tmp_path, answer)
    assert outcome.near is None
    assert "acceptable" not in "\n".join(summary(outcome))
    assert "near" not in json.loads((tmp_path / "best.json").read_text())


@needs_native
@pytest.mark.compile
def test_an_offer_outlives_a_session_that_goes_on_without_new_trials(
    recording: Path, tmp_path: Path
) -> None:
    first = tuned(recording, tmp_path, off_by_one).near
    again = FakeExecutor(off_by_one)
    assert tuned(recording, tmp_path, again, resume=True).near == first
    assert not again.searched


@needs_native
@pytest.mark.compile
@pytest.mark.parametrize(("sampler", "trials"), [("exhaustive", None), ("auto", 16)])
def test_what_is_offered_is_had_by_going_on_with_the_tolerance(
    recording: Path, tmp_path: Path, sampler: str, trials: int | None
) -> None:
    tuned(recording, tmp_path, off_by_one)
    again = FakeExecutor(accepted)
    more: dict[str, Any] = {"sampler": sampler, "trials": trials, "resume": True, "seed": 1}
    more["tolerance"] = (RULE,)
    outcome = tuned(recording, tmp_path, again, **more)
    assert again.searched[0].specialize
    assert len({one.hash() for one in again.searched if one.specialize}) == 8
    assert not any(not one.specialize for one in again.searched)
    assert outcome.near is None
    assert outcome.gain is not None
    assert outcome.gain.ratio == pytest.approx(40 / 13, rel=0.01)
    # Verdicts by the same tolerance hold.
    once_more = FakeExecutor(accepted)
    assert tuned(recording, tmp_path, once_more, **more).near is None
    assert not once_more.searched


def launch(name: str) -> Target:
    return Target(
        record=SimpleNamespace(  # type: ignore[arg-type]
            kernel_name="k",
            demangled_name="void k<double>(double*)",
            path="",
            code_form="",
            loaded_form="",
            name=KernelName(demangled="void k<double>(double*)", label="", place=""),
        ),
        instance=SimpleNamespace(dynamic_hash=name),  # type: ignore[arg-type]
        weight=0.5,
    )


def near(speedup: float, tolerance: str = f"--tolerance {RULE}") -> Near:
    return Near(trial=1, speedup=speedup, max_ulp=1, tolerance=tolerance)


@pytest.fixture
def searches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Searches:
    monkeypatch.setattr(optimize_searches, "directory_name", lambda _record, launch: launch)
    result = OptimizeResult(command=["./app"], directory=tmp_path)
    options = OptimizeOptions(command=("./app", "a b"), directory=tmp_path, compare=("e (.*)",))
    return Searches(options, Profile(), result, OptimizeListener(), is_over=True)


def offer_in(searches: Searches) -> list[str]:
    return [one for one in searches._result.notes if "acceptable" in one]


def test_optimize_offers_the_most_of_a_kernel_as_a_command(searches: Searches) -> None:
    kernel = KernelResult(name="k", demangled_name="void k<double>(double*)", share=1.0)
    kernel.directories = ["results/a", "results/b"]
    searches._offer(launch("a"), kernel, near(3.5))
    searches._offer(launch("b"), kernel, near(2.0))
    (note,) = offer_in(searches)
    offer, _, command = note.partition(" acceptable: ")
    assert offer.endswith("k<double> in replays: 3.5x if 1 ULP is")
    words = shlex.split(command)
    assert words[:3] == ["mneme", "optimize", "--resume"]
    assert words[words.index("--tolerance") + 1] == RULE
    assert words[words.index("--compare") + 1] == "e (.*)"
    assert words[-3:] == ["--", "./app", "a b"]
    # A later search has found something right that is as fast.
    searches._offer(launch("a"), kernel, None)
    assert "2x if 1 ULP" in offer_in(searches)[0]
    searches._offer(launch("b"), kernel, None)
    assert not offer_in(searches)


def test_what_earlier_searches_offer_is_offered_where_nothing_is_searched_again(
    searches: Searches, tmp_path: Path
) -> None:
    best = tmp_path / "results" / "a" / "best.json"
    best.parent.mkdir(parents=True)
    best.write_text(json.dumps({"gain": no_gain().to_dict(), "near": near(3.5).to_dict()}))
    assert searches.run([launch("a")], lambda: 0.0)
    assert "3.5x if 1 ULP is acceptable" in offer_in(searches)[0]


@pytest.mark.parametrize(
    "content",
    [[], {"speedup": 2.0}, {"trial": 1, "speedup": "fast", "max_ulp": 1, "tolerance": "--x y"}],
)
def test_offers_of_another_version_are_none(content: Any) -> None:
    assert Near.found({"near": content}) is None


def test_each_suggested_rule_is_an_option_of_its_own() -> None:
    assert tolerance_options("a=f64:ulp:1 b=f32:ulp:2") == (
        "--tolerance a=f64:ulp:1 --tolerance b=f32:ulp:2"
    )


def test_a_rule_for_an_argument_without_a_name_is_no_comment_of_the_shell() -> None:
    options = tolerance_options("#0=f64:ulp:1")
    assert options == "--tolerance '#0=f64:ulp:1'"
    assert near(2.0, options).rules == ["#0=f64:ulp:1"]


@needs_native
def test_a_rule_is_for_the_launches_that_have_its_region(recording: Path) -> None:
    from mneme import _native  # noqa: PLC0415

    (record,) = Recording(recording).values()
    (instance,) = record.values()
    (address, name) = next(
        (hex(int.from_bytes(value, "little")), argument.name)
        for argument, value in zip(
            Argument.all_of(_native.record_arguments(record.path)),
            _native.Snapshot(instance.prologue.fn).args(),
            strict=True,
        )
        if argument.kind is ArgKind.POINTER
    )
    mine = [f"{name}=ulp:1", f"{address}=ulp:1", "ulp:1"]
    shared = SharedTolerances([*mine, "others=ulp:1"], [(record, instance)])
    # What nobody has is a mistake, which replays name.
    assert shared.of(record, instance) == (*mine, "others=ulp:1")
    stranger: Any = SimpleNamespace(path=Path("another"))
    assert shared.of(stranger, instance) == ("ulp:1", "others=ulp:1")
