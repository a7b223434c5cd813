"""Modules that programs make at run time, for an AMD GPU: on the stand-in for one, compiled for its target ID."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from modules import build, needs_mlir
from programs import Run, run

from mneme.install import paths as _paths

pytestmark = [pytest.mark.hip, pytest.mark.compile]

STAND_IN = _paths.prefix() / "lib" / "stand_in"
GPU = "gfx90a:sramecc+:xnack-"
HAS_LIBRARIES = any(Path("/usr/lib").glob("*/amdgcn/bitcode/ocml.bc")) or any(
    Path("/opt/rocm").glob("amdgcn/bitcode/ocml.bc")
)
needs_libraries = pytest.mark.skipif(not HAS_LIBRARIES, reason="rocm-device-libs are not installed")


@pytest.fixture(scope="module", autouse=True)
def stand_in() -> None:
    """Skip where it is not built."""
    if not (STAND_IN / "libamdhip64.so.6").is_file():
        pytest.skip("the stand-in is built with the tests, on x86-64")


def _on_stand_in(program: Path, cache: Path, *, fails: bool = False, **variables: str) -> Run:
    found = {"LD_PRELOAD": str(STAND_IN / "libamdhip64.so.6"), "MNEME_CARRY_IR": "1"}
    return run(program, cache=cache, fails=fails, **found, **variables)


def _stored(cache: Path) -> bytes:
    return b"".join(file.read_bytes() for file in cache.rglob("*.o"))


@pytest.mark.parametrize(
    "source",
    [
        "ir_device.cpp",
        pytest.param("cpp_device.cpp", marks=needs_libraries),
        pytest.param("mlir_device.cpp", marks=[needs_mlir, needs_libraries]),
        pytest.param("dsl/kernels.cpp", marks=needs_libraries),
    ],
)
def test_kernels_compute_on_the_gpu_what_they_do_on_the_cpu(tmp_path: Path, source: str) -> None:
    options = ["-DTEST_HIP", "-pthread", "-Wno-c++20-extensions"]
    program = build(source, tmp_path / "program", "clang++", *options)
    on_cpu = run(program, cache=tmp_path / "cpu", on_cpu_device=True)
    for _ in ("compiled", "stored"):
        done = _on_stand_in(program, tmp_path / "cache")
        assert done.lines == on_cpu.lines
    # What is loaded is a code object for this GPU, made by LLVM.
    assert f"amdgcn-amd-amdhsa--{GPU}".encode() in _stored(tmp_path / "cache")
    assert f"amdgcn-amd-amdhsa--{GPU}".encode() not in _stored(tmp_path / "cpu")


def test_kernels_are_recorded_and_replayed_on_the_gpu(tmp_path: Path) -> None:
    program = build("ir_device.cpp", tmp_path / "program", "clang++", "-DTEST_HIP")
    library = str(STAND_IN / "libamdhip64.so.6")
    environment = {
        **os.environ,
        "LD_LIBRARY_PATH": str(STAND_IN),
        "LD_PRELOAD": library,
        "MNEME_HIP_LIBRARY": library,
        "MNEME_CARRY_IR": "1",
        "PROTEUS_CACHE_DIR": str(tmp_path / "cache"),
    }
    mneme = (sys.executable, "-m", "mneme")
    database = tmp_path / "db"
    line = (*mneme, "record", "-rdb", database, "--device", "hip:0", "--", program)
    done = subprocess.run(line, capture_output=True, text=True, check=False, env=environment)
    assert "status 0 x 2.25" in done.stdout, done.stdout + done.stderr
    kernels = set()
    for record in database.glob("[0-9]*.json"):
        kernels.add(json.loads(record.read_text())["KernelName"])
        line = (*mneme, "replay", "-rdb", record, "--device", "hip:0", "default<O3>")
        done = subprocess.run(line, capture_output=True, text=True, check=False, env=environment)
        assert '"verified": true' in done.stdout, done.stdout + done.stderr
    assert kernels == {"fetch", "scale"}


def test_gpu_of_a_module_is_the_one_at_hand(tmp_path: Path) -> None:
    program = build("ir_device.cpp", tmp_path / "program", "clang++", "-DTEST_HIP")
    done = _on_stand_in(program, tmp_path / "cache", MNEME_STAND_IN_ARCH="gfx1100")
    assert done.lines[0].startswith("status 0 x 2.25")
    assert b"amdgcn-amd-amdhsa--gfx1100" in _stored(tmp_path / "cache")


@needs_mlir
@needs_libraries
def test_gpu_that_the_device_libraries_do_not_know_is_named(tmp_path: Path) -> None:
    program = build("mlir_device.cpp", tmp_path / "program", "clang++", "-DTEST_HIP")
    libraries = tmp_path / "libraries"
    libraries.mkdir()
    (libraries / "ocml.bc").touch()
    done = _on_stand_in(program, tmp_path / "cache", fails=True, HIP_DEVICE_LIB_PATH=str(libraries))
    assert f"those in '{libraries}' do not know gfx90a" in done.errors
