"""Kernels that use textures, surfaces and tensor cores are recorded and replay on the CPU device."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import BUILD, mneme, replay_all

APPS = BUILD / "tests" / "apps" / "api"
PROGRAMS = ("matrices", "textures")

pytestmark = pytest.mark.skipif(
    not all((APPS / name).is_file() for name in PROGRAMS),
    reason="tests/apps/api is not built: no CUDA toolkit",
)


@pytest.mark.parametrize("program", PROGRAMS)
def test_every_launch_replays_exactly(program: str, tmp_path: Path) -> None:
    done = mneme("record", "-rdb", tmp_path, "-mr", "2", "--device", "cpu", "--", APPS / program)
    assert done.stdout == f"{program}: ok\n", done.stdout + done.stderr
    assert "not recorded" not in done.stderr
    unsupported = "cubemap arrays are not supported on the CPU device" in done.stderr
    assert unsupported == (program == "textures")
    found = replay_all(tmp_path, "default<O3>")
    assert found
    assert [one for one in found if one.result_class != "exact"] == []
