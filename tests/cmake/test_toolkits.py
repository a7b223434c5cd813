"""CUDA and HIP installations: which one the wrappers take, what they add for it, and none at all."""

from __future__ import annotations

import os
import re
import shutil
import sys
from pathlib import Path

import pytest
from cmake_parts import HERE, added, run_command

pytest_plugins = ["cmake_fixtures"]
pytestmark = pytest.mark.compile


def test_toolkits_are_taken_in_the_documented_order(
    build_tree: Path, told: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("home", "path"):
        (tmp_path / name / "nvvm" / "libdevice").mkdir(parents=True)
        (tmp_path / name / "bin").mkdir()
        (tmp_path / name / "bin" / "ptxas").touch(mode=0o755)
    monkeypatch.setenv("CUDA_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("CUDA_PATH", str(tmp_path / "path"))
    assert f"--cuda-path={tmp_path}/home" in added(build_tree, told, "-c", "a.cu")
    monkeypatch.delenv("CUDA_HOME")
    assert f"--cuda-path={tmp_path}/path" in added(build_tree, told, "-c", "a.cu")


def test_toolkit_that_is_none_is_told_and_another_used(
    build_tree: Path, told: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CUDA_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("MNEME_CLANGXX", str(told))
    wrapper = build_tree / "bin" / "mneme-cxx"
    sentence = f"mneme-cxx: CUDA_HOME is '{tmp_path}/home', which is not a CUDA toolkit"
    done = run_command(wrapper, "-c", "a.cu")
    assert done.stderr.startswith(sentence)
    assert done.stderr.splitlines()[1:] == ["a word"]
    used = done.stderr.split("; '")[1].split("' is used")[0]
    assert f"--cuda-path={used}" in done.stdout
    # The message appears only when CUDA is compiled and no other toolkit is named.
    for others in (["-c", "a.cpp"], ["-c", "a.cu", "--cuda-path=/own"]):
        assert run_command(wrapper, *others).stderr == "a word\n"


def test_search_says_nothing_where_broken_pipes_are_ignored(build_tree: Path, told: Path) -> None:
    ignoring = 'trap "" PIPE; exec "$@"'
    command = ("sh", "-c", ignoring, "sh", build_tree / "bin" / "mneme-clang++", "-c", "a.cu")
    assert run_command(*command, MNEME_CLANGXX=str(told)).stderr == "a word\n"


HEADERS = "include/hip"
WAVE_SIZE = "-D__AMDGCN_WAVEFRONT_SIZE=64"


def _hip_root(
    root: Path,
    *,
    release: int,
    libraries: str,
    object_versions: tuple[int, ...],
    more: tuple[str, ...] = (),
    needs_old_parts: bool = False,
) -> Path:
    """A HIP installation as far as the wrappers look into it."""
    for name, text in {
        f"{HEADERS}/hip_runtime.h": "",
        f"{HEADERS}/hip_version.h": f"#define HIP_VERSION_MAJOR {release}\n",
        f"{libraries}/ocml.bc": "__oclc_daz_opt" if needs_old_parts else "",
        **{f"{libraries}/{name}.bc": "" for name in more},
        **{f"{libraries}/oclc_abi_version_{version}00.bc": "" for version in object_versions},
    }.items():
        file = root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return root


@pytest.fixture
def old_hip(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """HIP 5 laid out as Debian does it, named by HIP_PATH; its directory has a blank."""
    monkeypatch.delenv("ROCM_PATH", raising=False)
    libraries = "lib/x86_64-linux-gnu/amdgcn/bitcode"
    root = _hip_root(tmp_path / "old hip", release=5, libraries=libraries, object_versions=(4, 5))
    monkeypatch.setenv("HIP_PATH", str(root))
    return root


def test_old_hip_installation_gets_what_a_new_clang_needs(
    build_tree: Path, told: Path, old_hip: Path
) -> None:
    flags = added(build_tree, told, "-c", "a.hip", "--offload-arch=gfx90a", tool="mneme-clang++")
    assert flags == [
        f"--rocm-path={old_hip}",
        f"--rocm-device-lib-path={old_hip}/lib/x86_64-linux-gnu/amdgcn/bitcode",
        "-mcode-object-version=5",
        WAVE_SIZE,
    ]
    several = added(build_tree, told, "-c", "a.hip", "--offload-arch=gfx90a,gfx1030:xnack-")
    position = several.index(WAVE_SIZE)
    assert several[position + 1 : position + 5] == [
        *("-Xarch_gfx1030", "-U__AMDGCN_WAVEFRONT_SIZE"),
        *("-Xarch_gfx1030", "-D__AMDGCN_WAVEFRONT_SIZE=32"),
    ]
    linked = added(build_tree, told, "a.o", "-lamdhip64", tool="mneme-clang++")
    assert linked == [f"-L{old_hip}/lib", f"-Wl,-rpath,{old_hip}/lib"]


@pytest.mark.parametrize(
    ("given", "absent"),
    [
        ("-nogpulib", "--rocm-device-lib-path"),
        ("-nogpulib", "-mcode-object-version"),
        ("--rocm-device-lib-path=/own", "--rocm-device-lib-path"),
        ("-mcode-object-version=4", "-mcode-object-version"),
        ("-D__AMDGCN_WAVEFRONT_SIZE=32", "-D__AMDGCN_WAVEFRONT_SIZE"),
    ],
)
@pytest.mark.usefixtures("old_hip")
def test_what_the_user_says_of_hip_is_left_alone(
    given: str, absent: str, build_tree: Path, told: Path
) -> None:
    flags = added(build_tree, told, "-c", "-x", "hip", "a.cpp", given)
    assert [flag for flag in flags if flag.startswith(absent)] == []
    assert any(flag.startswith("--rocm-path=") for flag in flags)


def test_gpu_that_a_rocm_does_not_know_is_named(
    build_tree: Path, told: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = _hip_root(
        tmp_path / "r",
        release=5,
        libraries="amdgcn/bitcode",
        object_versions=(5,),
        more=("oclc_isa_version_90a",),
        needs_old_parts=True,
    )
    monkeypatch.setenv("ROCM_PATH", str(root))
    wrapper = build_tree / "bin" / "mneme-cxx"
    given = ("-c", "a.hip", "--offload-arch=gfx90a,gfx1100")
    done = run_command(wrapper, *given, MNEME_CLANGXX=str(told))
    assert (done.returncode, done.stdout) == (1, "")
    sentence = f"mneme-cxx: HIP 5 in '{root}' has no device library for gfx1100"
    assert done.stderr.startswith(sentence)
    assert done.stderr.count("\n") == 1
    known_gpu = ("-c", "a.hip", "--offload-arch=gfx90a")
    known = added(build_tree, told, *known_gpu)
    assert "--hip-device-lib=oclc_isa_version_90a.bc" in known
    # clang looks for these where it is told to, and not in the ROCm that it knows.
    assert f"--rocm-device-lib-path={root}/amdgcn/bitcode" in known
    assert "--hip-device-lib=oclc_abi_version_500.bc" in known
    older = added(build_tree, told, *known_gpu, "-mcode-object-version=4")
    assert "--hip-device-lib=oclc_abi_version_400.bc" in older
    added(build_tree, told, *given, "-nogpulib")


def test_current_rocm_gets_nothing_but_its_path(
    build_tree: Path, told: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    libraries = "amdgcn/bitcode"
    # ROCm 7.0 has a hip.bc, which nothing needs.
    root = _hip_root(
        tmp_path / "r", release=7, libraries=libraries, object_versions=(5, 6), more=("hip",)
    )
    monkeypatch.delenv("ROCM_PATH", raising=False)
    monkeypatch.setenv("ROCM_HOME", str(root))
    compiled = ("-c", "a.hip", "--offload-arch=gfx942")
    flags = added(build_tree, told, *compiled, tool="mneme-clang++")
    assert flags == [f"--rocm-path={root}"]
    # What clang finds by itself is not said again.
    monkeypatch.setenv("ROCM_PATH", str(root))
    assert added(build_tree, told, *compiled, tool="mneme-clang++") == []


HAS_DEBIAN_HIP = Path("/usr/include/hip/hip_runtime.h").is_file() and any(
    Path("/usr/lib").glob("*/amdgcn/bitcode/ocml.bc")
)


@pytest.mark.skipif(
    not HAS_DEBIAN_HIP, reason="libamdhip64-dev and rocm-device-libs are not installed"
)
def test_program_is_built_with_the_distributions_hip(moved_prefix: Path, tmp_path: Path) -> None:
    source, program = HERE / "hip" / "program.hip", tmp_path / "app"
    done = run_command(
        *(moved_prefix / "bin" / "mneme-cxx", "--offload-arch=gfx90a,gfx1030", source),
        *("-o", program, "-lamdhip64"),
        ROCM_PATH="",
        HIP_PATH="",
        ROCM_HOME="",
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert b"__mneme_ir_" in program.read_bytes()
    assert "libmneme_rt.so" in run_command("ldd", program).stdout


@pytest.fixture
def no_toolkit(moved_prefix: Path, tmp_path: Path) -> Path:
    """A prefix whose wrappers do not look into the system's directories."""
    prefix = tmp_path / "prefix"
    shutil.copytree(moved_prefix / "bin", prefix / "bin")
    for name in ("nvcc", "mneme-cxx", "mneme-clang++"):
        wrapper = prefix / "bin" / name
        kept = wrapper.read_text().replace("/usr/local/cuda /opt/cuda /usr/lib/cuda", "")
        assert kept != wrapper.read_text()
        wrapper.write_text(kept)
    return prefix


NOTHING_NAMED = {"CUDA_HOME": "", "CUDA_PATH": "", "VIRTUAL_ENV": "", "PATH": "/usr/bin:/bin"}
SENTENCE = "no CUDA toolkit found: set CUDA_HOME to one, or: pip install 'mneme-gpu[cuda-toolkit]'"


def test_missing_cuda_toolkit_is_one_sentence(no_toolkit: Path, tmp_path: Path) -> None:
    wrapper = no_toolkit / "bin" / "mneme-cxx"
    done = run_command(wrapper, "-c", "app.cu", **NOTHING_NAMED)
    assert (done.returncode, done.stderr) == (1, f"mneme-cxx: {SENTENCE}\n")
    # Neither what needs no toolkit nor what names its own is in the way.
    for others in (["--version"], ["-c", "no.cu", "--cuda-path=/own"], ["-c", "no.cpp"]):
        assert SENTENCE not in run_command(wrapper, *others, **NOTHING_NAMED).stderr


def test_prefix_of_spack_asks_for_spacks_toolkit(no_toolkit: Path) -> None:
    (no_toolkit / ".spack").mkdir()
    done = run_command(no_toolkit / "bin" / "mneme-cxx", "-c", "app.cu", **NOTHING_NAMED)
    assert done.stderr.endswith("set CUDA_HOME to one, or: spack load cuda\n")


def test_command_without_its_packages_says_what_to_load(moved_prefix: Path, tmp_path: Path) -> None:
    shutil.copytree(moved_prefix, tmp_path / "prefix", symlinks=True)
    (tmp_path / "prefix" / ".spack").mkdir()
    command = (sys.executable, "-S", tmp_path / "prefix" / "bin" / "mneme", "--help")
    done = run_command(*command, PYTHONPATH="", MNEME_BUILD_DIR="")
    assert (done.returncode, done.stdout) == (1, "")
    assert re.fullmatch(
        r"mneme: the Python package '\w+' is not found by \S+: run 'spack load mneme' first\n",
        done.stderr,
    )


def test_cmake_shows_the_sentence_about_a_missing_toolkit(no_toolkit: Path, tmp_path: Path) -> None:
    compiler = no_toolkit / "bin" / "mneme-clang++"
    done = run_command(
        *("cmake", "-S", HERE / "consumer", "-B", tmp_path / "build", "-G", "Ninja"),
        *(f"-DCMAKE_{language}_COMPILER={compiler}" for language in ("CXX", "CUDA")),
        *(f"-DCMAKE_PREFIX_PATH={no_toolkit}", "-DCMAKE_CUDA_ARCHITECTURES=90"),
        **NOTHING_NAMED,
    )
    assert done.returncode != 0
    assert SENTENCE in done.stderr


def test_toolkit_without_random_numbers_is_named(build_tree: Path, tmp_path: Path) -> None:
    for file in ("bin/ptxas", "include/cuda.h"):
        (tmp_path / file).parent.mkdir()
        (tmp_path / file).touch(mode=0o755)
    (tmp_path / "nvvm" / "libdevice").mkdir(parents=True)
    wrapper = build_tree / "bin" / "mneme-cxx"
    done = run_command(wrapper, "-c", "app.cu", CUDA_HOME=str(tmp_path))
    assert done.returncode == 1
    assert done.stderr.startswith(
        f"mneme-cxx: the CUDA toolkit in '{tmp_path}' lacks cuRAND's headers"
    )


@pytest.mark.parametrize("where", ["build_tree", "moved_prefix"])
def test_package_directory_alone_leads_cmake_to_the_toolkit(
    where: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    # What CMake meets first by itself: a toolkit without cuRAND's headers.
    toolkit = Path(os.environ["CUDA_HOME"])
    other = tmp_path / "other"
    for part in toolkit.iterdir():
        if part.name not in ("bin", "include"):
            (other / part.name).parent.mkdir(exist_ok=True)
            (other / part.name).symlink_to(part)
    shutil.copytree(toolkit / "bin", other / "bin")
    (other / "include").mkdir()
    for header in (toolkit / "include").iterdir():
        if not header.name.startswith("curand"):
            (other / "include" / header.name).symlink_to(header)
    prefix: Path = request.getfixturevalue(where)
    # As tutorials write it: no CUDA compiler is named, the project takes that for C++.
    done = run_command(
        *("cmake", "-S", HERE / "kinds", "-B", tmp_path / "build", "-G", "Ninja"),
        *(f"-DCMAKE_{name}_COMPILER={prefix}/bin/mneme-clang++" for name in ("CXX", "CUDA")),
        *(f"-DCMAKE_PREFIX_PATH={prefix}/lib/cmake/mneme", "-DCMAKE_CUDA_ARCHITECTURES=90"),
        PATH=f"{other}/bin{os.pathsep}{os.environ['PATH']}",
        CUDA_HOME="" if where == "build_tree" else str(toolkit),
    )
    assert done.returncode == 0, done.words
    assert str(other) not in (tmp_path / "build" / "CMakeCache.txt").read_text()
