"""A program without code for the GPU it meets is compiled for it from its own IR."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest
from conftest import BUILD, ROOT, Finished, mneme, run_command

if TYPE_CHECKING:
    from collections.abc import Callable

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


def run(program: Path, cache: Path, wanted: str) -> Finished:
    return mneme(
        *("run", "--device", "cpu", "--", program),
        MNEME_CACHE_DIR=str(cache),
        MNEME_COMPILE_FOR_GPU=wanted,
    )


class Registered(NamedTuple):
    members: list[Member]
    stderr: str


@pytest.fixture
def register(program: Path, keeper: Path, tmp_path: Path) -> Callable[[str], Registered]:
    """Return a function that runs the program, without any GPU, and returns what it registers."""
    file = tmp_path / "registered"

    def register_for(wanted: str) -> Registered:
        file.unlink(missing_ok=True)
        done = run_command(
            program,
            MNEME_CACHE_DIR=str(tmp_path / "cache"),
            MNEME_COMPILE_FOR_GPU=wanted,
            LD_PRELOAD=str(keeper),
            REGISTERED=str(file),
        )
        return Registered(members(file.read_bytes()), done.stderr)

    return register_for


def test_the_code_that_is_missing_is_compiled_once(
    register: Callable[[str], Registered],
) -> None:
    for attempt in range(2):
        (built, added), stderr = register("sm_90")
        assert (NOTICE in stderr) == (attempt == 0)
        assert (built.kind, built.architecture) == ("cubin", 75)
        assert (added.kind, added.architecture) == ("cubin", 90)


def test_the_program_runs_as_ever(program: Path, tmp_path: Path) -> None:
    for wanted in ("0", "sm_90", "sm_80,sm_90"):
        done = run(program, tmp_path / "cache", wanted)
        assert done.returncode == 0, done.stderr
        assert done.stdout == "cudaSuccess 9 8 765 41 42\n"


def test_the_code_has_all_kernels_and_variables_of_its_unit(
    register: Callable[[str], Registered], tmp_path: Path
) -> None:
    (_, added), _ = register("90")
    image = tmp_path / "image.cubin"
    image.write_bytes(added.content)
    symbols = run_command("readelf", "--symbols", "--wide", image).stdout
    kinds = {line.split()[-1]: line.split()[3] for line in symbols.splitlines() if "GLOBAL" in line}
    assert kinds["_Z5countPi"] == "FUNC"
    assert "FUNC" in [kind for name, kind in kinds.items() if "scale" in name]
    assert kinds["counter"] == kinds["factors"] == "OBJECT"
    assert not any("mneme" in name for name in kinds)
    assert struct.pack("<3f", 1, 2, 4) in added.content
    assert struct.pack("<i", 40) in added.content


def test_code_that_serves_the_gpu_is_left_alone(register: Callable[[str], Registered]) -> None:
    for wanted in ("sm_75", "0", ""):
        members, stderr = register(wanted)
        assert len(members) == 1
        assert "compiling" not in stderr


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


def test_a_program_without_a_gpu_says_how_it_can_run(program: Path, tmp_path: Path) -> None:
    if Path("/dev/nvidiactl").exists():
        pytest.skip("this machine has a GPU")
    done = run_command(program, MNEME_CACHE_DIR=str(tmp_path / "cache"))
    assert f"mneme run --device cpu -- {program}" in done.stderr
    assert done.stderr.count("no kernel of this program runs here") == 1
