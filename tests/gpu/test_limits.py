"""Limits of contexts that a program sets: recorded, and set again where a launch is replayed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gpu import support

SOURCE = Path(__file__).resolve().with_name("limits.cu")
# By mode: what stands in the record, and what `show` says.
LIMITS = {
    "stack": ("Stack", 64 << 10, "limits set: a stack of "),
    "heap": ("Heap", 256 << 20, "limits set: a heap of "),
}

pytestmark = [support.only_on_gpus("the CPU device has other limits"), support.needs_nvcc]


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place: Path = tmp_path_factory.mktemp("limits") / "limits"
    support.compile_by_nvcc(SOURCE, place)
    return place


@pytest.mark.parametrize("mode", sorted(LIMITS))
def test_a_replay_has_what_the_program_had_set(program: Path, mode: str, tmp_path: Path) -> None:
    alone = support.run(program, mode)
    assert alone.returncode == 0, alone.stdout + alone.stderr
    done = support.record(tmp_path, program, mode)
    assert (done.returncode, done.stdout) == (0, alone.stdout), done.stderr
    ((path, record_id),) = support.launches(tmp_path)
    field, least, words = LIMITS[mode]
    limits = json.loads(path.read_text())["instances"][record_id]["Limits"]
    assert set(limits) == {field}
    assert limits[field] >= least
    assert words in support.mneme("show", path).stdout
    replayed = support.replay(path, record_id)
    assert replayed.result["result_class"] == "exact", replayed.stdout + replayed.stderr
