"""Smaller recordings on a GPU: of programs of nvcc's and of mneme's, with textures and without."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from gpu import support

PAGE, MEBIBYTE = 4096, 1 << 20

pytestmark = support.only_on_gpus("the CPU device has its own test")


@pytest.fixture(scope="module", params=["nvcc", "mneme"])
def programs(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Path]:
    """The programs, with the static runtime and no IR, or with the shared runtime and IR."""
    names = ("trim_kernels", "textures")
    return {one: support.program_of(request.param, one, tmp_path_factory) for one in names}


def trimmed(program: Path, mode: str, folder: Path, *options: str) -> dict[str, Any]:
    """Record a program and trim its first launch; what is left replays exactly."""
    recording, small = folder / "recording", folder / "small"
    recorded = support.record(recording, program, mode)
    assert recorded.returncode == 0, recorded.stderr
    path, record_id = min(support.launches(recording))
    words = ("-rid", record_id, "--device", support.DEVICE, "--json", *options)
    done = support.mneme("trim", path, "-o", small, *words)
    assert done.returncode == 0, done.stderr
    result: dict[str, Any] = json.loads(done.stdout)
    replayed = support.mneme("replay", small, "--device", support.DEVICE)
    assert "verified: exact" in replayed.stderr, replayed.stderr
    assert result["undecided"] == 0
    return result


@pytest.mark.parametrize(
    ("mode", "most"), [("little", PAGE), ("chain", 14 * PAGE), ("lookup", PAGE)]
)
def test_what_is_not_read_is_left_out(
    programs: dict[str, Path], mode: str, most: int, tmp_path: Path
) -> None:
    result = trimmed(programs["trim_kernels"], mode, tmp_path, "--keep-grid")
    assert result["memory"]["before"] - result["unread"] <= most
    assert result["memory"]["after"] <= 2 * MEBIBYTE


def test_a_smaller_grid_stands_for_itself(programs: dict[str, Path], tmp_path: Path) -> None:
    result = trimmed(programs["trim_kernels"], "stencil", tmp_path)
    assert result["grid"] == {"before": [32, 64, 1], "after": [1, 1, 1]}


def test_a_launch_whose_result_varies_is_refused(programs: dict[str, Path], tmp_path: Path) -> None:
    recording = tmp_path / "recording"
    support.record(recording, programs["trim_kernels"], "unordered")
    small = ("-o", tmp_path / "small", "--device", support.DEVICE)
    done = support.mneme("trim", recording, *small)
    assert done.returncode != 0
    assert "only a launch that replays exactly can be trimmed" in done.stderr
    assert not (tmp_path / "small").exists()


@pytest.mark.parametrize("mode", ["bilinear", "layered", "linear", "pitched", "surface"])
def test_textures_and_surfaces_stay(programs: dict[str, Path], mode: str, tmp_path: Path) -> None:
    result = trimmed(programs["textures"], mode, tmp_path)
    (record,) = (tmp_path / "small").glob("[0-9]*.json")
    (launch,) = json.loads(record.read_text())["instances"].values()
    assert launch["Textures"]
    assert result["memory"]["after"] <= result["memory"]["before"]
