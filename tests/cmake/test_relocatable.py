"""Relocatable device code in static libraries, linked by the compiler wrappers."""

from __future__ import annotations

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
