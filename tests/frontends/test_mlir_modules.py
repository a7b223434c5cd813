"""Modules of MLIR that a program compiles while it runs, on the host and on the CPU device."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from modules import build, mlir_opt, needs_mlir
from programs import run

MNEME = [sys.executable, "-m", "mneme"]
VARIABLE = "PROTEUS_MLIR_OPT_BIN"


pytestmark = [pytest.mark.compile, needs_mlir]


@pytest.mark.parametrize("compiler", ["g++", "clang++"])
def test_functions_of_the_host(tmp_path: Path, compiler: str) -> None:
    if compiler == "g++" and not shutil.which(compiler):
        pytest.skip("g++ is not installed")
    program = build("mlir_host.cpp", tmp_path / "program", compiler)
    cold = run(program, cache=tmp_path / "cache")
    results = [
        *("add 3", "calls 1 0", "ask 107", "half 4 0", "roots 10", "erf 0.520500", "twice 2 32"),
        "sum 6.5",
    ]
    assert cold.lines[: len(results)] == results
    # Messages are those of mlir-opt, with the lines of the module.
    refused = [line for line in cold.lines[len(results) :] if "MLIRJitModule: " in line]
    for line, expected in zip(
        refused,
        [
            "no MLIR: MLIRJitModule: line 1:14: error: ",
            "wrong type: MLIRJitModule: line 3:10: error: use of value '%x' expects different type",
            "unknown: MLIRJitModule: line 2:3: error: Dialect `toys' not found",
            "no lowering: MLIRJitModule: line 2:3: error: ",
            "verifier: MLIRJitModule: line 3:3: error: type mismatch for bb argument",
            "undefined: MLIRJitModule: the module refers to 'nowhere', which the program does not",
            "host_cuda: MLIRJitModule: the target is 'host_cuda'; it must be host, cuda or hip",
        ],
        strict=True,
    ):
        assert line.startswith(expected)
    assert not any("/proc/self" in line for line in cold.lines)
    assert any(line.startswith("no such function: the module has no") for line in cold.lines)
    assert "other target: Unsupported target gpu" in cold.lines
    # Two modules of one text share what is stored.
    assert cold.count("StorageCache", "DispatcherHost") == (1, 10)
    assert cold.count("MemoryCache", "DispatcherHost") == (1, 9)
    warm = run(program, cache=tmp_path / "cache")
    assert warm.lines == cold.lines
    # What did not compile is not stored.
    assert warm.count("StorageCache", "DispatcherHost") == (5, 10)


@pytest.mark.parametrize("vendor", ["CUDA", "HIP"])
def test_kernels(tmp_path: Path, vendor: str) -> None:
    program = build("mlir_device.cpp", tmp_path / "program", "clang++", f"-DTEST_{vendor}")
    for hits in (0, 1):
        done = run(program, cache=tmp_path / "cache", trace="kernel-trace", on_cpu_device=True)
        assert done.lines[:2] == ["status 0 x 189 286.5 blocks 7", "powers 1.0000 2.7183"]
        one = "at its top; kernels lie in exactly one, of any name"
        assert done.lines[2:4] == [
            f"none: MLIRJitModule: the module has no gpu.module {one}",
            f"two: MLIRJitModule: the module has 2 gpu.modules {one}",
        ]
        assert done.lines[4].startswith("wrong: MLIRJitModule: line 3:24: error: ")
        assert done.lines[-1] == (
            "the module has no kernel 'not_of_the_device'; it has 'powers', 'reverse'"
        )
        assert done.count("StorageCache", f"Dispatcher{vendor}") == (hits, 4)
        assert done.count("MemoryCache", f"Dispatcher{vendor}") == (0, 2)
        assert any(
            line.endswith("   reverse  rank=0  specializations=1  launches=3")
            for line in done.statistics
        )


def test_kernels_are_recorded_and_replayed(tmp_path: Path) -> None:
    program = build("mlir_device.cpp", tmp_path / "program", "clang++", "-DTEST_CUDA")
    database = tmp_path / "db"
    recorded = subprocess.run(
        [*MNEME, "record", "--device", "cpu", "-rdb", database, "--", program],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
    )
    assert recorded.returncode == 0, recorded.stderr
    assert recorded.stdout.startswith("status 0 x 189 286.5 blocks 7\n")
    recordings = sorted(database.glob("[0-9]*.json"))
    assert len(recordings) == 2
    for recording in recordings:
        first = next(iter(json.loads(recording.read_text())["instances"]))
        replayed = subprocess.run(
            [*MNEME, "replay", "-rdb", recording, "-rid", first],
            capture_output=True,
            text=True,
            check=False,
        )
        assert replayed.returncode == 0, replayed.stderr
        assert "verified: exact" in replayed.stderr


def test_stored_modules_need_no_tools(tmp_path: Path) -> None:
    program = build("mlir_host.cpp", tmp_path / "program", "clang++")
    cache = tmp_path / "cache"

    def first_lines(tool: str) -> tuple[list[str], str]:
        done = subprocess.run(
            [program],
            capture_output=True,
            text=True,
            check=False,
            env={**os.environ, "PROTEUS_CACHE_DIR": str(cache), VARIABLE: tool},
        )
        return done.stdout.splitlines()[:1], done.stderr

    _, errors = first_lines(str(tmp_path / "nothing"))
    assert f"MLIRJitModule: {VARIABLE}='{tmp_path / 'nothing'}' is not a program" in errors
    # A tool elsewhere, in a folder with a blank; mlir-translate is beside it.
    folder = tmp_path / "a folder"
    folder.mkdir()
    found = mlir_opt()
    assert found
    for name in ("mlir-opt", "mlir-translate"):
        beside = Path(found.replace("mlir-opt", name))
        (folder / name).symlink_to(beside)
    assert first_lines(str(folder / "mlir-opt")) == (["add 3"], "")
    assert first_lines(str(tmp_path / "nothing")) == (["add 3"], "")


def test_without_tools_the_package_is_named(tmp_path: Path) -> None:
    program = build("mlir_host.cpp", tmp_path / "program", "clang++")
    # A build whose LLVM has no MLIR: nothing beside config.json, nothing in PATH.
    done = subprocess.run(
        [program],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PROTEUS_CACHE_DIR": str(tmp_path / "cache"), "PATH": str(tmp_path),
             "MNEME_COMPILE_PROGRAM": str(tmp_path / "bin" / "mneme-jit-compile")},
    )  # fmt: skip
    assert done.returncode != 0
    assert (
        "MLIRJitModule: the program 'mlir-opt', which compiles modules of MLIR, is not installed"
        in done.stderr
    )
    assert f"install the package mlir-22-tools, or set {VARIABLE}" in done.stderr
