"""What the end-to-end tests share: the built examples and a way to run mneme as a user does."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from mneme.install import paths as _paths

ROOT = Path(__file__).resolve().parents[2]
# A bundle has what was built beside the tests, a checkout in a build tree.
BUILD = Path(
    os.environ.get("MNEME_BUILD_DIR", ROOT if (ROOT / "config.json").is_file() else ROOT / "build")
)
EXAMPLES = BUILD / "examples"
LLVM_MAJOR = int(_paths.config()["llvm_version"].split(".")[0])
reads_golden = pytest.mark.skipif(
    LLVM_MAJOR < 22,
    reason="the IR in tests/golden was written by LLVM 22, which older ones cannot read",
)


@dataclass(frozen=True)
class Finished:
    """A finished command."""

    returncode: int
    stdout: str
    stderr: str

    @property
    def result(self) -> dict[str, Any]:
        """The "Result" object of `mneme replay`."""
        result: dict[str, Any] = json.loads(self.stdout)["Result"]
        return result


def run_command(*command: str | Path, timeout: float = 120, **environment: str) -> Finished:
    """Run a command to its end with extra environment variables."""
    done = subprocess.run(
        [str(part) for part in command],
        capture_output=True,
        text=True,
        errors="replace",
        timeout=timeout,
        check=False,
        env={**os.environ, **environment},
    )
    return Finished(done.returncode, done.stdout, done.stderr)


def mneme(*arguments: str | Path, timeout: float = 120, **environment: str) -> Finished:
    """Run `mneme <arguments>`."""
    return run_command(sys.executable, "-m", "mneme", *arguments, timeout=timeout, **environment)


def optimize(*arguments: str | Path, trials: int = 8, **environment: str) -> Finished:
    """Run `mneme optimize <arguments>` with a certain number of trials: see optimize_by_trials.py."""
    by_trials = (Path(__file__).with_name("optimize_by_trials.py"), str(trials))
    budget = ("--budget", "100s")
    return run_command(sys.executable, *by_trials, *budget, *arguments, timeout=300, **environment)


def example(name: str) -> Path:
    """Path of a built example; a missing one is an error, never a skip."""
    path = EXAMPLES / name
    assert path.exists(), f"{path} is not built: run scripts/test"
    return path


def records(directory: Path) -> list[Path]:
    """The record files of a recording directory."""
    return sorted(directory.glob("*.json"))


def instances(record: Path) -> list[str]:
    """The record ids in one record file."""
    return list(json.loads(record.read_text())["instances"])


@pytest.fixture(scope="session")
def recordings(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """One recording directory per example, made once per test session."""
    directories = {}
    for name in EXAMPLE_NAMES:
        directory = tmp_path_factory.mktemp(name)
        done = mneme("record", "-rdb", directory, "--device", "cpu", "--", example(name))
        assert done.returncode == 0, done.stderr
        directories[name] = directory
    return directories


EXAMPLE_NAMES = (
    "vector_add",
    "stencil2d",
    "heat3d",
    "reduction",
    "spmv_cg",
    "nbody",
    "linked_list",
    "multi_unit",
)
PIPELINES = (
    "default<O0>",
    "default<O1>",
    "default<O2>",
    "default<O3>",
    "default<Os>",
    "default<Oz>",
)
