"""Recording under MPI: which ranks record, started with a real mpiexec."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest
from conftest import example, instances, records, run_command


def record_with_ranks(directory: Path, *options: str) -> str:
    """Run two ranks of vector_add, each under `mneme record`; returns stderr."""
    mpiexec = shutil.which("mpiexec")
    assert mpiexec, "mpiexec is missing: scripts/test installs mpich"
    done = run_command(
        mpiexec, "-n", "2", sys.executable, "-m", "mneme", "record", "-rdb", directory, *options,
        "--device", "cpu", "--", example("vector_add"), "1000",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("PASSED") == 2
    return done.stderr


@pytest.mark.parametrize(
    ("options", "recording", "said"),
    [
        ((), 1, "rank 1 and others are not recorded: --record-ranks is '0'"),
        (("-rr", "1"), 1, "rank 0 and others are not recorded: --record-ranks is '1'"),
        (("-rr", "all"), 2, ""),
        (
            ("-rr", "5-7"),
            0,
            "no rank is recorded: --record-ranks is '5-7', and the ranks are 0 to 1",
        ),
    ],
)
def test_only_chosen_ranks_record(
    options: tuple[str, ...], recording: int, said: str, tmp_path: Path
) -> None:
    stderr = record_with_ranks(tmp_path, *options)
    assert said in stderr
    assert ("--record-ranks" in stderr) == bool(said)
    assert stderr.count("recorded 1 instance") == recording
    assert len(records(tmp_path)) == min(recording, 1)
    for record in records(tmp_path):
        assert len(instances(record)) == 1
