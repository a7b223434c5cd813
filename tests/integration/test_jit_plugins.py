"""Marked code that is compiled with passes of an LLVM pass plugin."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from conftest import BUILD, Finished, mneme, run_command

from mneme.install import paths as _paths

SOURCES = Path(__file__).resolve().parents[1] / "apps" / "jit"
WRAPPER = BUILD / "bin" / "mneme-cxx"
LLVM = Path(_paths.config()["llvmdir"])
RESULTS = ["kernel 42 function 42", "kernel 21 function 21", "kernel 42 function 42"]
PIPELINE = "function(jit-test-pass)"

pytestmark = [
    pytest.mark.compile,
    pytest.mark.skipif(
        not (BUILD / "tests" / "apps" / "api" / "driver").is_file(), reason="no CUDA toolkit"
    ),
    pytest.mark.skipif(
        not (BUILD / "lib" / "libmneme_compile_plugins.so").is_file(), reason="no shared LLVM"
    ),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a plugin and a program that registers it."""
    folder = tmp_path_factory.mktemp("plugins")
    flags = run_command(LLVM / "bin" / "llvm-config", "--cxxflags").stdout.split()
    for command in (
        [LLVM / "bin" / "clang++", *flags, "-shared", "-fPIC", SOURCES / "pass_plugin.cpp",
         "-o", folder / "plugin.so"],
        [WRAPPER, "-x", "cuda", "--offload-arch=sm_90", SOURCES / "plugin_user.cu",
         "-o", folder / "user", "-lcudart"],
    ):  # fmt: skip
        done = run_command(*command)
        assert (done.returncode, done.stderr) == (0, "")
    return folder


def run(folder: Path, plugin: Path, cache: Path, **environment: str) -> Finished:
    return mneme(
        "run", "--device", "cpu", "--", folder / "user", plugin,
        PROTEUS_CACHE_DIR=str(cache), PROTEUS_TRACE_OUTPUT="specialization;cache-stats",
        **environment,
    )  # fmt: skip


def lines(done: Finished, begin: str) -> list[str]:
    return [line for line in done.stdout.splitlines() if line.startswith(begin)]


def test_passes_of_a_plugin_are_appended_while_it_is_registered(
    folder: Path, tmp_path: Path
) -> None:
    cold = run(folder, folder / "plugin.so", tmp_path)
    assert (cold.returncode, cold.stderr) == (0, "")
    assert lines(cold, "kernel") == RESULTS
    assert lines(cold, "[CustomPipeline]") == [f"[CustomPipeline] default<O3>,{PIPELINE}"] * 2
    said = lines(cold, "[JITTestPass]")
    assert any(line.startswith("[JITTestPass] _Z6kerneliPi$jit$") for line in said)
    assert any(line.startswith("[JITTestPass] _Z8functionii$jit$") for line in said)
    assert cold.stdout.index("[JITTestPass]") < cold.stdout.index("[CustomPipeline]")
    assert cold.stdout.count("MemoryCache rank 0 hits 1 accesses 3") == 2
    warm = run(folder, folder / "plugin.so", tmp_path)
    assert lines(warm, "kernel") == RESULTS
    assert lines(warm, "[JITTestPass]") == lines(warm, "[CustomPipeline]") == []
    assert warm.stdout.count("StorageCache rank 0 hits 2 accesses 2") == 2


def test_plugin_of_other_content_is_another_plugin(folder: Path, tmp_path: Path) -> None:
    plugin = tmp_path / "plugin.so"
    shutil.copy(folder / "plugin.so", plugin)
    run(folder, plugin, tmp_path / "cache")
    with plugin.open("ab") as file:
        file.write(b"\0")
    changed = run(folder, plugin, tmp_path / "cache", PROTEUS_OPT_PIPELINE="default<O1>")
    assert lines(changed, "kernel") == RESULTS
    changed = run(folder, plugin, tmp_path / "cache")
    assert changed.stdout.count("StorageCache rank 0 hits 1 accesses 2") == 2


def test_plugin_that_cannot_be_loaded_ends_the_program(folder: Path, tmp_path: Path) -> None:
    for plugin, why in (
        (tmp_path / "none.so", "Could not load library"),
        (folder / "user", "Could not load library"),
    ):
        refused = run(folder, plugin, tmp_path / "cache")
        assert refused.returncode != 0
        assert "[proteus][FATAL ERROR]" in refused.stderr
        assert f"Failed to load JIT pass plugin '{plugin}': " in refused.stderr
        assert why in refused.stderr


PROJECT = """
cmake_minimum_required(VERSION 3.25)
project(consumer LANGUAGES CXX CUDA)
find_package(proteus CONFIG REQUIRED)
add_library(plugin MODULE {source})
separate_arguments(flags UNIX_COMMAND "{flags}")
target_compile_options(plugin PRIVATE ${{flags}})
add_executable(app app.cu)
add_proteus(app)
proteus_register_jit_pass_plugin(app PIPELINE "{pipeline}" PLUGIN_TARGET plugin)
"""


def test_cmake_registers_a_plugin_before_main(tmp_path: Path) -> None:
    flags = run_command(LLVM / "bin" / "llvm-config", "--cxxflags").stdout.strip()
    (tmp_path / "CMakeLists.txt").write_text(
        PROJECT.format(source=SOURCES / "pass_plugin.cpp", flags=flags, pipeline=PIPELINE)
    )
    program = (SOURCES / "plugin_user.cu").read_text()
    main = program.index("int main")
    (tmp_path / "app.cu").write_text(
        program[:main] + "int main() { int* out; cudaMallocManaged(&out, 4); show(out); }\n"
    )
    compiler = BUILD / "bin"
    configured = run_command(
        "cmake", "-S", tmp_path, "-B", tmp_path / "build", "-G", "Ninja",
        f"-DCMAKE_CXX_COMPILER={compiler}/mneme-cxx", f"-DCMAKE_CUDA_COMPILER={compiler}/mneme-cxx",
        f"-DCMAKE_PREFIX_PATH={BUILD}", "-DCMAKE_CUDA_ARCHITECTURES=90",
    )  # fmt: skip
    assert configured.returncode == 0, configured.stdout + configured.stderr
    built = run_command("cmake", "--build", tmp_path / "build")
    assert built.returncode == 0, built.stdout + built.stderr
    done = mneme(
        "run", "--device", "cpu", "--", tmp_path / "build" / "app",
        PROTEUS_CACHE_DIR=str(tmp_path / "cache"),
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert lines(done, "kernel") == RESULTS[1:2]
