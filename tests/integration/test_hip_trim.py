"""Trimming on the device hip:0, through a stand-in for AMD's runtime."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from test_hip import build, hip, hip_recordings, programs  # noqa: F401 - fixtures
from test_hip_device import Recordings, on_gpu, stand_in  # noqa: F401 - one is a fixture

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.hip, pytest.mark.compile]


def test_a_trimmed_recording_replays_there(
    hip_recordings: Recordings,  # noqa: F811
    tmp_path: Path,
) -> None:
    small = tmp_path / "small"
    done = on_gpu("trim", hip_recordings["nbody"][0], "-o", small, "--json")
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert 0 < result["unread"] < result["memory"]["before"]
    assert result["grid"]["after"] == [1, 1, 1]
    for passes in ("default<O3>", "default<O0>"):
        assert on_gpu("replay", small, passes).result["result_class"] == "exact"
