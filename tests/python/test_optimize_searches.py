"""How `mneme optimize` divides its time among searches; no kernel is run."""

from __future__ import annotations

import contextlib
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from mneme.cli._optimize_output import output_for
from mneme.errors import BackendUnavailable
from mneme.kernel_names import KernelName
from mneme.optimize import searches
from mneme.optimize.events import OptimizeListener
from mneme.optimize.heavy import Target
from mneme.optimize.options import OptimizeOptions
from mneme.optimize.profile import Profile
from mneme.optimize.result import NO_TIME, KernelResult, OptimizeResult
from mneme.optimize.searches import Searches


class Clock:
    """Sessions that take the time they are given, less what `ends_early` says in turn."""

    def __init__(
        self, monkeypatch: pytest.MonkeyPatch, *, status: str = "timeout", overhead: float = 4.0
    ) -> None:
        self.now = 0.0
        self.status = status
        self.overhead = overhead
        self.ratios: dict[str, list[float]] = {}
        self.ends_early: list[float] = []
        self.tuned: list[tuple[str, float]] = []
        self.hangs_after: list[tuple[float, float]] = []
        monkeypatch.setattr(searches, "TuningSession", self.session)
        monkeypatch.setattr(searches, "directory_name", lambda record, _hash: record.kernel_name)
        monkeypatch.setattr(searches.time, "monotonic", lambda: self.now)

    def session(self, options: Any, *_arguments: Any, **_keywords: Any) -> Any:
        def run() -> int:
            name = Path(options.results_dir).name
            self.tuned.append((name, round(options.timeout, 3)))
            self.hangs_after.append((options.trial_timeout, options.compile_timeout))
            taken = options.timeout - (self.ends_early.pop(0) if self.ends_early else 0.0)
            self.now += taken
            ratio = self.ratios.get(name, [1.0]).pop(0)
            gain = SimpleNamespace(ratio=ratio, low=ratio, high=ratio, rounds=6)
            session.outcome = SimpleNamespace(
                near=None,
                status=self.status,
                gain=gain,
                best=ratio > 1,
                baseline=False,
                progress=SimpleNamespace(seconds=taken - self.overhead),
            )
            return 0

        session = SimpleNamespace(run=run, error="", outcome=None)
        return session


def targets(**weights: float) -> list[Target]:
    return [
        Target(
            record=SimpleNamespace(  # type: ignore[arg-type]
                kernel_name=name,
                demangled_name=name,
                told_name=name,
                name=KernelName(demangled=name),
                path=Path("r"),
                code_form="",
                loaded_form="",
            ),
            instance=SimpleNamespace(dynamic_hash=name, recorded_ns=0),  # type: ignore[arg-type]
            weight=weight,
        )
        for name, weight in weights.items()
    ]


def search(
    clock: Clock, found: list[Target], budget: float, *, proof: float = 0.0, device: str = "cpu"
) -> OptimizeResult:
    result = OptimizeResult(command=["./app"], directory=Path("d"), device=device)
    options = OptimizeOptions(command=("./app",))
    tuner = Searches(options, Profile(), result, OptimizeListener())
    assert tuner.run(found, lambda: budget - proof - clock.now)
    if not tuner.has_found:
        assert tuner.go_on(lambda: budget - clock.now)
    return result


def test_more_kernels_than_there_is_time_for_do_not_break_the_budget(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock = Clock(monkeypatch)
    result = search(clock, targets(a=0.4, b=0.3, c=0.2, d=0.1), 20.0)
    assert [name for name, _ in clock.tuned] == ["a", "b"]
    assert clock.now == pytest.approx(20.0)
    left_out = {one.name: one.reason for one in result.kernels if not one.directories}
    assert left_out == dict.fromkeys("cd", "the budget leaves no time for it")
    # One is always tuned.
    clock = Clock(monkeypatch)
    search(clock, targets(a=0.5, b=0.5), 1.0)
    assert clock.tuned == [("a", 4.0)]


@pytest.mark.parametrize("is_pool_gone", [True, False])
def test_a_lost_cluster_alone_ends_all_searches_with_the_command_that_goes_on(
    monkeypatch: pytest.MonkeyPatch, is_pool_gone: bool
) -> None:
    made: list[Any] = []

    def lost(*_arguments: Any, **_keywords: Any) -> Any:
        facts = {"run": lambda: 6, "error": "nobody is left", "outcome": None}
        made.append(SimpleNamespace(**facts, is_pool_gone=is_pool_gone))
        return made[-1]

    Clock(monkeypatch)
    monkeypatch.setattr(searches, "TuningSession", lost)
    options = OptimizeOptions(command=("./app",), directory=Path("d"), on="dask://host:1")
    result = OptimizeResult(command=["./app"], directory=Path("d"), device="cpu")
    tuner = Searches(options, Profile(), result, OptimizeListener())
    tuner._make_executor = lambda: None
    lasts = (
        pytest.raises(BackendUnavailable, match="nothing of the cluster can measure")
        if is_pool_gone
        else contextlib.nullcontext()
    )
    with lasts:
        tuner.run(targets(a=0.7, b=0.3), lambda: 20.0)
    assert len(made) == (1 if is_pool_gone else 2)
    assert made[0].resume_with.startswith("mneme optimize --resume -o d ")


def test_searches_that_take_longer_leave_less_to_others(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(monkeypatch)
    clock.ends_early = [-0.5]
    search(clock, targets(a=0.7, b=0.3), 17.0)
    assert clock.tuned == [("a", 11.9), ("b", 4.6)]
    clock = Clock(monkeypatch)
    clock.ends_early = [-2.0]
    result = search(clock, targets(a=0.7, b=0.3), 17.0)
    assert clock.tuned == [("a", 11.9)]
    assert result.kernels[1].reason == "the budget leaves no time for it"


def test_many_kernels_get_short_searches_where_these_are_worth_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Twice as long as what a search takes besides its trials is enough."""
    alike = targets(**dict.fromkeys("abcdefghij", 0.1))
    clock = Clock(monkeypatch, overhead=0.5)
    search(clock, alike, 10.001, device="cuda:0")
    assert [name for name, _ in clock.tuned] == list("abcdef")
    assert clock.tuned[0][1] == 2.5
    assert {seconds for _, seconds in clock.tuned[1:]} == {1.5}
    clock = Clock(monkeypatch, overhead=2.0)
    search(clock, alike, 10.0, device="cuda:0")
    assert clock.tuned == [("a", 2.5), ("b", 7.5)]


def test_a_trial_that_hangs_takes_a_part_of_the_search(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for budget, launch_ns, longest in (
        (5.0, 0, 10),
        (99.2, 10**6, 20),
        (99.2, 10**9, 30),  # a launch of a second
        (500.0, 10**10, 60),
    ):
        clock = Clock(monkeypatch)
        clock.ends_early = [-1.0]
        found = targets(a=1.0)
        found[0].instance.recorded_ns = launch_ns
        search(clock, found, budget)
        assert clock.hangs_after == [(longest, longest)]


def test_time_that_is_left_goes_where_most_is_to_be_gained(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(monkeypatch)
    clock.ends_early = [10.0, 10.0]
    clock.ratios = {"a": [4.0, 4.0], "b": [1.0, 1.5]}
    result = search(clock, targets(a=0.6, b=0.4), 100.0)
    # 60 s for a, of which 10 are left; 50 for b, which leaves 10.
    assert clock.tuned == [("a", 60.0), ("b", 50.0), ("b", 10.0)]
    assert [one.share for one in result.kernels] == [0.6, 0.4]
    assert [one.directories for one in result.kernels] == [["results/a"], ["results/b"]]
    replay = result.kernels[1].replay
    assert replay is not None
    assert replay.ratio == 1.5


def test_time_that_is_left_goes_to_launches_that_had_none_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock = Clock(monkeypatch)
    clock.ends_early = [0.0, 7.0]
    result = search(clock, targets(a=0.4, b=0.3, c=0.2, d=0.1), 20.0)
    assert [name for name, _ in clock.tuned] == ["a", "b", "c"]
    assert clock.tuned[2][1] == pytest.approx(7.0)
    assert [one.name for one in result.kernels if one.reason] == ["d"]


def test_a_search_that_has_tried_everything_does_not_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(monkeypatch, status="completed")
    clock.ends_early = [90.0]
    search(clock, targets(a=1.0), 100.0)
    assert [name for name, _ in clock.tuned] == ["a"]


def test_what_a_proof_would_take_is_searched_where_there_is_nothing_to_prove(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock = Clock(monkeypatch)
    search(clock, targets(a=1.0), 100.0, proof=40.0)
    assert clock.tuned == [("a", 60.0), ("a", 40.0)]
    clock = Clock(monkeypatch)
    clock.ratios = {"a": [2.0]}
    search(clock, targets(a=1.0), 100.0, proof=40.0)
    assert clock.tuned == [("a", 60.0)]


@pytest.mark.parametrize("untried", [3, 5])
def test_kernels_without_a_search_are_told_in_a_sentence_if_they_are_many(
    untried: int, capsys: pytest.CaptureFixture[str]
) -> None:
    result = OptimizeResult(command=["./app"], directory=Path("d"), verdict="faster")
    for number in range(untried + 1):
        reason = NO_TIME if number else "nothing faster was found"
        kernel = KernelResult(name=f"k{number}", demangled_name=f"k{number}()", share=0.04)
        kernel.reason = reason
        result.kernels.append(kernel)
    output: Any = output_for(is_quiet=True)
    output.done(result)
    printed = "".join(capsys.readouterr())
    assert "nothing faster was found" in printed
    assert printed.count("the budget leaves no time for") == (untried if untried < 4 else 1)
    told = "for 5 more kernels with 20.0 % of the time in kernels, 4.0 % or less each: a longer"
    assert (told in " ".join(printed.split())) == (untried == 5)
