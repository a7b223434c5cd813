"""Which clang the wrappers start, and what they say of one that cannot do it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from cmake_parts import BUILD, run_command

pytest_plugins = ["cmake_fixtures"]
pytestmark = pytest.mark.compile

MAJOR = json.loads((BUILD / "config.json").read_text())["llvm_version"].split(".")[0]
NEEDS = f"mneme's passes need clang {MAJOR}"


def _program(path: Path, says: str) -> Path:
    """A program that tells a version, or that it compiles; it notes each start."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(
        f'#!/bin/sh\necho "$1" >>{path}.starts\n'
        f"case $1 in --version) echo '{says}' ;; *) echo ${{0##*/}} compiles ;; esac\n"
    )
    path.chmod(0o755)
    return path


@pytest.fixture
def machine(build_tree: Path, tmp_path: Path) -> Path:
    """A machine's directory of commands, with mneme-cxx and without any clang."""
    commands = tmp_path / "machine"
    commands.mkdir()
    for name in ("sh", "readlink", "sed", "cat", "head"):
        (commands / name).symlink_to(shutil.which(name) or "")
    text = (build_tree / "bin" / "mneme-cxx").read_text()
    for directory in ("/usr/lib/llvm-", "/usr/lib64/llvm"):
        text = text.replace(f"{directory}{MAJOR}/bin", str(tmp_path / "none"))
    (commands / "mneme-cxx").write_text(text)
    (commands / "mneme-cxx").chmod(0o755)
    return commands


def test_clang_of_llvms_own_installation_is_found(machine: Path, tmp_path: Path) -> None:
    (tmp_path / "llvm").mkdir()
    real = _program(tmp_path / "llvm" / f"clang-{MAJOR}", "never asked")
    (tmp_path / "llvm" / "clang++").symlink_to(real.name)
    (machine / real.name).symlink_to(real)
    done = run_command(machine / "mneme-cxx", "-c", "a.cpp", PATH=str(machine))
    assert (done.stdout, done.stderr) == ("clang++ compiles\n", "")
    assert "--version" not in real.with_name(f"{real.name}.starts").read_text()


@pytest.mark.parametrize("major", [MAJOR, "15"])
def test_clang_without_version_is_taken_if_it_is_the_wanted_one(machine: Path, major: str) -> None:
    _program(machine / "clang++", f"A clang version {major}.1.0")
    done = run_command(machine / "mneme-cxx", "-c", "a.cpp", PATH=str(machine))
    if major == MAJOR:
        assert (done.stdout, done.stderr) == ("clang++ compiles\n", "")
    else:
        assert done.returncode == 127
        assert f"no clang++ of version {MAJOR} found" in done.stderr


def test_missing_compiler_is_named(build_tree: Path) -> None:
    done = run_command(build_tree / "bin" / "mneme-cxx", "-c", "a.cpp", MNEME_CLANGXX="/no/clang")
    assert done.returncode == 127
    assert "MNEME_CLANGXX is '/no/clang'" in done.stderr


@pytest.mark.parametrize("says", ["Some clang version 15.0.6", "g++ 12, Free Software Foundation"])
def test_compiler_that_cannot_load_the_passes_is_named(
    says: str, build_tree: Path, tmp_path: Path
) -> None:
    chosen = str(_program(tmp_path / "clang++", says))
    done = run_command(build_tree / "bin" / "mneme-cxx", "-c", "a.cpp", MNEME_CLANGXX=chosen)
    sentence = f"mneme-cxx: MNEME_CLANGXX is '{chosen}', which is '{says}'; {NEEDS}\n"
    assert (done.returncode, done.stdout, done.stderr) == (1, "", sentence)


# What `clang++ --version` of each ROCm says; that of 7.2 has the number of one of LLVM's releases.
ROCMS = {
    "6.2.0": "18.0.0git (https://github.com/RadeonOpenCompute/llvm-project roc-6.2.0 24292 26466ce80)",
    "6.3.1": "18.0.0git (https://github.com/RadeonOpenCompute/llvm-project roc-6.3.1 24491 1e0fda770)",
    "6.4.1": "19.0.0git (https://github.com/RadeonOpenCompute/llvm-project roc-6.4.1 25184 c87081df2)",
    "7.1.1": "20.0.0git (https://github.com/RadeonOpenCompute/llvm-project roc-7.1.1 25444 27682a163)",
    "7.2.0": "22.0.0git (https://github.com/RadeonOpenCompute/llvm-project roc-7.2.0 26014 7b800a194)",
    "here": f"{MAJOR}.0.0git (https://github.com/ROCm/llvm-project.git c849bc16b+PATCHED:9a6ac45c9)",
}


def _rocms_clang(folder: Path, release: str) -> Path:
    """ROCm's clang as it lies there: a link to a name that LLVM's own has, too."""
    said = f"AMD clang version {ROCMS[release]}"
    programs = folder / f"rocm-{release}" / "lib" / "llvm" / "bin"
    real = _program(programs / f"clang-{ROCMS[release].split('.')[0]}", said)
    (programs / "clang++").symlink_to(real.name)
    (programs.parents[2] / "llvm").symlink_to("lib/llvm")
    return programs.parents[2] / "llvm" / "bin" / "clang++"


@pytest.mark.parametrize("release", ROCMS)
def test_rocms_own_clang_is_named_with_what_to_use(
    release: str, build_tree: Path, tmp_path: Path
) -> None:
    chosen = _rocms_clang(tmp_path, release)
    environment = {"MNEME_CLANGXX": str(chosen)}
    done = run_command(build_tree / "bin" / "mneme-cxx", "-c", "a.hip", "-nogpulib", **environment)
    said = f"AMD clang version {ROCMS[release]}"
    sentence = (
        f"mneme-cxx: MNEME_CLANGXX is '{chosen}', which is '{said}'; {NEEDS}, which compiles for "
        f"this ROCm too: unset MNEME_CLANGXX and set ROCM_PATH to '{tmp_path}/rocm-{release}'\n"
    )
    assert (done.returncode, done.stdout, done.stderr) == (1, "", sentence)


def test_rocms_own_clang_is_not_taken_for_one_of_the_wanted_number(
    machine: Path, tmp_path: Path
) -> None:
    chosen = _rocms_clang(tmp_path, "here")
    path = f"{machine}:{chosen.parent}"
    done = run_command(machine / "mneme-cxx", "-c", "a.cpp", PATH=path)
    assert (done.returncode, done.stdout) == (127, "")
    assert f"no clang++ of version {MAJOR} found" in done.stderr


def test_cmake_names_rocms_own_clang(build_tree: Path, tmp_path: Path) -> None:
    for release in ("6.4.1", "here"):
        chosen, folder = _rocms_clang(tmp_path, release), tmp_path / f"project of {release}"
        folder.mkdir()
        (folder / "CMakeLists.txt").write_text(
            "cmake_minimum_required(VERSION 3.25)\nproject(tiny LANGUAGES NONE)\n"
            f"find_package(mneme CONFIG REQUIRED)\nset(CMAKE_HIP_COMPILER {chosen})\n"
            "set(CMAKE_HIP_COMPILER_ID Clang)\n"
            f"set(CMAKE_HIP_COMPILER_VERSION {ROCMS[release].split('g')[0]})\n"
            "add_library(a OBJECT a.c)\nadd_mneme(a)\n"
        )
        done = run_command(
            *("cmake", "-S", folder, "-B", folder / "b", f"-DCMAKE_PREFIX_PATH={build_tree}")
        )
        assert done.returncode != 0
        of_release = "" if release == "here" else f" of ROCm {release}"
        assert (
            f"the HIP compiler is ROCm's own clang {ROCMS[release].split('.')[0]}{of_release} "
            f"({chosen}); {NEEDS}: configure with -DCMAKE_HIP_COMPILER="
            f"{build_tree}/bin/mneme-clang++, with ROCM_PATH={tmp_path}/rocm-{release} in the "
            "environment"
        ) in done.words


def test_another_clang_compiles_without_the_passes(build_tree: Path, tmp_path: Path) -> None:
    chosen = str(_program(tmp_path / "clang++", "Some clang version 15.0.6"))
    wrapper = build_tree / "bin" / "mneme-clang++"
    plain = run_command(wrapper, "-c", "a.cpp", MNEME_CLANGXX=chosen)
    assert (plain.stdout, plain.stderr) == ("clang++ compiles\n", "")
    loading = run_command(wrapper, "-c", "a.cpp", "-fpass-plugin=/p.so", MNEME_CLANGXX=chosen)
    assert NEEDS in loading.stderr


def test_compiler_of_the_expected_name_is_started_once(build_tree: Path, tmp_path: Path) -> None:
    chosen = _program(tmp_path / f"clang++-{MAJOR}", "never asked")
    wrapper = build_tree / "bin" / "mneme-cxx"
    run_command(wrapper, "-c", "a.cpp", MNEME_CLANGXX=str(chosen))
    assert chosen.with_name(f"{chosen.name}.starts").read_text() == "-c\n"


def test_compiler_with_another_llvm_of_the_same_number_is_refused(
    build_tree: Path, tmp_path: Path
) -> None:
    # As ROCm's clang, whose LLVM lies before the release: what it says stands in its own place.
    (tmp_path / "other.c").write_text(
        f"void LLVMGetVersion(unsigned *major, unsigned *minor, unsigned *patch) {{\n"
        f"  *major = {MAJOR}; *minor = 0; *patch = 0;\n}}\n"
    )
    (tmp_path / "a.cpp").write_text("int answer() { return 42; }\n")
    compiler = build_tree / "bin" / "mneme-clang"
    shim = tmp_path / "other.so"
    done = run_command(compiler, "-shared", "-fPIC", tmp_path / "other.c", "-o", shim)
    assert done.returncode == 0, done.stderr
    line = (build_tree / "bin" / "mneme-cxx", "-c", tmp_path / "a.cpp", "-o", tmp_path / "a.o")
    assert run_command(*line).returncode == 0
    done = run_command(*line, LD_PRELOAD=str(shim))
    assert done.returncode != 0
    said = f"mneme: this compiler has LLVM {MAJOR}.0, mneme's passes were made for LLVM {MAJOR}.1"
    assert said in done.stderr
    assert "Stack dump" not in done.stderr


def test_sources_are_scanned_for_modules_under_each_name(build_tree: Path, tmp_path: Path) -> None:
    # CMake 3.28 to 3.31 look for the first name beside mneme-clang++, others for clang's own.
    source = tmp_path / "a.cpp"
    source.write_text("export module words;\nimport letters;\n")
    compiler = build_tree / "bin" / "mneme-clang++"
    done = run_command(
        *(build_tree / "bin" / "mneme-clang-scan-deps", "-format=p1689", "--"),
        *(compiler, "-std=c++20", "-x", "c++-module", source, "-c", "-o", tmp_path / "a.o"),
    )
    if done.returncode == 127:
        pytest.skip("clang-scan-deps is not installed (clang-tools)")
    assert done.returncode == 0, done.stderr
    (rule,) = json.loads(done.stdout)["rules"]
    assert [one["logical-name"] for one in rule["provides"]] == ["words"]
    assert [one["logical-name"] for one in rule["requires"]] == ["letters"]
