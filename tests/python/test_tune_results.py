"""The results directory: nothing that finished is lost."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from mneme.errors import ArtifactCorrupt, InvalidArgument, IoFailed
from mneme.mneme_types import ExperimentConfiguration
from mneme.session.result_store import ResultStore, read_trials
from mneme.session.trials import Candidate, CompletedCandidate, classify_result, metric_value
from tune_parts import measured


def trial(number: int) -> CompletedCandidate:
    config = ExperimentConfiguration(codegen_opt=number % 4, min_blocks_per_sm=number)
    return CompletedCandidate(
        candidate=Candidate(trial=number, config=config, params={"n": number}),
        status="verified",
        result=measured(config, [10, 20, 30]),
        metric=20.0,
        baseline_metric=40.0,
    )


def test_a_trial_is_one_line_with_sorted_keys(tmp_path: Path) -> None:
    with ResultStore(tmp_path / "results") as store:
        store.open()
        store.append(trial(3))
        (line,) = (tmp_path / "results" / "trials.jsonl").read_text().splitlines()
    data = json.loads(line)
    assert list(data) == sorted(data)
    assert {"trial", "status", "config_hash", "params", "config", "result"} <= set(data)
    assert (data["metric"], data["result"]["metric"], data["speedup"]) == (20.0, 20.0, 2.0)
    assert data["config_hash"] == trial(3).candidate.config.hash()


def test_a_torn_last_line_is_ignored_and_costs_nothing_else(tmp_path: Path) -> None:
    with ResultStore(tmp_path) as store:
        store.open()
        store.append(trial(0))
        store.append(trial(1))
    path = tmp_path / "trials.jsonl"
    path.write_bytes(path.read_bytes()[:-20])
    with ResultStore(tmp_path) as store:
        store.open(resume=True)
        assert [one.candidate.trial for one in store.trials()] == [0]
        store.append(trial(2))
    assert [one.candidate.trial for one in read_trials(tmp_path)] == [0, 2]


def test_a_full_disk_loses_no_trial(tmp_path: Path) -> None:
    (tmp_path / "trials.jsonl").symlink_to("/dev/full")
    with ResultStore(tmp_path) as store:
        store.open(resume=True)
        store.append(trial(0))
        assert "No space left" in store.problem
        store.append(trial(1))
        assert store.unwritten == 2
        # There is room again.
        room = os.open(tmp_path / "room.jsonl", os.O_RDWR | os.O_CREAT | os.O_APPEND)
        os.dup2(room, store._trials)
        os.close(room)
        store.append(trial(2))
        assert (store.problem, store.unwritten) == ("", 0)
    (tmp_path / "room.jsonl").rename(tmp_path / "trials.jsonl")
    assert [one.candidate.trial for one in read_trials(tmp_path)] == [0, 1, 2]


def test_trials_of_an_earlier_run_are_not_overwritten(tmp_path: Path) -> None:
    with ResultStore(tmp_path) as store:
        store.open()
        store.append(trial(0))
    with pytest.raises(InvalidArgument, match="add --resume"):
        ResultStore(tmp_path).open()


def test_two_sessions_do_not_share_a_directory(tmp_path: Path) -> None:
    with ResultStore(tmp_path) as store:
        store.open()
        with pytest.raises(InvalidArgument, match="another 'mneme tune' writes to"):
            ResultStore(tmp_path).open(resume=True)
    ResultStore(tmp_path).open(resume=True)


def test_files_are_replaced_whole_or_not_at_all(tmp_path: Path) -> None:
    store = ResultStore(tmp_path)
    store.write("best.json", {"a": 1})
    with pytest.raises(IoFailed, match=r"cannot write .*summary\.json"):
        ResultStore(tmp_path / "best.json").write("summary.json", {})
    assert store.read("best.json") == {"a": 1}
    (tmp_path / "best.json").write_text("{")
    with pytest.raises(
        ArtifactCorrupt, match=r"best\.json' is not a JSON file.*; remove it to go on"
    ):
        store.read("best.json")


def test_what_cannot_be_read_is_not_called_damaged(tmp_path: Path) -> None:
    for name in ("best.json", "trials.jsonl"):
        (tmp_path / name).symlink_to(name)
    with pytest.raises(IoFailed, match=r"cannot read .*best\.json"):
        ResultStore(tmp_path).read("best.json")
    with pytest.raises(IoFailed, match=r"cannot read .*trials\.jsonl"):
        read_trials(tmp_path)


def test_a_directory_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(IoFailed, match="cannot write to the results directory"):
        ResultStore(tmp_path / "file").open()


@pytest.mark.parametrize(
    ("metric", "expected"), [("mean", 20.0), ("median", 15.0), ("min", 5.0), ("max", 45.0)]
)
def test_the_metric_leaves_warm_ups_out(metric: str, expected: float) -> None:
    result = measured(ExperimentConfiguration(), [5, 15, 45, 15])
    assert metric_value(result, metric) == expected
    result.iterations_used = 0
    assert metric_value(result, metric, iterations=4) == expected


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (
            "block (2048, 1, 1) is impossible: every dimension must be from 1 to ...",
            "invalid_launch",
        ),
        ("the launch needs 0 static and 9 dynamic bytes of shared memory; ...", "invalid_launch"),
        (
            "block (512, 1, 1) has 512 threads, but kernel 'k' runs with at most 256",
            "invalid_launch",
        ),
        ("invalid pass pipeline 'x': unknown pass name 'x'", "invalid_config"),
        ("the launch bounds allow 8 threads but the block has 256; ...", "invalid_config"),
        ("the code generation level is 9; it must be 0 to 3", "invalid_config"),
        ("code generation failed: unsupported", "compile_error"),
        ("compiling took longer than 60 s", "compile_error"),
        ("Worker crashed (exit code: -11) running on device cpu", "runtime_error"),
        ("the kernel ran longer than 60 s", "runtime_error"),
    ],
)
def test_failures_are_told_apart_by_their_sentence(error: str, status: str) -> None:
    result = measured(ExperimentConfiguration(), [])
    result.verified, result.executed, result.failed, result.error = False, False, True, error
    result.image_hash, result.obj_size = "", 0
    assert classify_result(result) == status


def test_other_memory_is_a_failed_verification() -> None:
    result = measured(ExperimentConfiguration(), [5])
    result.verified = False
    assert classify_result(result) == "failed_verification"
    assert classify_result(measured(ExperimentConfiguration(), [5])) == "verified"
