"""Programs whose threads load and unload libraries with kernels end, and with the right result."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import BUILD, ROOT, mneme, run_command
from tuned_runs import kernels_of, write_tuned

SOURCES = ROOT / "tests" / "apps" / "libraries"
# 6 threads, turns 0 to 14: the last value of the library's kernel and of the program's.
RESULT = f"{6 * sum(255 * turn + 7 + 255 * turn for turn in range(15))}\n"


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The program and its library."""
    folder = tmp_path_factory.mktemp("libraries")
    compiler = (BUILD / "bin" / "mneme-cxx", "-O1", "--offload-arch=sm_90", "-pthread")
    for source, output, flags in (
        ("libraries.cu", "libraries", ()),
        ("library.cu", "library.so", ("-shared", "-fPIC")),
    ):
        done = run_command(
            *compiler, *flags, SOURCES / source, "-o", folder / output, "-lcudart", "-ldl"
        )
        assert done.returncode == 0, done.stderr
    return [folder / "libraries", folder / "library.so"]


@pytest.mark.parametrize("again", range(3))
@pytest.mark.parametrize("mode", ["run", "record", "tuned"])
def test_threads_load_and_unload_libraries(
    mode: str, again: int, built: list[Path], tmp_path: Path
) -> None:
    del again  # the threads have to meet
    verb = ("record", "-rdb", tmp_path / "db") if mode == "record" else ("run",)
    environment = {"PROTEUS_CACHE_DIR": str(tmp_path / "cache")}
    if mode == "tuned":
        file = write_tuned(tmp_path / "tuned.json", kernels_of(built))
        environment["PROTEUS_TUNED_KERNELS"] = str(file)
    done = mneme(*verb, "--device", "cpu", "--", *built, timeout=60, **environment)
    assert (done.returncode, done.stdout) == (0, RESULT), done.stderr


@pytest.fixture(scope="module")
def same_names(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """A program and two libraries whose kernels have one name."""
    folder = tmp_path_factory.mktemp("same_names")
    compiler = (BUILD / "bin" / "mneme-cxx", "-O1", "--offload-arch=sm_90")
    libraries = []
    for name, value in (("first", 1), ("second", 2)):
        library = folder / f"lib{name}.so"
        flags = ("-shared", "-fPIC", f"-DNAME={name}", f"-DVALUE={value}")
        source = SOURCES / "same_name.cu"
        done = run_command(*compiler, *flags, source, "-o", library, "-lcudart")
        assert done.returncode == 0, done.stderr
        libraries.append(library)
    program = folder / "same_names"
    linked = (*libraries, f"-Wl,-rpath,{folder}", "-lcudart")
    done = run_command(*compiler, SOURCES / "same_names.cu", "-o", program, *linked)
    assert done.returncode == 0, done.stderr
    return [program, *libraries]


@pytest.mark.parametrize("mode", ["run", "record", "tuned"])
def test_of_two_kernels_of_one_name_the_first_registered_runs(
    mode: str, same_names: list[Path], tmp_path: Path
) -> None:
    """As with CUDA: whatever mneme does with the program, and in both libraries."""
    verb = ("record", "-rdb", tmp_path / "db") if mode == "record" else ("run",)
    environment = {"PROTEUS_CACHE_DIR": str(tmp_path / "cache")}
    if mode == "tuned":
        file = write_tuned(tmp_path / "tuned.json", kernels_of(same_names))
        environment["PROTEUS_TUNED_KERNELS"] = str(file)
    done = mneme(*verb, "--device", "cpu", "--", same_names[0], timeout=60, **environment)
    assert done.returncode == 0, done.stderr
    # The system initialises, and so registers, the library first that is last on the command line.
    assert done.stdout == "2 2 no error\n"
    if mode == "record":
        replayed = mneme("replay", "-rdb", tmp_path / "db", "--device", "cpu", timeout=60)
        assert "verified: exact" in replayed.stderr, replayed.stderr
