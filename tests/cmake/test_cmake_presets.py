"""CMakePresets.json: what developers, sanitizer runs and packagers start from."""

from __future__ import annotations

import pytest
from cmake_parts import ROOT, run_command


@pytest.mark.parametrize(
    ("preset", "expected"),
    [
        ("dev", {'CMAKE_BUILD_TYPE="RelWithDebInfo"', 'MNEME_ENABLE_TESTS="ON"'}),
        ("asan", {'MNEME_SANITIZE="address,undefined"', 'MNEME_ENABLE_PYTHON="OFF"'}),
        ("release", {'CMAKE_BUILD_TYPE="Release"', 'MNEME_ENABLE_TESTS="OFF"'}),
    ],
)
def test_preset_sets_what_its_name_says(preset: str, expected: set[str]) -> None:
    done = run_command("cmake", "--preset", preset, "-N", cwd=ROOT)
    assert done.returncode == 0, done.stderr
    assert expected <= {line.strip() for line in done.stdout.splitlines()}
    listed = run_command("cmake", "--build", "--list-presets", cwd=ROOT)
    assert f'"{preset}"' in listed.stdout
