"""Tuned kernels whose code has no IR and is loaded by the program, on the CPU device."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from conftest import instances, made_once, mneme, records
from test_without_ir_runs import _make, pytestmark  # noqa: F401
from without_ir_parts import SUMS, write_tuned

OWN = "[kernel-trace] scale <<<8x1x1, 128x1x1, 0>>> on device 0: "
TUNED = OWN + "variant 0, fits this launch, launched <<<16x1x1, 64x1x1>>>"


@pytest.fixture(scope="module")
def made() -> Path:
    return made_once("without_ir", _make)


def _launch(recording: Path, occurrences: int) -> tuple[Path, str]:
    """The record, and the launch that was made so often: the first twice, the second once."""
    (record,) = records(recording)
    instances = json.loads(record.read_text())["instances"]
    return record, next(key for key, one in instances.items() if one["Occurrences"] == occurrences)


def _run(made: Path, tuned: Path, image: str = "scale.cpu", **environment: Any) -> Any:
    return mneme(
        *("run", "--device", "cpu", "--", made / "loader", made / image),
        PROTEUS_TUNED_KERNELS=str(tuned),
        PROTEUS_TRACE_OUTPUT="kernel-trace",
        **environment,
    )


def _traced(stderr: str) -> list[str]:
    return [line.removeprefix("mneme: ") for line in stderr.splitlines() if "[kernel" in line]


def test_launches_like_the_tuned_one_get_its_dimensions(made: Path, tmp_path: Path) -> None:
    tuned = write_tuned(tmp_path / "tuned.json", *_launch(made / "db", 2), "cpu", rule="exact")
    done = _run(made, tuned)
    assert (done.returncode, done.stdout) == (0, SUMS), done.stderr
    # The memory is elsewhere in each run; the third launch has another number.
    assert _traced(done.stderr) == [TUNED, OWN + "runs as built"]
    assert len(done.stderr.splitlines()) == 2, done.stderr


def test_other_code_and_arguments_run_as_built(made: Path, tmp_path: Path) -> None:
    unused = "mneme: tuned kernel 'scale' was not used: no launch of it had the code and"
    tuned = write_tuned(tmp_path / "tuned.json", *_launch(made / "db", 2), "cpu", rule="exact")
    content = json.loads(tuned.read_text())
    (variant,) = content["scale"]["Mneme"]["Variants"]
    assert [one.get("Pointers") for one in variant["Match"]["Args"]] == [[0, 8], None, None]
    for changes, told in (
        ({"StaticHash": "0" * 16}, unused),
        ({"Guards": ["Arch", "Grid"], "Match": {**variant["Match"], "GridDim": {"x": 9}}}, unused),
        ({"Match": {**variant["Match"], "Args": []}}, "the file has arguments of other sizes"),
        ({"Match": {**variant["Match"], "Arch": "sm_90"}}, unused),
    ):
        content["scale"]["Mneme"]["Variants"] = [{**variant, **changes}]
        tuned.write_text(json.dumps(content))
        done = _run(made, tuned)
        assert (done.returncode, done.stdout) == (0, SUMS), done.stderr
        assert told in done.stderr
        assert "launched" not in done.stderr
    assert _run(made, tuned, PROTEUS_DISABLE="1").stderr == ""


def test_other_programs_and_files_are_as_before(made: Path, tmp_path: Path) -> None:
    tuned = write_tuned(tmp_path / "tuned.json", *_launch(made / "db", 1), "cpu", rule="exact")
    # Code with IR, of the same kernel.
    done = _run(made, tuned, "kernel.cubin")
    assert (done.returncode, done.stdout) == (0, SUMS), done.stderr
    assert _traced(done.stderr) == []
    command = (sys.executable, "-c", "print(17)")
    done = mneme("run", "--device", "cpu", "--", *command, PROTEUS_TUNED_KERNELS=str(tuned))
    assert (done.stdout, done.stderr) == ("17\n", "")
    check = mneme("deploy", "--check", tuned, made / "loader")
    assert check.returncode == 0, check.stderr
    assert "loaded while the program runs" in check.stdout + check.stderr


def test_a_recorded_run_is_not_tuned(made: Path, tmp_path: Path) -> None:
    tuned = write_tuned(tmp_path / "tuned.json", *_launch(made / "db", 2), "cpu", rule="exact")
    done = mneme(
        *("record", "-rdb", tmp_path / "db", "--device", "cpu", "--", made / "loader"),
        made / "scale.cpu",
        PROTEUS_TUNED_KERNELS=str(tuned),
    )
    assert (done.returncode, done.stdout) == (0, SUMS), done.stderr
    assert [set(instances(one)) for one in records(tmp_path / "db")] == [
        set(instances(one)) for one in records(made / "db")
    ]
