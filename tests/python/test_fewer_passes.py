"""Winners without the passes that do nothing for their code."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from mneme.measure.async_executor import AsyncReplayExecutor
from mneme.measure.eval_future import EvalFuture
from mneme.measure.measuring import Measuring
from mneme.mneme_types import ExperimentConfiguration, ExperimentResult
from mneme.session.fewer_passes import drop_idle_passes, least
from mneme.session.final_round import no_gain
from mneme.session.trials import Candidate, CompletedCandidate
from mneme.session.winner import Finalist, Standing
from tune_parts import recorded_launch, recording

__all__ = ["recording"]

LONG = (
    "function<eager-inv>(dce,sccp,lower-expect,bdce),ipsccp,default<O1>,globaldce,"
    "function<eager-inv>(sink,loop(loop-deletion),adce),constmerge"
)


@pytest.mark.parametrize("needed", [(0,), (99,), (3, 50), (10, 11, 12, 80), tuple(range(40, 47))])
def test_what_is_needed_stays_in_its_order(needed: tuple[int, ...]) -> None:
    asked = 0

    def are_enough(choices: Any) -> list[bool]:
        nonlocal asked
        asked += len(choices)
        return [set(needed) <= set(one) for one in choices]

    assert least(range(100), are_enough) == list(needed)
    assert asked < 700


def test_parts_that_replace_one_another_do_not_both_go() -> None:
    def are_enough(choices: Any) -> list[bool]:
        return [bool({2, 7} & set(one)) for one in choices]

    assert least(range(10), are_enough) in ([2], [7])


def test_it_stops_when_told() -> None:
    answers = itertools.chain([False, False], itertools.repeat(True))
    found = least(range(8), lambda choices: [True] * len(choices), lambda: next(answers))
    assert 0 < len(found) < 8


@pytest.fixture(params=[0, 1], ids=["workers compile", "a compiler beside them"])
def executor(
    recording: Path, tmp_path: Path, request: pytest.FixtureRequest
) -> Iterator[AsyncReplayExecutor]:
    with AsyncReplayExecutor(
        recording, None, 1, tmp_path, 1, 0, device="cpu", compile_workers=request.param
    ) as made:
        yield made


def configuration(passes: str) -> ExperimentConfiguration:
    return ExperimentConfiguration(**recorded_launch(), passes=passes)


def test_nothing_is_launched_for_what_has_to_be_known(executor: AsyncReplayExecutor) -> None:
    usual = configuration("default<O3>")
    unknown = executor.submit(usual, only_known=True).result()
    assert unknown is not None
    assert (unknown.failed, unknown.executed) == (True, False)
    assert unknown.error == "no configuration with this binary and launch was measured so far"
    assert executor.evaluate(usual).verified
    same = configuration("default<O3>,globaldce")
    known = executor.submit(same, only_known=True).result()
    assert known is not None
    assert (known.verified, known.reused) == (True, True)
    assert executor.statistics.measured == 1


def finalist_of(passes: str, trial: int = 7) -> Finalist:
    done = CompletedCandidate(
        candidate=Candidate(trial=trial, config=configuration(passes)),
        status="verified",
        result=ExperimentResult(verified=True),
        metric=100.0,
    )
    return Finalist(
        best=Standing(done=done, gain=no_gain()), same_launch=Standing(done=done, gain=no_gain())
    )


def test_a_winner_keeps_what_makes_its_code(executor: AsyncReplayExecutor) -> None:
    finalist = finalist_of(LONG)
    told = drop_idle_passes(executor, finalist, 60.0)
    found = finalist.best.done.candidate
    assert len(found.config.passes) < len(LONG) // 3
    assert re.fullmatch(r"\d of the 11 passes of the best are enough for its code", told)
    assert finalist.same_launch.done.candidate.config == found.config
    assert found.trial == 7
    assert found.config_hash == found.config.hash()
    measured = executor.statistics.measured
    images = [
        executor.evaluate(configuration(one)).image_hash for one in (found.config.passes, LONG)
    ]
    assert images[0] == images[1]
    assert measured == 1


class Compiler:
    """Code that only gvn and sccp change; every configuration takes a second of its own clock."""

    def __init__(self) -> None:
        self.now = 0.0
        self.asked: list[str] = []
        self.measured: list[str] = []

    def submit(
        self,
        config: ExperimentConfiguration,
        *,
        iterations: int | None = None,
        measuring: Measuring | None = None,
        only_known: bool = False,
    ) -> EvalFuture:
        del iterations, measuring
        (self.asked if only_known else self.measured).append(config.passes)
        self.now += 1
        image = "".join(name for name in ("gvn", "sccp") if name in config.passes)
        future = EvalFuture(len(self.asked), config)
        future.set_result(ExperimentResult(verified=True, image_hash=image))
        return future


MANY = "function(gvn,dse,adce),globaldce,function(sccp,sink)"


@pytest.mark.parametrize("trial", [7, -2], ids=["of this process", "of another process"])
def test_a_winner_in_several_roles_is_shortened_once(trial: int) -> None:
    compiler = Compiler()
    finalist = finalist_of(MANY, trial)
    finalist.same_launch = finalist.best
    told = drop_idle_passes(compiler, finalist, 60.0)
    assert told == "2 of the 6 passes of the best are enough for its code"
    assert finalist.best.done.candidate.config.passes == "function<eager-inv>(gvn,sccp)"
    assert compiler.measured == [MANY]


def test_nothing_is_begun_that_may_take_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    compiler = Compiler()
    clock = SimpleNamespace(monotonic=lambda: compiler.now)
    monkeypatch.setattr("mneme.session.fewer_passes.time", clock)
    drop_idle_passes(compiler, finalist_of(MANY), 3.5)
    # After the winner and one more, a second and a half are left; after another one, too little.
    assert (len(compiler.measured), len(compiler.asked)) == (1, 2)


@pytest.mark.parametrize("passes", ["default<O3>", "repeat<2>(globaldce)", ""])
def test_what_cannot_be_shorter_stays(executor: AsyncReplayExecutor, passes: str) -> None:
    finalist = finalist_of(passes)
    assert drop_idle_passes(executor, finalist, 60.0) == ""
    assert finalist.best.done.candidate.config.passes == passes


def test_without_time_nothing_changes(executor: AsyncReplayExecutor) -> None:
    finalist = finalist_of(LONG)
    assert drop_idle_passes(executor, finalist, 0.0) == ""
    assert finalist.best.done.candidate.config.passes == LONG


def test_the_baseline_and_other_executors_are_left_alone(executor: AsyncReplayExecutor) -> None:
    assert drop_idle_passes(executor, finalist_of(LONG, trial=-1), 60.0) == ""
    assert executor.statistics.submitted == 0

    class Foreign:
        def submit(self, config: Any) -> Any:
            raise AssertionError(config)

    assert drop_idle_passes(Foreign(), finalist_of(LONG), 60.0) == ""


def test_a_winner_outlives_its_executor(executor: AsyncReplayExecutor) -> None:
    executor.shutdown()
    finalist = finalist_of(LONG)
    assert drop_idle_passes(executor, finalist, 60.0) == ""
    assert finalist.best.done.candidate.config.passes == LONG
