"""Modules of C++, CUDA and HIP source that a program compiles while it runs."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from modules import build
from programs import Run, run

pytestmark = [pytest.mark.compile, pytest.mark.slow]

COMPILER = "g++" if shutil.which("g++") else "clang++"
HOST = [
    *("scaled 6", "increase 42 root 3 begun 1", "power 8 27 1", "power of an int 64", "sum 8"),
    "CppJitModule:2:10: error: use of undeclared identifier 'nothing'",
    *("    2 |   return nothing;", "      |          ^~~~~~~", "1 error generated.", ""),
    "Error: getKernel() applies only to device modules",
]
DEVICE = [
    *("fill 2 190", "count 3", "big 0 31 0", "add 0 37 6", "both 7 74"),
    "Error: getFunction() applies only to host modules",
    "Function attribute value must be non-negative",
]


def test_functions_of_the_host(tmp_path: Path) -> None:
    program = build("cpp_host.cpp", tmp_path / "program", COMPILER)
    header = tmp_path / "factor.h"
    header.write_text("#define FACTOR 3\n")
    cache = tmp_path / "cache"
    cold = run(program, str(tmp_path), cache=cache)
    warm = run(program, str(tmp_path), cache=cache)
    assert cold.lines == warm.lines == HOST
    # Three instances beside the module; what does not compile is not kept.
    assert cold.count("StorageCache", "DispatcherHost") == (0, 5)
    assert warm.count("StorageCache", "DispatcherHost") == (4, 5)
    assert warm.count("MemoryCache", "DispatcherHost") == (0, 7)
    # What the source includes counts.
    header.write_text("#define FACTOR 4\n")
    changed = run(program, str(tmp_path), cache=cache)
    assert changed.lines == ["scaled 8", *HOST[1:]]
    assert run(program, str(tmp_path), cache=cache).lines == changed.lines


def test_files_of_another_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = build("cpp_host.cpp", tmp_path / "program", COMPILER)
    for factor in (3, 4, 3):
        folder = tmp_path / str(factor)
        folder.mkdir(exist_ok=True)
        (folder / "factor.h").write_text(f"#define FACTOR {factor}\n")
        monkeypatch.chdir(folder)
        done = run(program, ".", cache=tmp_path / "cache")
        assert done.lines == [f"scaled {2 * factor}", *HOST[1:]]


def test_stored_objects_need_no_compiler(tmp_path: Path) -> None:
    program = build("cpp_host.cpp", tmp_path / "program", COMPILER)
    (tmp_path / "factor.h").write_text("#define FACTOR 3\n")
    compiler = tmp_path / "compiler"
    compiler.symlink_to(shutil.which("clang++-22") or "clang++")
    named = {"PROTEUS_CLANGXX_BIN": str(compiler)}
    assert run(program, str(tmp_path), cache=tmp_path / "cache", **named).lines == HOST
    compiler.unlink()
    # The module that does not compile is missed.
    warm = run(program, str(tmp_path), cache=tmp_path / "cache", **named)
    sentence = f"PROTEUS_CLANGXX_BIN='{compiler}' is not a program that can be run"
    assert warm.lines == [*HOST[:5], sentence, HOST[-1]]
    assert warm.count("StorageCache", "DispatcherHost") == (4, 5)
    cold = run(program, str(tmp_path), cache=tmp_path / "other", fails=True, **named)
    assert "[proteus][FATAL ERROR]" in cold.errors
    assert f"cpp_host.cpp:47 => {sentence}" in cold.errors


def test_plugins_of_the_compiler_print(tmp_path: Path) -> None:
    source = tmp_path / "plugin.cpp"
    source.write_text(
        "#include <cstdio>\n"
        '[[gnu::constructor]] static void begin() { std::printf("the plugin runs\\n"); }\n'
    )
    subprocess.run([COMPILER, "-shared", "-fPIC", source, "-o", tmp_path / "plugin.so"], check=True)
    (tmp_path / "factor.h").write_text("#define FACTOR 3\n")
    program = build("cpp_host.cpp", tmp_path / "program", COMPILER)
    arguments = [str(tmp_path), f"-fplugin={tmp_path / 'plugin.so'}"]
    cold, warm = (run(program, *arguments, cache=tmp_path / "cache") for _ in range(2))
    # One line for the module and each of its three instances, ahead of the program's buffers.
    assert cold.lines == ["the plugin runs"] * 4 + HOST
    assert warm.lines == HOST


def test_threads_share_modules(tmp_path: Path) -> None:
    program = build("threads.cpp", tmp_path / "program", COMPILER, "-pthread")
    cold, warm = (run(program, cache=tmp_path / "cache") for _ in range(2))
    assert cold.lines == warm.lines == ["wrong 0"]
    # Two modules and eight instances, as times<3> is wanted by name and by number.
    assert cold.count("StorageCache", "DispatcherHost") == (0, 10)
    assert warm.count("StorageCache", "DispatcherHost") == (10, 10)
    # The functions of the modules are looked up by every thread.
    assert cold.count("MemoryCache", "DispatcherHost") == (14, 24)


def check(cold: Run, warm: Run, vendor: str) -> None:
    assert cold.lines == warm.lines == DEVICE
    both, device = f"DispatcherHost{vendor}", f"Dispatcher{vendor}"
    assert cold.count("StorageCache", device) == (0, 1)
    assert warm.count("StorageCache", device) == (1, 1)
    # Libraries are looked for again when they are stored.
    assert cold.count("StorageCache", both) == (2, 4)
    assert warm.count("StorageCache", both) == (2, 2)
    assert cold.count("MemoryCache", device) == (0, 3)


def test_kernels_of_cuda(tmp_path: Path) -> None:
    program = build("cpp_device.cpp", tmp_path / "program", COMPILER, "-DTEST_CUDA")
    cold, warm = (run(program, cache=tmp_path / "cache", on_cpu_device=True) for _ in range(2))
    check(cold, warm, "CUDA")
    # Libraries are what their compiler makes of them.
    pipeline = {"PROTEUS_OPT_PIPELINE": "default<O2>"}
    piped = run(program, cache=tmp_path / "cache", on_cpu_device=True, **pipeline)
    assert piped.lines == DEVICE
    assert piped.traces.count("[CustomPipeline] default<O2>") == 1


@pytest.mark.hip
def test_kernels_of_hip(tmp_path: Path) -> None:
    program = build("cpp_device.cpp", tmp_path / "program", COMPILER, "-DTEST_HIP")
    cold, warm = (run(program, cache=tmp_path / "cache", on_cpu_device=True) for _ in range(2))
    check(cold, warm, "HIP")
