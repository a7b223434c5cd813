"""Errors of clang that the compilers explain: missing headers, options, an old language, source."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from cmake_parts import run_command

pytest_plugins = ["cmake_fixtures"]
pytestmark = pytest.mark.compile


@pytest.fixture
def toolkit(tmp_path: Path) -> Path:
    """The toolkit at hand without cuFFT."""
    real, root = Path(os.environ["CUDA_HOME"]), tmp_path / "toolkit"
    root.mkdir()
    for part in real.iterdir():
        if part.name not in ("bin", "include"):
            (root / part.name).symlink_to(part)
    shutil.copytree(real / "bin", root / "bin")
    (root / "include").mkdir()
    for header in (real / "include").iterdir():
        if not header.name.startswith("cufft"):
            (root / "include" / header.name).symlink_to(header)
    return root


@pytest.mark.parametrize(
    ("compiler", "source"),
    [
        ("mneme-nvcc", "a.cu"),
        ("mneme-nvcc", "a.cpp"),
        ("mneme-cxx", "a.cu"),
        ("mneme-cxx", "a.cpp"),
    ],
)
def test_missing_header_is_explained_behind_the_error(
    compiler: str, source: str, build_tree: Path, toolkit: Path, tmp_path: Path
) -> None:
    (tmp_path / source).write_text("#include <cufft.h>\n")
    done = run_command(
        *(build_tree / "bin" / compiler, "-c", source, "-o", "a.o"),
        cwd=tmp_path,
        CUDA_HOME=str(toolkit),
    )
    assert done.returncode == 1
    error, sentence = done.stderr.split("error generated")
    assert "fatal error: 'cufft.h' file not found" in error
    assert f"belongs to cuFFT, which the CUDA toolkit in '{toolkit}' lacks: install" in sentence
    assert "(PyPI)" in sentence
    assert "(conda)\n" in sentence
    assert not (tmp_path / "a.o").exists()


def test_other_errors_are_the_compilers_alone(
    build_tree: Path, toolkit: Path, tmp_path: Path
) -> None:
    (tmp_path / "a.cpp").write_text('#include "own.h"\n')
    (tmp_path / "b.cpp").write_text("int number = nothing;\n")
    for words in (("-c", "a.cpp"), ("-c", "b.cpp"), ("-fopenmp", "b.cpp", "-o", "b")):
        done = run_command(
            *(build_tree / "bin" / "mneme-cxx", *words),
            cwd=tmp_path,
            CUDA_HOME=str(toolkit),
        )
        assert done.returncode == 1
        assert done.stderr.endswith("1 error generated.\n")


def test_header_that_sources_of_cxx_do_not_find_is_located(
    build_tree: Path, toolkit: Path, tmp_path: Path
) -> None:
    (tmp_path / "a.cpp").write_text("#include <cuda_runtime.h>\n")
    done = run_command(
        *(build_tree / "bin" / "mneme-cxx", "-c", "a.cpp"), cwd=tmp_path, CUDA_HOME=str(toolkit)
    )
    assert f"give the compiler -I{toolkit}/include\n" in done.stderr


def test_options_of_nvcc_are_named_with_their_compiler(build_tree: Path, tmp_path: Path) -> None:
    (tmp_path / "a.cu").write_text("int main() {}\n")
    done = run_command(
        *(build_tree / "bin" / "mneme-clang++", "-arch=sm_90", "--extended-lambda", "-c", "a.cu"),
        cwd=tmp_path,
    )
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith(
        "mneme: '-arch=sm_90' and '--extended-lambda' are options of nvcc, which clang lacks: "
        f"compile with {build_tree}/bin/mneme-nvcc (CMake"
    )


def test_an_old_language_is_explained(build_tree: Path, tmp_path: Path) -> None:
    (tmp_path / "a.cu").write_text("#error Thrust requires at least C++17. Define X to suppress.\n")
    done = run_command(
        *(build_tree / "bin" / "mneme-nvcc", "-arch=sm_90", "-std=c++14", "-c", "a.cu"),
        cwd=tmp_path,
    )
    assert done.returncode != 0
    assert "say -std=c++17 there, or set NVCC_APPEND_FLAGS=-std=c++17" in done.stderr


MACRO = """
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda/std/functional>
#include <cuda_fp16.h>
#include "own.h"
struct Two { double a, b; };
__global__ void one(Two* out, unsigned n) {
  namespace groups = cooperative_groups;
  auto warp = groups::tiled_partition<32>(groups::this_thread_block());
  unsigned sum = groups::reduce(warp, n, groups::plus<unsigned>());
  *out = Two{sum, cuda::std::plus<double>()(1, 2)};
}
__global__ void two() { cooperative_groups::this_cluster().sync(); }
struct Three { template <class T> T given(T t) { return t; } };
template <class T> int older(T t) { register int x = t.template given(3); return x; }
int own() { return OWN + older(Three()); }
static_assert(__CUDACC_VER_MAJOR__ * 1000 + __CUDACC_VER_MINOR__ * 10 == CUDA_VERSION, "release");
"""


def test_a_macro_of_nvcc_that_a_source_asks_for_is_named(build_tree: Path, tmp_path: Path) -> None:
    (tmp_path / "own.h").write_text("#ifdef __NVCC__\n#define OWN 3\n#endif\n")
    (tmp_path / "a.cu").write_text(MACRO)
    words = (build_tree / "bin" / "mneme-nvcc", "-arch=sm_90", "-c", "a.cu", "-o", "a.o")
    done = run_command(*words, cwd=tmp_path)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == (
        "mneme: 'own.h' asks for __NVCC__, which mneme-nvcc does not define, since clang lacks "
        "nvcc's own built-in functions; with it the source compiles: add -D__NVCC__, or set "
        "NVCC_APPEND_FLAGS=-D__NVCC__"
    )
    done = run_command(*words, cwd=tmp_path, NVCC_APPEND_FLAGS="-D__NVCC__ -Xcompiler -Wlogical-op")
    assert done.returncode == 0, done.stderr
    assert "unknown warning option" not in done.stderr
    for kind in ("c++11-narrowing", "register", "missing-template-arg-list-after-template-kw"):
        assert f"[-W{kind}]" in done.stderr


def test_a_launch_with_braces_is_explained(build_tree: Path, tmp_path: Path) -> None:
    (tmp_path / "a.cu").write_text(
        "#ifdef __NVCC__\n#endif\n__global__ void k() {}\n"
        "void launch(unsigned x) { k<<<1, {x, x, 1}>>>(); }\n"
    )
    done = run_command(
        *(build_tree / "bin" / "mneme-nvcc", "-arch=sm_90", "-c", "a.cu"), cwd=tmp_path
    )
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == (
        "mneme: clang takes no braces between <<< and >>>: write dim3 before them (dim3{x, y, z})"
    )
