"""What the last lines of `mneme tune` say a winner has other than the baseline."""

from __future__ import annotations

from dataclasses import replace

from mneme.cli._tune_output import differences
from mneme.mneme_types import ExperimentConfiguration, ExperimentResult, dim3
from mneme.session.trials import Candidate, CompletedCandidate


def completed(config: ExperimentConfiguration) -> CompletedCandidate:
    return CompletedCandidate(
        candidate=Candidate(trial=0, config=config),
        status="verified",
        result=ExperimentResult(),
        metric=1.0,
    )


def test_what_is_equal_is_not_told_and_long_pipelines_are_cut() -> None:
    usual = ExperimentConfiguration(grid=dim3(4, 1, 1), block=dim3(64, 1, 1), passes="default<O3>")
    long = ",".join(["default<O0>", *["function(gvn)"] * 100])
    told = differences(completed(usual), completed(replace(usual, passes=long, specialize=True)))
    assert told[0] == "specialize: false -> true"
    assert told[1].startswith("passes: default<O3> -> default<O0>,function(gvn),")
    assert told[1].endswith("... (all of it: best.json)")
    assert len(told) == 2
    assert len(told[1]) < 260


def test_what_only_one_of_them_says_is_told() -> None:
    usual = ExperimentConfiguration(grid=dim3(4, 1, 1), block=dim3(64, 1, 1))
    best = replace(usual, grid=dim3(8, 1, 1), max_registers=64, specialized_args="0,2")
    changes = ["max_registers: 0 -> 64", "grid: 4x1x1 -> 8x1x1", "specialized_args: all -> 0,2"]
    assert differences(completed(usual), completed(best)) == changes
    back = [" -> ".join(reversed(text.split(": ")[1].split(" -> "))) for text in changes]
    told = differences(completed(best), completed(usual))
    assert [text.split(": ")[1] for text in told] == back
