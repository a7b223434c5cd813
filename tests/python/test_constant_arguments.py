"""Arguments that are others in every launch become no constants where nobody asks for it."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from mneme.recording.recorded_execution import RecordedExecution
from mneme.session.constant_arguments import (
    with_constant_arguments,
    with_deployable_dimensions,
)
from mneme.session.options import TuneOptions
from native_parts import needs_native
from tune_parts import command

pytestmark = needs_native
PROGRAM = Path(os.environ.get("MNEME_BUILD_DIR", "build")) / "examples" / "spmv_cg"
DEFAULT = TuneOptions(record_database="unused")


@pytest.fixture(scope="module")
def recordings(tmp_path_factory: pytest.TempPathFactory) -> dict[int, Path]:
    """One recording with one launch of each kernel, one with several."""
    found = {}
    for count in (1, 3):
        found[count] = tmp_path_factory.mktemp(f"recording-{count}")
        line = ("record", "-rdb", found[count], "-mr", str(count), "--device", "cpu", "--", PROGRAM)
        done = command(*line)
        assert done.returncode == 0, done.stderr
    return found


def record_of(recording: Path, kernel: str) -> RecordedExecution:
    """axpby(n, alpha, x, beta, y) has other numbers in each step, spmv the same."""
    (found,) = (
        record
        for file in recording.glob("[0-9]*.json")
        if kernel in (record := RecordedExecution.from_json(file)).demangled_name
    )
    return found


def of_so_many(record: RecordedExecution, launches: int) -> RecordedExecution:
    """The record of a kernel that was launched so many times."""
    content = json.loads(record.path.read_text())
    content["Launches"] = launches
    content.pop("Checksum", None)
    copy = record.path.with_name(f"of-{launches}.json")
    copy.write_text(json.dumps(content))
    return RecordedExecution.from_json(copy)


def decided(record: RecordedExecution, options: TuneOptions = DEFAULT) -> tuple[TuneOptions, str]:
    return with_constant_arguments(options, record, next(iter(record.values())))


def test_what_several_launches_have_in_common_may_become_constant(
    recordings: dict[int, Path],
) -> None:
    options, told = decided(record_of(recordings[3], "axpby"))
    assert options == replace(DEFAULT, specialized_args="0")
    assert "only 0 (n) may become constants" in told


def test_arguments_without_names_have_numbers(recordings: dict[int, Path]) -> None:
    record = record_of(recordings[3], "axpby")
    for one in record.values():
        one.constant_names = {}
    assert "only 0 may become constants" in decided(record)[1]


def test_dimensions_that_production_runs_never_use_are_not_searched(
    recordings: dict[int, Path],
) -> None:
    record = record_of(recordings[3], "spmv")
    assert with_deployable_dimensions(DEFAULT, record) == (DEFAULT, "")
    record.llvm_files.append("other.bc")
    options, told = with_deployable_dimensions(DEFAULT, record)
    assert options == replace(DEFAULT, launch_dim="none")
    assert "linked with code of other units" in told
    asked = replace(DEFAULT, launch_dim="xy")
    assert with_deployable_dimensions(asked, record) == (asked, "")


def test_of_a_launch_that_came_once_nothing_is_known(recordings: dict[int, Path]) -> None:
    options, told = decided(record_of(recordings[1], "axpby"))
    assert options == replace(DEFAULT, specialize_space="off")
    assert "occurs once in 150" in told
    assert "--per-kernel-max-recordings" in told


@pytest.mark.parametrize("count", [1, 3])
def test_launches_that_come_again_keep_their_constants(
    recordings: dict[int, Path], count: int
) -> None:
    assert decided(record_of(recordings[count], "spmv")) == (DEFAULT, "")


@pytest.mark.parametrize(
    "asked", [{"specialize_space": "on-off"}, {"specialized_args": "0,1"}, {"space_module": "m:C"}]
)
def test_what_is_asked_for_counts(recordings: dict[int, Path], asked: dict[str, str]) -> None:
    options = replace(DEFAULT, **asked)  # type: ignore[arg-type]
    assert decided(record_of(recordings[3], "axpby"), options) == (options, "")


def test_where_all_launches_are_recorded_each_may_be_tuned_for_itself(
    recordings: dict[int, Path],
) -> None:
    record = record_of(recordings[3], "axpby")
    assert decided(of_so_many(record, len(record))) == (DEFAULT, "")


def test_one_launch_that_came_again_is_enough(recordings: dict[int, Path]) -> None:
    record = record_of(recordings[1], "spmv")
    assert decided(of_so_many(record, 1000)) == (DEFAULT, "")


def test_a_session_says_so(recordings: dict[int, Path], tmp_path: Path) -> None:
    record = record_of(recordings[3], "axpby")
    line = ("tune", "-rdb", record.path, "-rid", next(iter(record)), "--device", "cpu")
    done = command(*line, "--trials", "1", "--launch-dim", "none", "--results-dir", tmp_path / "r")
    assert done.returncode == 0, done.stderr
    assert "only 0 (n) may become constants" in done.stderr
    space = json.loads((tmp_path / "r" / "search_space.json").read_text())
    assert "specialized_args" in space["dimensions"]
