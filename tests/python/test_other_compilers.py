"""Kernel compilers with another LLVM: what `--llvm` names, and what it leaves alone."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from mneme.cli.exit_codes import ExitCode
from mneme.code_texts import compiler_text
from mneme.errors import BackendUnavailable, InvalidArgument, IoFailed
from mneme.install import paths
from mneme.install.compiler_building import BuildOptions, build_compiler
from mneme.install.paths import library
from mneme.knobs import CODE_TEXTS
from mneme.mneme_types import ExperimentConfiguration
from mneme.other_compilers import (
    LIBRARY,
    VARIABLE,
    Compiler,
    compiler_facts,
    compilers,
    compilers_directory,
    library_of,
    remove_compiler,
)
from mneme.pinned_paths import path_in
from native_parts import needs_native

# A CMake that "builds" mneme's own compiler.
COPIES = '#!/bin/sh\n[ "$1" = --build ] || exit 0\nmkdir -p "$2"; cp "{built}" "$2"\n'


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(VARIABLE, str(tmp_path / "compilers"))
    return tmp_path / "compilers"


def made(place: Path, name: str, prefix: Path, **facts: Any) -> Compiler:
    known = {
        "llvm": "19.1.7",
        "commit": "0123456789abcdef",
        "assertions": True,
        "pass_plugins": False,
        "mneme": "0.1.0",
        **facts,
    }
    compiler = Compiler(name=name, place=place / name, prefix=str(prefix), **known)
    compiler.library.parent.mkdir(parents=True)
    compiler.library.write_bytes(b"\x7fELF")
    compiler.save()
    return compiler


def llvm_prefix(path: Path, version: str = "19.1.7", library: str = "lib") -> Path:
    there = path / library / "cmake" / "llvm"
    there.mkdir(parents=True)
    (there / "LLVMConfigVersion.cmake").write_text(f'set(PACKAGE_VERSION "{version}")\n')
    (there / "LLVMConfig.cmake").touch()
    return path


def test_a_compiler_is_named_by_its_name_its_prefix_or_its_library(
    place: Path, tmp_path: Path
) -> None:
    prefix = llvm_prefix(tmp_path / "llvm-19")
    compiler = made(place, "nineteen", prefix)
    for named in (
        "nineteen",
        str(prefix),
        f"{prefix}/",
        str(compiler.library),
        str(compiler.place),
    ):
        assert library_of(named) == compiler.library
    assert compilers() == [compiler]


def test_an_llvm_without_a_compiler_says_how_it_gets_one(tmp_path: Path) -> None:
    prefix = llvm_prefix(tmp_path / "llvm-20", library="lib64")
    with pytest.raises(InvalidArgument, match=f"build it: mneme compiler add {prefix}"):
        library_of(str(prefix))


def test_an_unknown_name_lists_what_there_is(place: Path, tmp_path: Path) -> None:
    with pytest.raises(
        InvalidArgument, match="no kernel compiler 'x'; build one: mneme compiler add"
    ):
        library_of("x")
    made(place, "b", tmp_path)
    made(place, "a", tmp_path)
    with pytest.raises(InvalidArgument, match="there are: a, b"):
        library_of("x")


def test_what_is_unfinished_or_damaged_is_no_compiler(place: Path, tmp_path: Path) -> None:
    made(place, ".building-1", tmp_path)
    made(place, "damaged", tmp_path)
    (place / "damaged" / "compiler.json").write_text('{"llvm": ')
    made(place, "foreign", tmp_path, commit=5)
    made(place, "without", tmp_path).library.unlink()
    assert compilers() == []


def test_an_empty_name_and_a_prefix_of_several_compilers_are_refused(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prefix = llvm_prefix(tmp_path / "llvm")
    before = made(place, "before", prefix)
    made(place, "after", prefix)
    monkeypatch.chdir(before.place)
    with pytest.raises(InvalidArgument, match="has no name"):
        library_of("")
    with pytest.raises(InvalidArgument, match=f"the LLVM in '{prefix}'; name one: after, before"):
        library_of(str(prefix))
    assert library_of("before") == before.library


def test_a_place_that_is_no_directory_is_named(place: Path) -> None:
    place.touch()
    with pytest.raises(InvalidArgument, match=f"'{place}'.* cannot be read: Not a directory"):
        compilers()


def test_what_is_removed_was_made_for_a_compiler(place: Path, tmp_path: Path) -> None:
    made(place, "damaged", tmp_path).library.unlink()
    made(tmp_path / "elsewhere", "linked", tmp_path)
    (place / "linked").symlink_to(tmp_path / "elsewhere" / "linked")
    (place / "photos").mkdir()
    remove_compiler("damaged")
    remove_compiler("linked")
    for name in ("photos", "", ".", "../elsewhere/linked"):
        with pytest.raises(InvalidArgument, match="no kernel compiler"):
            remove_compiler(name)
    assert [one.name for one in place.iterdir()] == ["photos"]
    assert (tmp_path / "elsewhere" / "linked" / LIBRARY).is_file()


def test_a_compiler_can_be_removed_by_its_name_only(place: Path, tmp_path: Path) -> None:
    prefix = llvm_prefix(tmp_path / "llvm")
    made(place, "old", prefix)
    with pytest.raises(InvalidArgument, match="no kernel compiler"):
        remove_compiler(str(prefix))
    remove_compiler("old")
    assert (compilers(), prefix.is_dir()) == ([], True)


def test_the_place_is_the_users_own_unless_said(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv(VARIABLE)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert compilers_directory() == tmp_path / "mneme" / "compilers"


def test_what_a_configuration_names_is_described(place: Path, tmp_path: Path) -> None:
    compiler = made(place, "nineteen", tmp_path)
    facts = compiler_facts(f"{compiler.library}@0123456789abcdef")
    assert (facts["name"], facts["llvm"], facts["assertions"]) == ("nineteen", "19.1.7", True)
    assert compiler_facts("/gone/lib.so@0123456789abcdef") == {"library": "/gone/lib.so"}


def test_the_llvm_of_a_build_of_mneme_is_known(tmp_path: Path) -> None:
    library = tmp_path / "lib" / "libmneme_compile.so"
    library.parent.mkdir()
    (tmp_path / "config.json").write_text('{"llvm_version": "23.0.0git"}')
    assert compiler_facts(f"{library}@0123456789abcdef") == {
        "library": str(library),
        "llvm": "23.0.0git",
    }
    (tmp_path / "config.json").write_text('{"llvm_version": 23}')
    assert compiler_facts(f"{library}@0123456789abcdef") == {"library": str(library)}


@pytest.mark.parametrize(
    ("options", "error", "says"),
    [
        ({"prefix": Path("nothere")}, InvalidArgument, "not the prefix of an LLVM"),
        ({"name": "../up"}, InvalidArgument, "'../up' is not a name"),
        ({"name": ".hidden"}, InvalidArgument, "is not a name"),
        ({"source": Path("nowhere")}, InvalidArgument, "'nowhere' is not a checkout of mneme"),
    ],
)
def test_what_cannot_be_built_is_refused_at_once(
    options: dict[str, Any], error: type[Exception], says: str, tmp_path: Path, place: Path
) -> None:
    prefix = llvm_prefix(tmp_path / "llvm")
    with pytest.raises(error, match=says):
        build_compiler(BuildOptions(**{"prefix": prefix, **options}))
    assert not place.exists()


def test_an_llvm_that_is_too_old_or_incomplete_is_refused_at_once(tmp_path: Path) -> None:
    with pytest.raises(InvalidArgument, match=r"is 18\.1\.8; mneme needs 19 or newer"):
        build_compiler(BuildOptions(prefix=llvm_prefix(tmp_path / "old", "18.1.8")))
    incomplete = llvm_prefix(tmp_path / "incomplete")
    (incomplete / "lib" / "cmake" / "llvm" / "LLVMConfig.cmake").unlink()
    with pytest.raises(InvalidArgument, match="is not the prefix of an LLVM"):
        build_compiler(BuildOptions(prefix=incomplete))


def test_a_place_that_cannot_be_written_is_named(place: Path, tmp_path: Path) -> None:
    place.touch()
    with pytest.raises(IoFailed, match=f"cannot build in '{place}': File exists; {VARIABLE} names"):
        build_compiler(BuildOptions(prefix=llvm_prefix(tmp_path / "llvm")))


def test_a_directory_that_is_no_compiler_is_not_replaced(place: Path, tmp_path: Path) -> None:
    (place / "photos").mkdir(parents=True)
    with pytest.raises(InvalidArgument, match="is not a kernel compiler, so it stays"):
        build_compiler(BuildOptions(prefix=llvm_prefix(tmp_path / "llvm"), name="photos"))


@pytest.fixture
def cmake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a CMake to write, that is found before others."""
    path = tmp_path / "bin" / "cmake"
    path.parent.mkdir()
    path.touch(mode=0o755)
    monkeypatch.setenv("PATH", str(path.parent), prepend=os.pathsep)
    return path


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_build_leaves_no_file_and_no_process(
    number: signal.Signals, cmake: Path, place: Path, tmp_path: Path
) -> None:
    # A process of its own writes on and on where it is built.
    pid = tmp_path / "pid"
    cmake.write_text(
        "#!/bin/sh\n"
        f'(cd "{place}"/.building-*; n=0\n'
        " while :; do n=$((n+1)); mkdir -p d$n/e; touch d$n/f; done) &\n"
        f'echo $! > "{pid}.new"; mv "{pid}.new" "{pid}"; wait\n'
    )
    prefix = llvm_prefix(tmp_path / "llvm")
    with subprocess.Popen(
        [sys.executable, "-m", "mneme", "compiler", "add", str(prefix)], stderr=subprocess.PIPE
    ) as adds:
        while not pid.exists():
            assert adds.poll() is None
            time.sleep(0.02)
        adds.send_signal(number)
        said = adds.communicate(timeout=60)[1]
    assert adds.returncode == ExitCode.INTERRUPTED, said
    assert list(place.iterdir()) == []
    state = Path("/proc") / pid.read_text().strip() / "stat"
    assert not state.exists() or state.read_text().rpartition(")")[2].split()[0] == "Z"


def test_what_a_killed_build_left_is_removed_by_the_next(
    cmake: Path, place: Path, tmp_path: Path
) -> None:
    cmake.write_text("#!/bin/sh\nexit 0\n")
    (place / ".building-left" / "build").mkdir(parents=True)
    with pytest.raises(BackendUnavailable, match=r"the build made no libmneme_compile\.so"):
        build_compiler(BuildOptions(prefix=llvm_prefix(tmp_path / "llvm")))
    assert list(place.iterdir()) == []


def test_a_failed_build_says_what_cmake_said_and_keeps_the_older_one(
    cmake: Path, place: Path, tmp_path: Path
) -> None:
    cmake.write_text("#!/bin/sh\nprintf 'CMake Error: \\377 is lost\\n'; exit 1\n")
    prefix = llvm_prefix(tmp_path / "llvm")
    older = made(place, "llvm-19.1.7", prefix)
    with pytest.raises(BackendUnavailable, match="does not configure:\nCMake Error: . is lost"):
        build_compiler(BuildOptions(prefix=prefix))
    assert compilers() == [older]
    assert [one.name for one in place.iterdir()] == [older.name]


@needs_native
def test_another_llvm_than_the_named_one_is_not_kept(
    cmake: Path, place: Path, tmp_path: Path
) -> None:
    cmake.write_text(COPIES.format(built=library("libmneme_compile.so")))
    with pytest.raises(BackendUnavailable, match=r"holds LLVM \S+, not 99\.1"):
        build_compiler(BuildOptions(prefix=llvm_prefix(tmp_path / "llvm", "99.1")))
    assert compilers() == []


@needs_native
def test_a_compiler_takes_the_place_of_the_older_one(
    cmake: Path, place: Path, tmp_path: Path
) -> None:
    cmake.write_text(COPIES.format(built=library("libmneme_compile.so")))
    version = str(paths.config()["llvm_version"])
    prefix = llvm_prefix(tmp_path / "llvm", version)
    made(place, "mine", tmp_path)
    new = build_compiler(BuildOptions(prefix=prefix, name="mine"))
    assert compilers() == [new]
    assert new.llvm.partition(".")[0] == version.partition(".")[0]
    assert new.library.stat().st_size > len(b"\x7fELF")
    assert list(place.iterdir()) == [new.place]


def test_several_llvms_are_refused() -> None:
    assert compiler_text([]) == ""
    with pytest.raises(InvalidArgument, match="--llvm names a and b; one configuration"):
        compiler_text(["a", "b"])


@needs_native
def test_a_text_pins_the_library_it_was_made_for(tmp_path: Path) -> None:
    from mneme import _native  # noqa: PLC0415

    other = tmp_path / LIBRARY
    other.parent.mkdir(parents=True)
    shutil.copy2(library("libmneme_compile.so"), other)
    text = compiler_text([str(tmp_path)])
    assert text.rpartition("@")[0] == os.path.realpath(other)
    assert compiler_text([text]) == text
    _native.check_passes("default<O3>", llvm=text)
    with pytest.raises(InvalidArgument, match="no-such-pass"):
        _native.check_passes("no-such-pass", llvm=text)

    shutil.copy2(library("libMnemePasses.so"), other)
    with pytest.raises(InvalidArgument, match="has changed since it was named; name it again"):
        _native.check_passes("default<O3>", llvm=text)
    other.unlink()
    with pytest.raises(InvalidArgument, match="is not there or cannot be read"):
        _native.check_passes("default<O3>", llvm=text)


@needs_native
def test_a_library_that_is_no_compiler_is_one_sentence() -> None:
    from mneme import _native  # noqa: PLC0415

    text = compiler_text([str(library("libMnemePasses.so"))])
    with pytest.raises(Exception, match="mneme_compile") as caught:
        _native.check_passes("default<O3>", llvm=text)
    assert "\n" not in str(caught.value)


def test_a_colon_and_an_at_sign_belong_to_the_path_of_a_compiler() -> None:
    (llvm,) = [one for one in CODE_TEXTS if one.key == "llvm"]
    text = "/opt/a:b@c/libmneme_compile.so@0123456789abcdef"
    assert llvm.options(text) == [f"--llvm={text}"]
    assert path_in(text) == "/opt/a:b@c/libmneme_compile.so"
    assert compiler_facts("/opt/a@b/lib.so") == {"library": "/opt/a@b/lib.so"}


def test_a_configuration_writes_its_llvm_only_where_it_has_one() -> None:
    assert "llvm" not in ExperimentConfiguration().to_dict()
    text = "/opt/lib/libmneme_compile.so@0123456789abcdef"
    config = ExperimentConfiguration(llvm=text)
    written = json.loads(json.dumps(config.to_dict()))
    assert ExperimentConfiguration.from_dict(written).llvm == written["llvm"] == text
    assert config.hash() != ExperimentConfiguration().hash()
