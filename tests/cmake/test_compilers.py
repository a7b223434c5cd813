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
