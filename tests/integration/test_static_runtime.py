"""Programs and libraries with NVIDIA's static runtime inside, on the CPU device."""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path

import pytest
from conftest import BUILD, made_once, mneme, replay_all, run_command

WRAPPER = BUILD / "bin" / "mneme-cxx"
DRIVER = BUILD / "lib" / "libmneme_cuda_driver.so"
SOURCES = Path(__file__).with_name("static_runtime")
STATIC = ("-lcudart_static", "-ldl", "-lrt", "-lpthread")
SHARED = ("-lcudart",)
# Where scripts/test has CUDA 12.9; another toolkit's archive may be a link to that of CUDA 13.
CUDA12 = Path(__file__).parents[2] / ".setup" / "cuda129"
CUDA12_ARCHIVE = CUDA12 / "lib" / "libcudart_static.a"
PARTS = {"addTen": 10, "addHundred": 100, "addThousand": 1000}


def _toolkit() -> Path:
    asked = run_command(BUILD / "bin" / "nvcc", "-", "__cmake_determine_cuda").stdout
    return Path(re.findall(r"TOP=(.*)", asked)[0])


pytestmark = [
    pytest.mark.compile,
    pytest.mark.skipif(not DRIVER.is_file(), reason="the CPU device's driver is not built"),
    pytest.mark.skipif(
        not any(_toolkit().glob("lib*/libcudart_static.a")),
        reason="the toolkit has no static runtime",
    ),
]


def _build(*words: str | Path) -> None:
    done = run_command(WRAPPER, "-O1", "--offload-arch=sm_90", *words)
    assert done.returncode == 0, done.stderr


def _link(folder: Path, kind: str, *words: str | Path) -> None:
    _build(*words, *(STATIC if kind == "static" else SHARED), "-o", folder)


def _build_all(folder: Path) -> None:
    include = ("-isystem", _toolkit() / "include")
    for name, more in PARTS.items():
        defined = (f"-DNAME={name}", f"-DMORE={more}", "-fPIC")
        _build(*defined, *include, "-c", SOURCES / "part.cu", "-o", folder / f"{name}.o")
    _build("-fPIC", *include, "-c", SOURCES / "host_only.cpp", "-o", folder / "host.o")
    # Its dlsym() goes by an address: then the linker makes no other reference in the whole program.
    _build(*include, "-fno-plt", "-c", SOURCES / "program.cu", "-o", folder / "program.o")
    for kind in ("shared", "static"):
        (folder / kind).mkdir()
        for name in (*PARTS, "host"):
            _link(folder / kind / f"lib{name}.so", kind, "-shared", folder / f"{name}.o")
    _link_program(folder, "static", "shared", "-fuse-ld=lld")
    _link_program(folder, "shared", "static")
    _link_program(folder, "static", "static", "-no-pie", "-Wl,--gc-sections", "-rdynamic")


def _link_program(folder: Path, kind: str, libraries: str, *words: str) -> None:
    where = folder / libraries
    used = (*(f"-l{name}" for name in ("host", "addTen", "addHundred")), "-lcuda")
    words = (*words, f"-L{where}", f"-Wl,-rpath,{where}", *used)
    _link(folder / f"{kind}_{libraries}", kind, folder / "program.o", *words)


@pytest.fixture(scope="module")
def folder() -> Path:
    return made_once("static_runtime", _build_all)


@pytest.mark.parametrize(
    ("program", "opened"),
    [("static_static", "static"), ("static_shared", "static"), ("shared_static", "shared")],
)
def test_it_works_as_with_the_shared_runtime(
    folder: Path, tmp_path: Path, program: str, opened: str
) -> None:
    command = ("--device", "cpu", "--", folder / program, folder / opened / "libaddThousand.so")
    alone = mneme("run", *command)
    assert (alone.returncode, alone.stderr) == (0, "")
    assert alone.stdout == "0 0 0 0 0\n1120 cudaSuccess\ninvalid configuration argument\n"
    done = mneme("record", "-rdb", tmp_path / "db", *command)
    assert (done.returncode, done.stdout) == (0, alone.stdout), done.stderr
    assert "recorded 2 instances of 2 kernels (5 launches)" in done.stderr
    assert "its launch was refused: invalid configuration argument" in done.stderr
    assert "runtime" not in done.stderr
    assert [one.result_class for one in replay_all(tmp_path / "db")] == ["exact"] * 2


@pytest.mark.parametrize("kind", ["static", "shared"])
def test_libraries_of_a_script_share_memory(folder: Path, tmp_path: Path, kind: str) -> None:
    names = [str(folder / kind / f"lib{name}.so") for name in ("addTen", "host")]
    script = f"""
import ctypes
kernels, host = (ctypes.CDLL(name) for name in {names})
host.newNumber.restype = ctypes.c_void_p
print(kernels.addTen(ctypes.c_void_p(host.newNumber()), None))
"""
    command = ("--device", "cpu", "--", sys.executable, "-c", script)
    done = mneme("record", "-rdb", tmp_path / "db", *command)
    assert (done.returncode, done.stdout) == (0, "0\n"), done.stderr
    assert "recorded 1 instance of 1 kernel (1 launch)" in done.stderr


def _edges(library: Path, toolkit: Path, *runtime: str | Path) -> Path:
    words = ("-fPIC", "-shared", "-isystem", toolkit / "include", SOURCES / "edges.cpp")
    _build(*words, *runtime, "-o", library)
    return library


def _ask(libraries: list[Path], *functions: str) -> tuple[list[str], str]:
    """What these functions of the libraries return in one process, in their order; its messages."""
    script = f"""
import ctypes
for name in {[str(library) for library in libraries]}:
    library = ctypes.CDLL(name)
    print(*(getattr(library, one)() for one in {functions}))
"""
    done = mneme("run", "--device", "cpu", "--", sys.executable, "-c", script)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines(), done.stderr


@pytest.mark.skipif(
    not CUDA12_ARCHIVE.is_file() or CUDA12_ARCHIVE.is_symlink(),
    reason="CUDA 12's static runtime is not there: scripts/test installs it",
)
def test_a_runtime_of_cuda_12_has_its_own_functions(tmp_path: Path) -> None:
    newer = next(_toolkit().glob("lib*/libcudart_static.a"))
    twelve = _edges(tmp_path / "libtwelve.so", CUDA12, CUDA12_ARCHIVE, *STATIC[1:])
    thirteen = _edges(tmp_path / "libthirteen.so", _toolkit(), newer, *STATIC[1:])
    shared = _edges(tmp_path / "libshared.so", _toolkit(), *SHARED)
    asked = ("version", "capability", "edges")
    assert _ask([twelve], *asked) == (["12 9 1"], "")
    assert _ask([thirteen], *asked) == (["13 9 1"], "")
    (first, second), said = _ask([twelve, thirteen], *asked)
    assert (first, second) == ("12 9 1", "13 -1 -1")  # as without a GPU
    assert "'libthirteen.so' contains the static runtime of CUDA 13, in a process" in said
    _, said = _ask([twelve, shared], "version")
    assert "a library is linked to the runtime of CUDA 13, in a process" in said
    assert _ask([shared, thirteen], *asked) == (["13 9 1"] * 2, "")


def test_a_runtime_of_no_known_cuda_is_named_and_left(tmp_path: Path) -> None:
    library = tmp_path / "libunknown.so"
    words = ("-fPIC", "-shared", SOURCES / "unknown.cpp", "-ldl", "-o", library)
    _build(*words)
    values, said = _ask([library], "version")
    assert values == ["100"]
    assert "'libunknown.so' contains the static CUDA runtime, which is neither CUDA 12's" in said


def test_a_library_is_found_from_another_directory(folder: Path) -> None:
    script = f"""
import ctypes, os
os.chdir({str(folder / "static")!r})
library = ctypes.CDLL("./libhost.so")
os.chdir("/")
library.newNumber.restype = ctypes.c_void_p
print(library.newNumber() is not None)
"""
    done = mneme("run", "--device", "cpu", "--", sys.executable, "-c", script)
    assert (done.stdout, done.stderr) == ("True\n", "")


def test_programs_without_symbols_are_named(folder: Path, tmp_path: Path) -> None:
    program = tmp_path / "stripped"
    assert run_command("strip", folder / "static_static", "-o", program).returncode == 0
    done = mneme("run", "--device", "cpu", "--", program, "")
    assert "do not strip it, or link the shared runtime" in done.stderr
    assert "'stripped' contains the static CUDA runtime and is stripped" in done.stderr


def test_libraries_without_symbols_are_named(folder: Path, tmp_path: Path) -> None:
    library = tmp_path / "libaddThousand.so"
    source = folder / "static" / library.name
    assert run_command("strip", source, "-o", library).returncode == 0
    done = mneme("run", "--device", "cpu", "--", folder / "static_static", library)
    assert "'libaddThousand.so' contains the static CUDA runtime and is stripped" in done.stderr
    assert "\n120 cudaSuccess\n" in done.stdout


def test_libraries_of_other_compilers_keep_theirs(folder: Path, tmp_path: Path) -> None:
    for name in ("host", "addTen"):
        shutil.copy(folder / "static" / f"lib{name}.so", tmp_path)
    words = ("-DNAME=addHundred", "-DMORE=100", "-fPIC", "-shared", SOURCES / "part.cu", *STATIC)
    include = ("-isystem", _toolkit() / "include")
    options = ("-O1", "--offload-arch=sm_90", *include, "-o", tmp_path / "libaddHundred.so")
    done = run_command(WRAPPER, *words, *options, MNEME_INSTRUMENT="0")
    assert done.returncode == 0, done.stderr
    command = (folder / "static_static", folder / "static" / "libaddThousand.so")
    done = mneme("run", "--device", "cpu", "--", *command, LD_LIBRARY_PATH=str(tmp_path))
    assert (
        "'libaddHundred.so' contains a CUDA runtime of its own and kernels without" in done.stderr
    )
    assert "\n1020 cudaSuccess\n" in done.stdout
