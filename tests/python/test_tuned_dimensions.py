"""What tune says of a winner with other dimensions: how they were checked, and what takes them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from mneme.cli._tune_output import PlainOutput, summary
from mneme.mneme_types import ExperimentConfiguration, ExperimentResult, dim3
from mneme.session.events import Outcome, Summary
from mneme.session.final_round import Gain
from mneme.session.trials import Candidate, CompletedCandidate


def completed(trial: int, block: int, metric: float) -> CompletedCandidate:
    config = ExperimentConfiguration(grid=dim3(4096 // block), block=dim3(block))
    return CompletedCandidate(
        candidate=Candidate(trial=trial, params={}, config=config),
        result=ExperimentResult(verified=True, executed=True, device="cpu"),
        status="verified",
        metric=metric,
        baseline_metric=4000.0,
    )


def outcome(block: int, *, significant: bool = True, **details: Any) -> Outcome:
    gain = Gain(
        ratio=2.0,
        low=1.9,
        high=2.1,
        replayed_low=1.95,
        replayed_high=2.05,
        significant=significant,
        rounds=12,
    )
    return Outcome(
        status="completed",
        directory=Path("results"),
        baseline=completed(-1, 64, 4000.0),
        best=completed(3, block, 2000.0),
        gain=gain,
        tuned_file=Path("results/proteus_tuned_kernels.json"),
        details=details,
    )


def test_dimensions_are_taken_by_one_option_that_is_named() -> None:
    tried = [{"verified": True}, {"verified": True}, {"verified": False}]
    lines = summary(outcome(128, launch_rule="cover", launches_tried=tried))
    assert (
        "the other dimensions were checked on the recorded launch, and 2 more launches by replays "
        "(rule: cover): --launch takes them, and --measure -- PROGRAM proves them in the program; "
        "'proteus_tuned_kernels.json' keeps the program's"
    ) in lines
    assert lines[-1] == "use them:     mneme deploy results -o tuned.json --launch"


def test_what_another_objective_came_to_is_told_and_no_file_is_offered_for_it() -> None:
    values = {"code-size": [2912.0, 2592.0], "registers": [None, 32.0]}
    lines = summary(outcome(64, significant=False, values=values))
    assert "code-size: 2912 -> 2592" in lines
    assert "registers: unknown -> 32" in lines
    assert lines[-1] == "look at them: mneme report results"
    assert "use them" in summary(outcome(64, values=values))[-1]


def test_gain_that_only_replays_show_is_measured_with_them() -> None:
    lines = summary(outcome(128, significant=False))
    assert lines[-1].strip() == (
        "mneme deploy results -o tuned.json --launch --measure -- PROGRAM [ARGUMENTS]..."
    )


@pytest.mark.parametrize("significant", [True, False])
def test_recorded_dimensions_need_no_word(significant: bool) -> None:
    assert "--launch" not in "\n".join(summary(outcome(64, significant=significant)))


@pytest.mark.parametrize(
    ("count", "end"),
    [
        (0, ""),
        (
            2,
            (
                "; other dimensions, which it leaves out, are best for 2: mneme deploy results "
                "-o tuned.json --launch"
            ),
        ),
    ],
)
def test_file_of_all_launches_says_how_many_are_better_with_other_dimensions(
    count: int, end: str, capsys: pytest.CaptureFixture[str]
) -> None:
    told = Summary(directory=Path("results"), instances=[], tuned_file=Path("tuned.json"))
    told.launched_otherwise = count
    PlainOutput().finished_all(told)
    assert capsys.readouterr().err == f"mneme: tuned kernels: tuned.json{end}\n"
