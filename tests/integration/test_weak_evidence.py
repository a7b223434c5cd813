"""Recorded launches whose result does not show whether a replay of other code is right."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from conftest import BUILD, ROOT, mneme, run_command

from mneme.recording.launch_facts import (
    launch_facts,
    leaves_changes,
    sees_few_values,
    unchanging_arguments,
)
from mneme.recording.recorded_execution import RecordedExecution

pytestmark = pytest.mark.compile


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a program whose first launches change next to nothing, its last ones nothing."""
    path = tmp_path_factory.mktemp("frontier") / "frontier"
    source = ROOT / "tests/apps/optimize/frontier.cu"
    options = ["-O2", "-x", "cuda", "--offload-arch=sm_90", source, "-o", path, "-lcudart"]
    done = run_command(BUILD / "bin" / "mneme-cxx", *options)
    assert done.returncode == 0, done.stderr
    return path


def record(
    program: Path, folder: Path, first: int, launches: int = 1, skipped: int = 0
) -> RecordedExecution:
    options = ("--device", "cpu", "-rdb", folder, "-mr", str(launches), "-sr", str(skipped))
    done = mneme("record", *options, "--", program, str(first))
    assert done.returncode == 0, done.stderr
    (path,) = folder.glob("[0-9]*.json")
    return RecordedExecution.from_json(path)


def tuned(recorded: RecordedExecution, folder: Path) -> tuple[str, list[dict[str, Any]]]:
    """Return what a search says, and what it tried."""
    results = folder / "results"
    options = ("--device", "cpu", "--trials", "30", "--seed", "1", "--no-knowledge")
    done = mneme("tune", "-rdb", recorded.path, "--results-dir", results, *options)
    lines = (results / "trials.jsonl").read_text().splitlines()
    return done.stderr, [json.loads(line)["config"] for line in lines]


def test_a_launch_that_hardly_changes_anything_keeps_its_blocks(
    program: Path, tmp_path: Path
) -> None:
    recorded = record(program, tmp_path / "db", first=1)
    (instance,) = recorded.values()
    assert leaves_changes(instance)
    said, tried = tuned(recorded, tmp_path)
    assert "does not show what all of its blocks do" in said
    assert {(one["grid"]["x"], one["block"]["x"]) for one in tried} == {(256, 256)}


def test_a_launch_that_changes_nothing_is_named(program: Path, tmp_path: Path) -> None:
    recorded = record(program, tmp_path / "db", first=1000)
    (instance,) = recorded.values()
    assert not leaves_changes(instance)
    said, tried = tuned(recorded, tmp_path)
    assert "left memory as it was" in said
    assert {(one["grid"]["x"], one["block"]["x"]) for one in tried} == {(256, 256)}
    replayed = mneme("replay", "--device", "cpu", "-rdb", recorded.path, "default<O2>")
    assert replayed.returncode == 0
    assert "left memory as it was" in replayed.stderr


def test_arguments_that_stay_as_they_are_are_known(program: Path, tmp_path: Path) -> None:
    recorded = record(program, tmp_path / "db", first=1, launches=3)
    assert len(recorded) == 3
    assert unchanging_arguments(recorded, recorded.values()) == ("1",)
    (one, *_) = recorded.values()
    assert unchanging_arguments(recorded, [one]) == ("1", "2")


def test_launches_that_are_all_alike_can_be_skipped(tmp_path: Path) -> None:
    program = tmp_path / "from_zeros"
    source = ROOT / "tests/apps/optimize/from_zeros.cu"
    options = ["-O2", "-x", "cuda", "--offload-arch=sm_90", source, "-o", program, "-lcudart"]
    assert run_command(BUILD / "bin" / "mneme-cxx", *options).returncode == 0
    recordings = [record(program, tmp_path / str(n), first=0, skipped=n) for n in (0, 100)]
    first, late = (one for recording in recordings for one in recording.values())
    assert (first.occ, late.occ) == (200, 200)
    # Heat has come everywhere by then.
    assert sees_few_values(first)
    assert not sees_few_values(late)


def test_recording_begins_behind_so_many_launches_of_some_dimensions(
    program: Path, tmp_path: Path
) -> None:
    options = ("--device", "cpu", "-rdb", tmp_path / "db", "--dims", "256/256@10")
    assert mneme("record", *options, "--", program, "1").returncode == 0
    (path,) = (tmp_path / "db").glob("[0-9]*.json")
    launches = RecordedExecution.from_json(path)
    steps = {launch_facts(path, one)["args"][-1]["value"] for one in launches}
    assert steps == {11, 12, 13, 14}
