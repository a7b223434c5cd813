"""Prefixes under test. A plugin, not a conftest.py: other folders import theirs by that name."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from cmake_parts import BUILD, run_command


@pytest.fixture(scope="session")
def moved_prefix(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An install prefix that was moved after the installation; one for the session."""
    folder = tmp_path_factory.mktemp("installed")
    done = run_command("cmake", "--install", BUILD, "--prefix", folder / "first")
    assert done.returncode == 0, done.stderr
    return (folder / "first").rename(folder / "moved")


@pytest.fixture(scope="session")
def build_tree() -> Path:
    """The build tree under test."""
    assert (BUILD / "config.json").is_file(), f"{BUILD} is not built: run scripts/test"
    return BUILD


@pytest.fixture(scope="session")
def wheel_prefix() -> Path:
    """The package of a wheel in an environment of its own, where MNEME_TEST_WHEEL_PREFIX names it."""
    named = os.environ.get("MNEME_TEST_WHEEL_PREFIX")
    if not named:
        pytest.skip("MNEME_TEST_WHEEL_PREFIX names no installed wheel")
    return Path(named)


@pytest.fixture
def told(tmp_path: Path) -> Path:
    """A compiler that prints its arguments, one per line, and fails with code 3."""
    compiler = tmp_path / "told compiler"
    compiler.write_text(
        "#!/bin/sh\nfor one; do printf '%s\\n' \"$one\"; done\necho 'a word' >&2\nexit 3\n"
    )
    compiler.chmod(0o755)
    return compiler
