"""`examples/jit`: built by g++ and by mneme's compiler, right on the CPU device, recorded and replayed."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from modules import ROOT

from mneme.install import paths as _paths

pytestmark = pytest.mark.compile

SOURCES = ROOT / "examples" / "jit"
# What their users may ask for, beside nothing: other templates, sizes that no tile divides.
PROGRAMS = {
    "adam": ["1000", "double", "0", "1"],
    "floyd_warshall": ["33"],
    "matrix_product": ["33", "8"],
    "saxpy": ["1001", "-0.1"],
    "softmax.py": ["3", "7"],
}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """By g++ alone, as CMake finds it, in a folder with a blank in its name."""
    if not shutil.which("g++"):
        pytest.skip("g++ is not installed")
    folder = tmp_path_factory.mktemp("jit examples")
    for command in (
        ["cmake", "-S", SOURCES, "-B", folder, f"-DCMAKE_PREFIX_PATH={_paths.prefix()}",
         "-DCMAKE_CXX_COMPILER=g++", "-DCMAKE_CXX_FLAGS=-Wall -Wextra -Werror"],
        ["cmake", "--build", folder],
    ):  # fmt: skip
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
    return folder


def run(folder: Path, *command: str | Path, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "mneme", *command],
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
        env={**os.environ, **variables},
    )


def command(folder: Path, name: str) -> list[str | Path]:
    return [sys.executable, SOURCES / name] if name.endswith(".py") else [folder / name]


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_of_plain_gcc(built: Path, name: str) -> None:
    done = run(built, "run", "--device", "cpu", "--", *command(built, name))
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.endswith("PASSED\n")
    assert done.stderr == ""


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_kernel_is_recorded_and_replays(built: Path, name: str, tmp_path: Path) -> None:
    guest = [*command(built, name), *PROGRAMS[name]]
    recorded = run(built, "record", "--device", "cpu", "-rdb", tmp_path, "--", *guest)
    assert recorded.stdout.endswith("PASSED\n")
    assert re.match(r"mneme: recorded [14] instances? of 1 kernel ", recorded.stderr)
    (record,) = tmp_path.glob("[0-9]*.json")
    replayed = run(built, "replay", "-rdb", record, "default<O3>")
    assert "verified: exact" in replayed.stderr


@pytest.mark.parametrize("name", [name for name in PROGRAMS if not name.endswith(".py")])
def test_programs_of_the_examples_own_build(name: str, tmp_path: Path) -> None:
    program = _paths.prefix() / "examples" / "jit" / name
    assert program.exists(), f"{program} is not built: run scripts/test"
    done = run(tmp_path, "run", "--device", "cpu", "--", program, *PROGRAMS[name])
    assert done.stdout.endswith("PASSED\n")


def test_script_without_a_gpu(tmp_path: Path) -> None:
    named = {"PROTEUS_BACKEND_KIND": "host"}
    done = subprocess.run(
        [sys.executable, SOURCES / "softmax.py"],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        env={**os.environ, **named},
    )
    assert re.fullmatch(r"softmax: 64 x 1000 \((NumPy|torch), host\), .*\nPASSED\n", done.stdout)
