"""Relocatable device code in static libraries, linked by the compiler wrappers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cmake_parts import run_command, run_here

pytest_plugins = ["cmake_fixtures"]
pytestmark = pytest.mark.compile

SOURCES = {
    "one.cu": "__device__ int two(int);\n__device__ int added = 3;\n"
    "__device__ int one(int x) { return two(x) + added; }\n",
    "two.cu": "extern __device__ int added;\n__device__ int two(int x) { return 2 * x + added; }\n",
    "main.cu": "#include <cstdio>\n__device__ int one(int);\n"
    "__global__ void call(int* p) { *p = one(*p); }\n"
    "int main() { int* p; cudaMallocManaged(&p, 4); *p = 1; call<<<1, 1>>>(p);\n"
    '  cudaDeviceSynchronize(); printf("%d\\n", *p); }\n',
}


UNITS = {
    "shared.h": "template <class T> struct Line { T slope; __device__ T at(T x) const; };\n"
    "template <class T> __device__ T square(T x);\n",
    "shared.cu": '#include "shared.h"\n'
    "template <class T> __device__ T Line<T>::at(T x) const { return slope * x; }\n"
    "template <class T> __device__ T square(T x) { return x * x; }\n"
    "template struct Line<int>;\ntemplate __device__ int square<int>(int);\n",
    "strong.cu": "__device__ int weight() { return 100; }\n",
    "unused.cu": "__device__ int unused(int x) { return 7 * x; }\n",
    "main.cu": '#include <cstdio>\n#include "shared.h"\n'
    "__attribute__((weak)) __device__ int weight() { return 1; }\n"
    "__global__ void call(int* p, Line<int> line) { *p = line.at(*p) + square(5) + weight(); }\n"
    "int main() { int* p; cudaMallocManaged(&p, 4); *p = 1; call<<<1, 1>>>(p, {3});\n"
    '  cudaDeviceSynchronize(); printf("%d\\n", *p); }\n',
}


def test_kernels_have_the_code_of_the_units_they_need(build_tree: Path, tmp_path: Path) -> None:
    # Explicit instantiations of templates, and a weak function that another unit replaces.
    for source, text in UNITS.items():
        (tmp_path / source).write_text(text)
    sources = [source for source in UNITS if source.endswith(".cu")]
    compiler = build_tree / "bin/mneme-nvcc"
    done = run_command(compiler, "-rdc=true", "-arch=sm_90", *sources, "-o", "app", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    recording = tmp_path / "recorded"
    record = ("record", "-rdb", recording, "--device", "cpu", "--", tmp_path / "app")
    assert run_here(build_tree, *record).stdout == "128\n"
    (described,) = recording.glob("[0-9]*.json")
    assert len(json.loads(described.read_text())["Modules"]) == 4


def test_functions_of_libraries_built_without_mneme_are_named(
    build_tree: Path, tmp_path: Path
) -> None:
    (tmp_path / "strong.cu").write_text(UNITS["strong.cu"])
    (tmp_path / "main.cu").write_text(
        "__device__ int weight();\n__global__ void call(int* p) { *p = weight(); }\n"
        "int main() { int* p; cudaMallocManaged(&p, 4); call<<<1, 1>>>(p);\n"
        "  return cudaDeviceSynchronize(); }\n"
    )
    command = (build_tree / "bin/mneme-nvcc", "-rdc=true", "-arch=sm_90", "-c")
    for source, instrument in (("strong.cu", "0"), ("main.cu", "1")):
        done = run_command(*command, source, cwd=tmp_path, MNEME_INSTRUMENT=instrument)
        assert done.returncode == 0, done.stderr
    run_command(*command[:-1], "main.o", "strong.o", "-o", "app", cwd=tmp_path)
    said = run_here(build_tree, "run", "--device", "cpu", "--", tmp_path / "app").stderr
    assert "calls device function 'weight()', which no code built with mneme defines" in said
    assert "build the library that defines it with mneme, too" in said


@pytest.mark.parametrize(
    ("compiler", "options"),
    [
        ("mneme-cxx", ("-fgpu-rdc", "--offload-arch=sm_90")),
        ("mneme-nvcc", ("-rdc=true", "-arch=sm_90")),
    ],
)
def test_libraries_that_need_each_other_are_named_again(
    compiler: str, options: tuple[str, ...], build_tree: Path, tmp_path: Path
) -> None:
    # As CMake links static libraries that depend on each other.
    program = build_tree / "bin" / compiler
    for source, text in SOURCES.items():
        (tmp_path / source).write_text(text)
        done = run_command(program, "-c", *options, source, "-o", f"{source}.o", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
    for name in ("one", "two"):
        run_command("ar", "cr", f"lib{name}.a", f"{name}.cu.o", cwd=tmp_path)
    device = ("-Wl,--should-extract=sm_90",) if compiler == "mneme-cxx" else ()
    done = run_command(
        *(program, *options, "main.cu.o", "libone.a", "libtwo.a", "libone.a", "libtwo.a"),
        *(*device, "-o", "app"),
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    assert run_here(build_tree, "run", "--device", "cpu", "--", tmp_path / "app").stdout == "8\n"
