"""Most of the GPU's memory taken at once: recorded and replayed for what launches use of it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from gpu import support
from gpu.support import records, run_command

pytestmark = support.BY_NVCC


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place: Path = tmp_path_factory.mktemp("arena") / "arena"
    support.compile_by_nvcc(Path(__file__).with_name("arena.cu"), place)
    return place


@pytest.mark.parametrize("percent", ["30", "45", "75"])
@pytest.mark.parametrize("way", ["alloc", "map"])
def test_an_arena_is_recorded_and_replayed(
    program: Path, tmp_path: Path, way: str, percent: str
) -> None:
    if percent != "30" and "PYTEST_XDIST_WORKER" in os.environ:
        pytest.skip("other workers take memory of this device meanwhile")
    alone = run_command(program, way, percent)
    assert alone.returncode == 0, alone.stdout + alone.stderr
    done = support.record(tmp_path, program, way, percent)
    assert (done.returncode, done.stdout) == (0, alone.stdout), done.stderr
    assert "recorded 1 instance of 1 kernel (3 launches)" in done.stderr
    assert "may not be granted" not in done.stderr
    assert len(records(tmp_path)) == 1
    # What is stored is what was used, and hashes.
    assert sum(file.stat().st_size for file in tmp_path.rglob("*")) < 64 << 20
    (launch,) = support.launches(tmp_path)
    replayed = support.replay(*launch)
    assert replayed.result["result_class"] == "exact", replayed.stderr
