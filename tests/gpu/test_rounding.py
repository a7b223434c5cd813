"""Replays of kernels that were not changed round as the program did, whatever its floating-point flags."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpu import support
from gpu.test_programs import check_recording_changes_nothing, named, programs


@pytest.mark.parametrize("program", programs("rounding"), ids=named)
def test_replays_without_a_pipeline_are_exact(program: Path, tmp_path: Path) -> None:
    check_recording_changes_nothing(program, tmp_path)
    found = support.replay_all(tmp_path, "", device=support.DEVICE)
    assert len(found) >= 5
    assert [one for one in found if one.result_class != "exact"] == []
