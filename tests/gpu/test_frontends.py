"""Kernels that a program makes while it runs, in programs that the machine's own compiler builds."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from gpu import support
from mneme.install import paths as _paths

SOURCES = Path(__file__).resolve().parents[1] / "frontends"

pytestmark = [
    pytest.mark.compile,
    pytest.mark.skipif(not shutil.which("g++"), reason="g++ is not installed"),
]


def runtime() -> list[str]:
    """How a program is linked with the vendor's runtime; on the CPU device it is there at the start."""
    nvcc = shutil.which("nvcc")
    if not support.IS_GPU or not nvcc:
        return ["-Wl,--unresolved-symbols=ignore-in-object-files"]
    libraries = Path(nvcc).resolve().parents[1] / "lib64"
    return [f"-L{libraries}", f"-Wl,-rpath,{libraries}", "-lcudart"]


def build(source: str, folder: Path) -> Path:
    """With g++, without LLVM and without a CUDA toolkit."""
    config = _paths.config()
    program = folder / "program"
    libraries = [*config["ldflags"].split(), "-lmneme_frontend", "-rdynamic", *runtime()]
    include = f"-I{_paths.prefix() / 'include'}"
    done = support.run_command(
        "g++",
        *("-std=c++17", include, "-DTEST_CUDA", SOURCES / source, "-o", program, *libraries),
    )
    assert done.returncode == 0, done.stderr
    return program


def run(program: Path, cache: Path) -> list[str]:
    """Own lines of the program."""
    done = support.run(program, PROTEUS_CACHE_DIR=str(cache))
    assert done.returncode == 0, done.stderr
    return [line for line in done.stdout.splitlines() if not line.startswith("[proteus]")]


def test_modules_of_ir(tmp_path: Path) -> None:
    program = build("ir_device.cpp", tmp_path)
    for _ in ("cold", "warm"):
        assert run(program, tmp_path / "cache")[:2] == [
            "status 0 x 2.25 429.75 threads 384",
            "too many threads: refused",
        ]


@pytest.mark.skipif(not support.IS_GPU, reason="nvcc leaves code for GPUs only")
@pytest.mark.skipif(not shutil.which("nvcc"), reason="nvcc is not installed")
def test_modules_of_nvcc(tmp_path: Path) -> None:
    program = build("cpp_nvcc.cpp", tmp_path)
    for _ in ("cold", "warm"):
        assert run(program, tmp_path / "cache") == ["0 0 7 8 194"]
