"""Replays of kernels that were not changed round as the program did, whatever its floating-point flags."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpu import support
from gpu.support import launches
from gpu.test_programs import check_recording_changes_nothing, named, programs

LEVELS = {"O2": "default<O2>", "O1": "default<O1>", "fast_ftz": "default<O2>"}


@pytest.mark.parametrize("program", programs("rounding"), ids=named)
def test_replays_at_the_programs_level_are_exact(program: Path, tmp_path: Path) -> None:
    check_recording_changes_nothing(program, tmp_path)
    level = LEVELS.get(program.name.partition("_")[2], "default<O3>")
    found = list(launches(tmp_path))
    assert len(found) >= 5
    differing = []
    for path, record_id in found:
        done = support.replay(path, record_id, level)
        if "verified: exact" not in done.stderr:
            differing.append(f"{path.name}: {done.stderr}")
    assert differing == []
