"""How mneme itself is configured: presets, and what a missing package says."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from cmake_parts import ROOT, run_command

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("preset", "expected"),
    [
        ("dev", {'CMAKE_BUILD_TYPE="RelWithDebInfo"', 'MNEME_ENABLE_TESTS="ON"'}),
        ("asan", {'MNEME_SANITIZE="address,undefined"', 'MNEME_ENABLE_PYTHON="OFF"'}),
        ("emulator", {'MNEME_ENABLE_JIT="OFF"', 'MNEME_ENABLE_TESTS="ON"'}),
        ("release", {'CMAKE_BUILD_TYPE="Release"', 'MNEME_ENABLE_TESTS="OFF"'}),
    ],
)
def test_preset_sets_what_its_name_says(preset: str, expected: set[str]) -> None:
    done = run_command("cmake", "--preset", preset, "-N", cwd=ROOT)
    assert done.returncode == 0, done.stderr
    assert expected <= {line.strip() for line in done.stdout.splitlines()}
    listed = run_command("cmake", "--build", "--list-presets", cwd=ROOT)
    assert f'"{preset}"' in listed.stdout


def test_emulator_preset_names_folders_that_are_built() -> None:
    presets = json.loads((ROOT / "CMakePresets.json").read_text())["buildPresets"]
    (targets,) = [preset["targets"] for preset in presets if preset["name"] == "emulator"]
    for target in targets:
        assert (ROOT / target.removesuffix("/all") / "CMakeLists.txt").is_file(), target


def test_missing_pybind11_is_an_error_with_a_sentence(tmp_path: Path) -> None:
    without = "-DCMAKE_DISABLE_FIND_PACKAGE_pybind11=ON"
    done = run_command("cmake", "-S", ROOT, "-B", tmp_path, "--preset", "release", without)
    assert done.returncode != 0
    assert "MNEME_ENABLE_PYTHON is ON, which needs Python 3.10" in done.words
    assert "-DMNEME_ENABLE_PYTHON=OFF builds mneme without its Python package" in done.words
