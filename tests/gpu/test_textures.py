"""Textures, surfaces and arrays of a GPU: recorded with their content, replayed exactly."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gpu import support

# Objects of the launch with the most.
OBJECTS = {
    "bilinear": 1,
    "bytes": 1,
    "colours": 1,
    "constant": 2,
    "gone": 1,
    "layered": 1,
    "level": 2,
    "linear": 1,
    "many": 10,
    "memory": 2,
    "mipmaps": 1,
    "number": 2,
    "own": 1,
    "pitched": 1,
    "row": 1,
    "struct": 1,
    "surface": 1,
    "surfaces": 2,
    "volume": 1,
}

pytestmark = support.only_on_gpus("the CPU device has its own test")


@pytest.fixture(scope="module", params=["nvcc", "mneme"])
def program(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return support.program_of(request.param, "textures", tmp_path_factory)


@pytest.mark.parametrize("mode", sorted(OBJECTS))
def test_every_launch_replays_exactly(program: Path, mode: str, tmp_path: Path) -> None:
    alone = support.run(program, mode)
    assert alone.returncode == 0, alone.stdout + alone.stderr
    done = support.record(tmp_path, program, mode)
    assert (done.returncode, done.stdout) == (0, alone.stdout), done.stderr
    assert "a recording does not hold" not in done.stderr
    seen = 0
    for path, record_id in support.launches(tmp_path):
        launch = json.loads(path.read_text())["instances"][record_id]
        seen = max(seen, len(launch["Textures"]))
        replayed = support.mneme(
            *("replay", "-rdb", path, "-rid", record_id, "--device", support.DEVICE),
            *("-it", "4", "--warmup", "1"),
        )
        assert replayed.result["result_class"] == "exact", replayed.stderr
        assert replayed.result["unrecorded_reads"] == []
        assert "not recorded" not in support.mneme("show", path).stdout
    assert seen == OBJECTS[mode]


def test_a_wrong_surface_is_found(program: Path, tmp_path: Path) -> None:
    """What a kernel leaves in an array is compared: smaller blocks leave some of it undone."""
    done = support.record(tmp_path, program, "surface")
    assert done.returncode == 0, done.stderr
    path, record_id = next(support.launches(tmp_path))
    replayed = support.replay(path, record_id, "--block-dim-x", "12")
    assert replayed.result["result_class"] == "wrong", replayed.stderr
    regions = [one["region"] for one in replayed.result["mismatches"]]
    assert len(regions) == 2, regions
    assert any(region.startswith("array at ") for region in regions), regions
    assert replayed.result["unrecorded_reads"] == []
