"""The CMake package: build tree, install prefix and moved prefix."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import pytest
from conftest import BUILD, ROOT, Finished, mneme, records, run_command

PROJECT = """
cmake_minimum_required(VERSION 3.25)
project(consumer LANGUAGES CXX CUDA)
set(CMAKE_CUDA_STANDARD 17)
find_package(mneme CONFIG REQUIRED)
add_executable(app app.cu)
add_mneme(app {arguments})
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A consumer project with one kernel."""
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "CMakeLists.txt").write_text(PROJECT.format(arguments=""))
    shutil.copy(ROOT / "examples" / "vector_add" / "vector_add.cu", folder / "app.cu")
    shutil.copy(ROOT / "examples" / "common.h", folder.parent / "common.h")
    return folder


def configure(project: Path, prefix: Path, *options: str) -> Finished:
    """Configure with the four options users know, all naming one prefix."""
    compiler = prefix / "bin"
    return run_command(
        "cmake", "-S", project, "-B", project / "build", "-G", "Ninja",
        f"-DCMAKE_C_COMPILER={compiler}/mneme-cc",
        f"-DCMAKE_CXX_COMPILER={compiler}/mneme-cxx",
        f"-DCMAKE_CUDA_COMPILER={compiler}/mneme-cxx",
        f"-DCMAKE_PREFIX_PATH={prefix}",
        "-DCMAKE_CUDA_ARCHITECTURES=90",
        *options,
    )  # fmt: skip


def build_and_record(
    project: Path,
    directory: Path,
    command: tuple[str | Path, ...] = (sys.executable, "-m", "mneme"),
    **environment: str,
) -> None:
    """Build the consumer, record it and replay what was recorded, with one mneme command."""
    built = run_command("cmake", "--build", project / "build")
    assert built.returncode == 0, built.stdout + built.stderr
    recording = ("record", "-rdb", directory, "--device", "cpu", "--", project / "build" / "app")
    done = run_command(*command, *recording, **environment)
    assert done.returncode == 0, done.stderr
    assert "PASSED" in done.stdout
    (record,) = records(directory)
    replaying = ("replay", "-rdb", record, "--device", "cpu", "default<O2>")
    assert run_command(*command, *replaying, **environment).returncode == 0


def test_consumer_of_the_build_tree(project: Path, tmp_path: Path) -> None:
    configured = configure(project, BUILD)
    assert configured.returncode == 0, configured.stdout + configured.stderr
    build_and_record(project, tmp_path / "db")


def test_moved_prefix_has_its_templates(tmp_path: Path) -> None:
    installed = run_command("cmake", "--install", BUILD, "--prefix", tmp_path / "first")
    assert installed.returncode == 0, installed.stderr
    prefix = tmp_path / "moved"
    (tmp_path / "first").rename(prefix)
    done = run_command(prefix / "bin" / "mneme", "scaffold", "--list", "--json", MNEME_BUILD_DIR="")
    assert done.returncode == 0, done.stderr
    assert {"tune", "ci", "slurm", "flux"} <= {one["name"] for one in json.loads(done.stdout)}
    assert (prefix / "share" / "mneme" / "templates" / "tune" / "tune.py.j2").is_file()


def test_consumer_of_a_moved_install_prefix(project: Path, tmp_path: Path) -> None:
    installed = run_command("cmake", "--install", BUILD, "--prefix", tmp_path / "first")
    assert installed.returncode == 0, installed.stderr
    prefix = tmp_path / "moved"
    (tmp_path / "first").rename(prefix)
    configured = configure(project, prefix)
    assert configured.returncode == 0, configured.stdout + configured.stderr
    build_and_record(project, tmp_path / "db")
    own = run_command(
        prefix / "bin" / "mneme", "config", "libdir", PYTHONPATH="", MNEME_BUILD_DIR=str(prefix)
    )
    assert own.stdout.strip() == str(prefix / "lib")


def test_kernels_argument_selects(project: Path, tmp_path: Path) -> None:
    (project / "CMakeLists.txt").write_text(PROJECT.format(arguments="KERNELS noSuchKernel"))
    assert configure(project, BUILD).returncode == 0
    assert run_command("cmake", "--build", project / "build").returncode == 0
    done = mneme("run", "--device", "cpu", "--", project / "build" / "app")
    assert done.returncode != 0
    assert "carries no mneme IR: build its target with add_mneme()" in done.stderr
    assert "whose KERNELS, if given, match it" in done.stderr


def test_unknown_argument_is_fatal(project: Path) -> None:
    (project / "CMakeLists.txt").write_text(PROJECT.format(arguments="RECORD_EVERYTHING"))
    configured = configure(project, BUILD)
    assert configured.returncode != 0
    assert "RECORD_EVERYTHING" in configured.stderr


@pytest.mark.skipif(not shutil.which("g++"), reason="g++ is not installed")
def test_wrong_compiler_is_named(project: Path) -> None:
    (project / "app.cpp").touch()
    (project / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.25)\nproject(consumer LANGUAGES CXX)\n"
        "find_package(mneme CONFIG REQUIRED)\nadd_library(app app.cpp)\nadd_mneme(app)\n"
    )
    configured = configure(project, BUILD, "-DCMAKE_CXX_COMPILER=g++")
    assert configured.returncode != 0
    assert "mneme-clang++" in configured.stderr


def test_makefile_project_through_config(tmp_path: Path) -> None:
    flags = {key: mneme("config", key).stdout.split() for key in ("cxx", "cflags", "ldflags")}
    program = tmp_path / "app"
    source = ROOT / "examples" / "stencil2d" / "stencil2d.cu"
    built = run_command(*flags["cxx"], "-O2", "--offload-arch=sm_90", *flags["cflags"], source, "-o", program,
                        *flags["ldflags"], "-lcudart")  # fmt: skip
    assert built.returncode == 0, built.stderr
    assert "PASSED" in mneme("run", "--device", "cpu", "--", program).stdout
