"""HIP programs, built in each of the ways in which projects build them, are recorded and replayed."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from cmake_parts import BUILD, HERE, ROOT, Finished, added, build, run_command, run_here

pytest_plugins = ["cmake_fixtures"]
pytestmark = [pytest.mark.hip, pytest.mark.compile]

HIP_PACKAGE = next(Path("/usr/lib").glob("*/cmake/hip/hip-config.cmake"), None)
HAS_DEBIAN_HIP = HIP_PACKAGE is not None and Path("/usr/include/hip/hip_runtime.h").is_file()
NOTHING_NAMED = dict.fromkeys(("ROCM_PATH", "HIP_PATH", "ROCM_HOME"), "")
PROGRAMS = {
    "language": (
        ("vector_add", "10000"),
        ("stencil2d",),
        ("heat3d",),
        ("reduction", "20000"),
        ("nbody",),
        ("relocatable",),
    ),
    "targets": (("vector_add", "10000"), ("relocatable",)),
    "make": (("vector_add", "10000"), ("relocatable",)),
}


def _made_by_cmake(folder: Path, way: str, *options: str) -> None:
    compiler = BUILD / "bin" / "mneme-clang++"
    configured = run_command(
        *("cmake", "-S", HERE / "hip_ways", "-B", folder, "-G", "Ninja", f"-DWAY={way}"),
        *(f"-DCMAKE_CXX_COMPILER={compiler}", f"-DEXAMPLES={ROOT / 'examples'}", *options),
        **NOTHING_NAMED,
    )
    assert configured.returncode == 0, configured.words
    more = ["host_only"] if way == "targets" else []
    build(folder, "--target", *(name for name, *_ in PROGRAMS[way]), *more)
    for name in more:
        assert run_here(BUILD, "run", "--device", "cpu", "--", folder / name).returncode == 0


def _with_hipcc(folder: Path) -> Path:
    """The package hip of Debian 12, which wants a hipcc beside it, in a folder that has one."""
    assert HIP_PACKAGE is not None
    libraries = HIP_PACKAGE.parents[2]
    copied = folder / libraries.relative_to("/usr")
    shutil.copytree(HIP_PACKAGE.parent, copied / "cmake" / "hip")
    for library in libraries.glob("libamdhip64.so*"):
        (copied / library.name).symlink_to(library.resolve())
    (folder / "include").mkdir()
    (folder / "include" / "hip").symlink_to("/usr/include/hip")
    (folder / "bin").mkdir()
    for tool in ("hipcc", "hipconfig"):
        (folder / "bin" / tool).touch(mode=0o755)
    return folder


@pytest.fixture(params=PROGRAMS)
def built(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Path, str]:
    """The folder of the built programs, and the way in which they were built."""
    if not HAS_DEBIAN_HIP:
        pytest.skip("libamdhip64-dev and rocm-device-libs are not installed")
    folder, way = tmp_path / "built", str(request.param)
    if way == "language":
        _made_by_cmake(
            *(folder, way, f"-DCMAKE_HIP_COMPILER={BUILD / 'bin' / 'mneme-clang++'}"),
            *("-DCMAKE_HIP_ARCHITECTURES=gfx90a", f"-DCMAKE_PREFIX_PATH={BUILD}"),
        )
    elif way == "targets":
        prefixes = f"{BUILD};{_with_hipcc(tmp_path / 'hip')}"
        _made_by_cmake(folder, way, f"-DCMAKE_PREFIX_PATH={prefixes}", "-DGPU_TARGETS=gfx90a")
    else:
        folder.mkdir()
        done = run_command(
            *("make", "-f", HERE / "hip_make" / "Makefile", f"EXAMPLES={ROOT / 'examples'}"),
            *(f"WAYS={HERE / 'hip_ways'}", f"HIPCC={BUILD / 'bin' / 'mneme-hipcc'}"),
            cwd=folder,
            HCC_AMDGPU_TARGET="gfx90a",
            **NOTHING_NAMED,
        )
        assert (done.returncode, done.stderr) == (0, ""), done.stdout + done.stderr
    return folder, way


def _replayed(database: Path, device: str, **environment: str) -> Finished:
    line = ("replay", "-rdb", database, "--device", device, "default<O3>")
    return run_here(BUILD, *line, **environment)


def test_hip_programs_of_each_build_are_recorded_and_replayed(
    built: tuple[Path, str], tmp_path: Path
) -> None:
    folder, way = built
    stand_in = {
        "MNEME_HIP_LIBRARY": str(BUILD / "lib" / "stand_in" / "libamdhip64.so.6"),
        "MNEME_CARRY_IR": "1",
    }
    for name, *arguments in PROGRAMS[way]:
        database = tmp_path / f"db-{name}"
        line = ("record", "-rdb", database, "--device", "cpu", "--", folder / name, *arguments)
        recorded = run_here(BUILD, *line)
        assert recorded.stdout.endswith("PASSED\n"), recorded.stdout + recorded.stderr
        for device, environment in (("cpu", {}), ("hip:0", stand_in)):
            done = _replayed(database, device, **environment)
            assert done.returncode == 0, done.stderr
            assert '"verified": true' in done.stdout


@pytest.mark.parametrize("layout", ["AMD's", "a distribution's"])
def test_cmake_is_told_where_the_language_hip_is_described(
    layout: str, moved_prefix: Path, tmp_path: Path
) -> None:
    rocm = tmp_path / "rocm"
    described = "lib/cmake/hip-lang/hip-lang-config.cmake"
    for file in ("include/hip/hip_runtime.h", described)[: 2 if layout == "AMD's" else 1]:
        (rocm / file).parent.mkdir(parents=True)
        (rocm / file).touch()
    asked = (moved_prefix / "bin" / "mneme-clang++", "-v", "-print-targets")
    done = run_command(*asked, **{**NOTHING_NAMED, "HIP_PATH": str(rocm)})
    assert done.returncode == 0
    assert "amdgcn" in done.stdout
    ours = moved_prefix / "lib" / "cmake" / "mneme" / "rocm"
    assert (ours / described).is_file()
    root = rocm if layout == "AMD's" else ours
    # CMake takes the first.
    found = [line for line in done.stderr.splitlines() if "Found HIP installation" in line]
    assert found[0] == f"Found HIP installation: {root}, as mneme-clang++ tells CMake"


@pytest.mark.parametrize(
    ("given", "passed"),
    [
        (
            ["a.cpp", "b.o", "c.cc", "-o", "app"],
            [
                *("-x", "hip", "a.cpp", "-x", "none", "b.o", "-x", "hip", "c.cc", "-o", "app"),
                *("-O3", "--offload-arch=gfx90a,gfx1030", "--hip-link", "-lamdhip64"),
            ],
        ),
        (
            ["-O1", "-c", "a.cu", "--amdgpu-target=gfx908"],
            ["-O1", "-c", "-x", "hip", "a.cu", "--offload-arch=gfx908"],
        ),
        (["-c", "-x", "c++", "a.cpp"], ["-c", "-x", "c++", "a.cpp", "-O3"]),
        (["a.o", "-o", "app.cpp"], ["a.o", "-o", "app.cpp", "-O3", "--hip-link", "-lamdhip64"]),
        (
            ["-fgpu-rdc", "a.o"],
            [
                *("-fgpu-rdc", "a.o", "-O3", "--offload-arch=gfx90a,gfx1030"),
                *("--hip-link", "-lamdhip64"),
            ],
        ),
        (
            ["--genco", "a.cpp", "--offload-arch=gfx908", "-o", "a.hsaco"],
            [
                *("--cuda-device-only", "-x", "hip", "a.cpp", "--offload-arch=gfx908"),
                *("-o", "a.hsaco", "-O3"),
            ],
        ),
        (["--version"], ["--version"]),
    ],
)
def test_hipcc_passes_on_what_hipcc_means(
    given: list[str],
    passed: list[str],
    build_tree: Path,
    told: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HCC_AMDGPU_TARGET", "gfx90a,gfx1030")
    monkeypatch.setenv("MNEME_CLANGXX", str(told))
    done = run_command(build_tree / "bin" / "mneme-hipcc", *given)
    lines = done.stdout.splitlines()
    end = lines.index("--start-no-unused-arguments") if len(lines) > len(passed) else len(lines)
    assert lines[:end] == passed
    assert done.returncode == 3
    # It is mneme-cxx: what has sources becomes recordable.
    has_sources = any(word.startswith(("a.c", "-c")) for word in given)
    assert any(line.endswith("libMnemePasses.so") for line in lines) is has_sources


def test_device_libraries_beside_a_clang_are_found(
    build_tree: Path, told: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # As Debian 13 and newer have them: for one clang, not a newer one than ours.
    for name in ("ROCM_PATH", "ROCM_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HIP_PATH", str(tmp_path))
    header = tmp_path / "include" / "hip" / "hip_runtime.h"
    header.parent.mkdir(parents=True)
    header.touch()
    wanted = None
    for version in (17, 18, 99):
        folder = tmp_path / f"lib/llvm-{version}/lib/clang/{version}/amdgcn/bitcode"
        folder.mkdir(parents=True)
        for name in ("ocml", "oclc_abi_version_500", "oclc_abi_version_600"):
            (folder / f"{name}.bc").touch()
        wanted = folder if version == 18 else wanted
    flags = added(build_tree, told, "-c", "a.hip", "--offload-arch=gfx90a", tool="mneme-clang++")
    assert flags == [f"--rocm-path={tmp_path}", f"--rocm-device-lib-path={wanted}"]
