"""A recording of many kernels whose launches build on those of others, on the CPU device."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from conftest import BUILD, instances, mneme, records

from mneme import _native

if TYPE_CHECKING:
    from pathlib import Path

PROGRAM = BUILD / "tests" / "apps" / "api" / "many_kernels"
KERNELS, LAUNCHES = 50, 8
# What a snapshot may need (runtime/core/artifact/needed_files.h).
MOST_FILES = 128

pytestmark = pytest.mark.skipif(
    not PROGRAM.is_file(), reason="tests/apps/api is not built: no CUDA toolkit"
)


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("many_kernels")
    done = mneme(
        "record", "-rdb", directory, "-mr", str(LAUNCHES), "--device", "cpu", "--", PROGRAM
    )
    assert done.stdout == "many_kernels: ok\n", done.stdout + done.stderr
    assert len(records(directory)) == KERNELS
    return directory


def test_every_instance_is_complete(recording: Path) -> None:
    for record in records(recording):
        described = json.loads(record.read_text())["instances"]
        assert len(described) == LAUNCHES
        for one in described.values():
            for name in (one["Prologue"], one["Epilogue"]):
                snapshot = _native.Snapshot(recording / name)
                assert len(snapshot.needed_files()) <= MOST_FILES
                snapshot.verify()


def test_instances_replay(recording: Path) -> None:
    for record in records(recording)[::25]:
        done = mneme("replay", "-rdb", record, "-rid", instances(record)[-1], "--device", "cpu")
        assert done.returncode == 0, done.stderr
        assert done.result["verified"]


def test_show_tells_how_many_files_an_instance_needs(recording: Path) -> None:
    record = records(recording)[-1]
    shown = json.loads(mneme("show", "--json", record).stdout)
    counts = [len(one["needed_files"]) for one in shown["instances"]]
    assert all(2 <= count <= 2 * MOST_FILES for count in counts)
    assert max(counts) > 2
    table = mneme("show", record).stdout
    assert f"needs {counts[0]} files" in table


def test_a_copied_record_needs_no_others(recording: Path, tmp_path: Path) -> None:
    record = records(recording)[-1]
    done = mneme("copy", record, tmp_path)
    assert done.returncode == 0, done.stderr
    assert len(list(tmp_path.iterdir())) < len(list(recording.iterdir()))
    done = mneme(
        "replay", "-rdb", tmp_path / record.name, "-rid", instances(record)[0], "--device", "cpu"
    )
    assert done.returncode == 0, done.stderr
