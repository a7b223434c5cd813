"""`mneme scaffold spack`: the environment is what Spack reads; Spack itself reads it where it is."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml
from conftest import mneme, run_command


def environment(folder: Path, *options: str) -> dict[str, Any]:
    made = mneme("scaffold", "spack", "--out", folder, *options)
    assert made.returncode == 0, made.stderr
    data = yaml.safe_load((folder / "spack.yaml").read_text())
    assert list(data) == ["spack"]
    content: dict[str, Any] = data["spack"]
    return content


def test_the_environment_has_mneme_and_what_the_application_needs(tmp_path: Path) -> None:
    content = environment(
        tmp_path,
        "--needs",
        "openmpi hdf5+mpi@1.14:",
        "--repository",
        "/site/my repo",
        "--cuda",
        "13:",
    )
    assert content == {
        "repos": {"mneme": "/site/my repo"},
        "specs": ["mneme", "cuda@13:", "cmake@3.25:", "ninja", "openmpi", "hdf5+mpi@1.14:"],
        "view": True,
        "concretizer": {"unify": True},
    }
    readme = (tmp_path / "README.md").read_text()
    assert "    spack -e . install\n    spack env activate .\n" in readme
    assert "MNEME_SOURCE" not in readme


def test_defaults_name_the_sources_this_mneme_was_built_from(tmp_path: Path) -> None:
    content = environment(tmp_path)
    repository = Path(content["repos"]["mneme"])
    assert (repository / "packages" / "mneme" / "package.py").is_file()
    assert "MNEME_SOURCE" not in (tmp_path / "README.md").read_text()


def test_sources_that_are_elsewhere_are_asked_for(tmp_path: Path) -> None:
    content = environment(tmp_path, "--cuda", "none", "--repository", "$MNEME_SOURCE/spack-repo")
    assert content["specs"] == ["mneme", "cmake@3.25:", "ninja"]
    assert "    export MNEME_SOURCE=" in (tmp_path / "README.md").read_text()


def test_spack_reads_the_environment(tmp_path: Path) -> None:
    spack = shutil.which("spack")
    if spack is None:
        pytest.skip("Spack is not installed")
    content = environment(tmp_path)
    read = run_command(spack, "-e", tmp_path, "config", "get", "concretizer")
    assert read.returncode == 0, read.stderr
    assert yaml.safe_load(read.stdout)["concretizer"]["unify"] == content["concretizer"]["unify"]
