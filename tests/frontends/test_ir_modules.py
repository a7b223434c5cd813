"""Modules of LLVM IR that a program compiles while it runs, on the host and on the CPU device."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from modules import build
from programs import run

pytestmark = pytest.mark.compile


@pytest.mark.parametrize("compiler", ["g++", "clang++"])
def test_functions_of_the_host(tmp_path: Path, compiler: str) -> None:
    if compiler == "g++" and not shutil.which(compiler):
        pytest.skip("g++ is not installed")
    program = build("ir_host.cpp", tmp_path / "program", compiler)
    cold = run(program, cache=tmp_path / "cache")
    assert cold.lines == [
        "add 3",
        "calls 1 0",
        "ask 107",
        "sum 6.5",
        "not IR: LLVMIRJitModule: failed to parse LLVM IR: line 1: expected type",
        (
            "wrong type: LLVMIRJitModule: failed to parse LLVM IR: line 2: value doesn't match function result "
            "type 'i32'"
        ),
        "broken: Broken module found, JIT compilation aborted! Instruction does not dominate all uses!",
        *("  %m = add i32 %n, 1", "  %k = add i32 %m, 1"),
        (
            "no such function: the module has no function 'f'; names are symbols: declare it extern \"C\", or "
            "give the mangled name"
        ),
        (
            "undefined: LLVMIRJitModule: the module refers to 'nowhere', which the program does not export; if it "
            'is there, declare it extern "C" and link the program with -rdynamic'
        ),
        "other target: Unsupported target gpu",
        "host_cuda: LLVMIRJitModule: the target is 'host_cuda'; it must be host, cuda or hip",
    ]
    # Two modules of one text share what is stored.
    assert cold.count("StorageCache", "DispatcherHost") == (1, 7)
    warm = run(program, cache=tmp_path / "cache")
    assert warm.lines == cold.lines
    # What did not compile is not stored.
    assert warm.count("StorageCache", "DispatcherHost") == (4, 7)
    assert warm.traces.count("[ObjectCacheChain] Chain for DispatcherHost: Storage") == 1
    assert cold.count("MemoryCache", "DispatcherHost") == (1, 5)


def test_nonsense_in_the_environment_ends_the_program_before_main(tmp_path: Path) -> None:
    program = build("ir_host.cpp", tmp_path / "program", "clang++")
    done = run(program, cache=tmp_path / "cache", PROTEUS_OPT_LEVEL="fast", fails=True)
    assert (done.lines, done.traces) == ([], [])
    assert "[proteus][FATAL ERROR] " in done.errors
    assert "PROTEUS_OPT_LEVEL='fast'" in done.errors


@pytest.mark.parametrize("vendor", ["CUDA", "HIP"])
def test_kernels(tmp_path: Path, vendor: str) -> None:
    program = build("ir_device.cpp", tmp_path / "program", "clang++", f"-DTEST_{vendor}")
    expected = [
        "status 0 x 2.25 429.75 threads 384",
        "too many threads: refused",
        "the module has no kernel 'scal'; it has 'fetch', 'scale'",
    ]
    for hits in (0, 1):
        done = run(program, cache=tmp_path / "cache", trace="kernel-trace", on_cpu_device=True)
        assert done.lines == expected
        assert done.count("StorageCache", f"Dispatcher{vendor}") == (hits, 1)
        assert done.count("MemoryCache", f"Dispatcher{vendor}") == (0, 2)
        assert f"[proteus][Dispatcher{vendor}]   scale  rank=0  specializations=1  launches=3" in (
            done.statistics
        )


def test_kernels_are_recorded_and_replayed(tmp_path: Path) -> None:
    program = build("ir_device.cpp", tmp_path / "program", "clang++", "-DTEST_CUDA")
    database = tmp_path / "db"
    mneme = [sys.executable, "-m", "mneme"]
    recorded = subprocess.run(
        [*mneme, "record", "--device", "cpu", "-rdb", database, "--", program],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
    )
    assert recorded.returncode == 0, recorded.stderr
    assert recorded.stdout.startswith("status 0 x 2.25 429.75 threads 384\n")
    recordings = sorted(database.glob("[0-9]*.json"))
    assert len(recordings) == 2
    for recording in recordings:
        replayed = subprocess.run(
            [*mneme, "replay", "-rdb", recording], capture_output=True, text=True, check=False
        )
        assert replayed.returncode == 0, replayed.stderr
        assert "verified: exact" in replayed.stderr


def test_output_is_the_users_without_a_directory_or_token(tmp_path: Path) -> None:
    program = build("ir_host.cpp", tmp_path / "program", "clang++")
    done = subprocess.run([program], capture_output=True, text=True, check=True, cwd=tmp_path)
    assert "[proteus]" not in done.stdout
