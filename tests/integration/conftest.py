"""What the end-to-end tests share: the built examples and a way to run mneme as a user does."""

from __future__ import annotations

import fcntl
import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from mneme.install import paths as _paths
from mneme.install.build_settings import build_setting

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
class Replayed:
    """What the replay of a launch came to."""

    record: Path
    launch: str
    kernel: str
    """Without its parameters."""
    result_class: str
    is_verified: bool
    why: str


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


def optimize(
    *arguments: str | Path, trials: int = 8, launches: str = "heavy", **environment: str
) -> Finished:
    """Run `mneme optimize <arguments>` with a certain number of trials: see optimize_by_trials.py."""
    by_trials = (Path(__file__).with_name("optimize_by_trials.py"), str(trials), launches)
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


def replay_all(
    directory: Path, pipeline: str = "default<O2>", *, device: str = "cpu", **environment: str
) -> list[Replayed]:
    """Replay every launch of a recording: see replay_all.py."""
    script = Path(__file__).with_name("replay_all.py")
    done = run_command(sys.executable, script, directory, device, pipeline, **environment)
    assert done.returncode == 0, done.stderr
    return [Replayed(Path(record), *rest) for record, *rest in json.loads(done.stdout)]


_shared: list[Path] = []


@pytest.fixture(scope="session", autouse=True)
def shared_folder(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Choose the place of what is made once for all processes that run tests."""
    base = tmp_path_factory.getbasetemp()
    _shared.append((base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "made-once")


def made_once(name: str, make: Callable[[Path], object]) -> Path:
    """A folder that is filled by the first process that asks for it, and read by the others."""
    folder = _shared[0] / name
    folder.mkdir(parents=True, exist_ok=True)
    with folder.with_name(f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        done = folder.with_name(f"{name}.done")
        if not done.exists():
            make(folder)
            done.touch()
    return folder


class Recordings(dict[str, Path]):
    """Recordings of examples by name, made when they are asked for."""

    def __missing__(self, name: str) -> Path:
        def record(directory: Path) -> None:
            done = mneme("record", "-rdb", directory, "--device", "cpu", "--", example(name))
            assert done.returncode == 0, done.stderr

        self[name] = made_once(f"recorded-{name}", record)
        return self[name]


@pytest.fixture(scope="session")
def recordings() -> dict[str, Path]:
    """One recording directory per example; tests do not write to it."""
    return Recordings()


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


@pytest.fixture(scope="session")
def link_driver(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of `libcuda.so.1` without a GPU: link_driver.cpp, which knows one kernel."""
    folder = tmp_path_factory.mktemp("driver")
    source = Path(__file__).with_name("link_driver.cpp")
    built = run_command(
        build_setting("cxx"), "-shared", "-fPIC", source, "-o", folder / "libcuda.so.1"
    )
    assert built.returncode == 0, built.stderr
    return folder
