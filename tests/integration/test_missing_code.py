"""A program without code for the GPU it meets is compiled for it from its own IR."""

from __future__ import annotations

import os
import struct
import subprocess
from pathlib import Path
from typing import NamedTuple

import pytest
from conftest import BUILD, ROOT, Finished, mneme, run_command

pytestmark = pytest.mark.compile
APPS = ROOT / "tests/apps/missing_code"
NOTICE = "this program has no code for sm_90: compiling it from the IR of its kernels, once"


class Member(NamedTuple):
    kind: str
    architecture: int
    content: bytes


def members(fat_binaries: bytes) -> list[Member]:
    """Return what is in fat binaries that follow each other."""
    found = []
    at = 0
    while at < len(fat_binaries):
        header_bytes, payload_bytes = struct.unpack_from("<HQ", fat_binaries, at + 6)
        end = at + header_bytes + payload_bytes
        at += header_bytes
        while at < end:
            kind, _, start, size = struct.unpack_from("<HHIQ", fat_binaries, at)
            (architecture,) = struct.unpack_from("<I", fat_binaries, at + 28)
            content = fat_binaries[at + start : at + start + size]
            found.append(Member({1: "ptx", 2: "cubin"}[kind], architecture, content))
            at += start + size
    return found


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a program with machine code for sm_75 only."""
    path = tmp_path_factory.mktemp("program") / "variables"
    done = run_command(
        *(BUILD / "bin" / "mneme-cxx", "-O2", "--offload-arch=sm_75", "--no-cuda-include-ptx=all"),
        *(APPS / "variables.cu", "-o", path, "-lcudart"),
    )
    assert done.returncode == 0, done.stderr
    return path


@pytest.fixture(scope="module")
def keeper(tmp_path_factory: pytest.TempPathFactory) -> Path:
    library = tmp_path_factory.mktemp("keeper") / "keep.so"
    done = run_command("cc", "-shared", "-fPIC", APPS / "keep_code.c", "-o", library, "-ldl")
    assert done.returncode == 0, done.stderr
    return library


def run(program: Path, cache: Path, wanted: str, **environment: str) -> Finished:
    return mneme(
        *("run", "--device", "cpu", "--", program),
        MNEME_CACHE_DIR=str(cache),
        MNEME_COMPILE_FOR_GPU=wanted,
        **environment,
    )


def test_the_code_that_is_missing_is_compiled_once(
    program: Path, keeper: Path, tmp_path: Path
) -> None:
    plain = run(program, tmp_path / "cache", "0")
    assert plain.stdout == "cudaSuccess 9 8 765 41 42\n"
    registered = tmp_path / "registered"
    for attempt in range(2):
        registered.unlink(missing_ok=True)
        done = run(
            program, tmp_path / "cache", "sm_90", LD_PRELOAD=str(keeper), REGISTERED=str(registered)
        )
        assert done.returncode == 0, done.stderr
        assert done.stdout == plain.stdout
        assert (NOTICE in done.stderr) == (attempt == 0)
        built, added = members(registered.read_bytes())
        assert (built.kind, built.architecture) == ("cubin", 75)
        assert (added.kind, added.architecture) == ("cubin", 90)


def test_the_code_has_all_kernels_and_variables_of_its_unit(
    program: Path, keeper: Path, tmp_path: Path
) -> None:
    registered = tmp_path / "registered"
    run(program, tmp_path / "cache", "90", LD_PRELOAD=str(keeper), REGISTERED=str(registered))
    _, added = members(registered.read_bytes())
    image = tmp_path / "image.cubin"
    image.write_bytes(added.content)
    symbols = subprocess.run(
        [f"llvm-readelf-{os.environ.get('MNEME_LLVM', '22')}", "--symbols", "--wide", image],
        capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    of_type = {line.split()[-1]: line.split()[3:5] for line in symbols.splitlines() if "GLOBAL" in line}
    assert of_type["_Z5countPi"] == ["FUNC", "GLOBAL"]
    assert of_type["_Z5scaleIfEvPT_i"][0] == "FUNC"
    assert of_type["counter"] == ["OBJECT", "GLOBAL"]
    assert of_type["factors"] == ["OBJECT", "GLOBAL"]
    assert not any("mneme" in name for name in of_type)
    assert struct.pack("<3f", 1, 2, 4) in added.content
    assert struct.pack("<i", 40) in added.content


def test_code_that_serves_the_gpu_is_left_alone(
    program: Path, keeper: Path, tmp_path: Path
) -> None:
    registered = tmp_path / "registered"
    for wanted in ("sm_75", "0", ""):
        registered.unlink(missing_ok=True)
        done = run(
            program, tmp_path / "cache", wanted, LD_PRELOAD=str(keeper), REGISTERED=str(registered)
        )
        assert "mneme" not in done.stderr
        assert len(members(registered.read_bytes())) == 1


def test_a_list_that_makes_no_sense_is_named(program: Path, tmp_path: Path) -> None:
    done = run(program, tmp_path / "cache", "hopper")
    assert done.returncode == 0
    assert "'hopper' is not a list of architectures such as sm_80,sm_90" in done.stderr


def test_an_architecture_that_cannot_be_compiled_for_is_named(
    program: Path, tmp_path: Path
) -> None:
    done = run(program, tmp_path / "cache", "sm_199")
    assert done.stdout == "cudaSuccess 9 8 765 41 42\n"
    assert "kernels of this program cannot be compiled for sm_199: " in done.stderr
