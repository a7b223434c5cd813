"""Replays of kernels that were not changed round as the program did, whatever its floating-point flags."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpu import support
from gpu.support import launches
from gpu.test_programs import check_recording_changes_nothing, named, programs


@pytest.mark.parametrize("program", programs("rounding"), ids=named)
def test_replays_without_a_pipeline_are_exact(program: Path, tmp_path: Path) -> None:
    check_recording_changes_nothing(program, tmp_path)
    found = list(launches(tmp_path))
    assert len(found) >= 5
    differing = []
    for path, record_id in found:
        done = support.replay(path, record_id)
        if "verified: exact" not in done.stderr:
            differing.append(f"{path.name}: {done.stderr}")
    assert differing == []
