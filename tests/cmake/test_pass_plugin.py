"""mneme_add_pass_plugin(): a project outside of mneme builds a plugin that mneme loads."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from cmake_parts import BUILD, ROOT, build, configure, run_command, run_here

pytest_plugins = ["cmake_fixtures"]
EXAMPLE = ROOT / "examples" / "pass_plugin"
PAGE = ROOT / "docs" / "pass-plugins.md"

needs_shared_llvm = pytest.mark.skipif(
    not (BUILD / "lib" / "libmneme_compile_plugins.so").is_file(), reason="no shared LLVM"
)


def project(folder: Path, text: str, *options: str) -> str:
    """Configure a project that has the example's source, and return what CMake said."""
    folder.mkdir()
    (folder / "RelaxMath.cpp").write_text((EXAMPLE / "RelaxMath.cpp").read_text())
    lines = ["cmake_minimum_required(VERSION 3.25)", "project(p LANGUAGES CXX)"]
    (folder / "CMakeLists.txt").write_text(
        "\n".join([*lines, "find_package(mneme CONFIG REQUIRED)", text])
    )
    configured = configure(folder, folder / "build", BUILD, *options)
    return "" if configured.returncode == 0 else configured.words


@pytest.mark.compile
@pytest.mark.slow
@needs_shared_llvm
def test_the_example_is_built_and_run(tmp_path: Path) -> None:
    configured = configure(EXAMPLE, tmp_path / "build", BUILD)
    assert configured.returncode == 0, configured.words
    build(tmp_path / "build")
    plugin = tmp_path / "build" / "relax_math.so"
    assert b"mneme-passes:relax-math\0" in plugin.read_bytes()
    recorded = run_here(
        *(BUILD, "record", "-rdb", tmp_path / "db", "--device", "cpu", "--"),
        BUILD / "examples" / "vector_add",
    )
    assert recorded.returncode == 0, recorded.stderr
    passes = "function(relax-math),default<O3>"
    for more in ((), ("--mllvm=relax-math-reorders=false",)):
        done = run_here(
            *(BUILD, "replay", tmp_path / "db", passes, "--pass-plugin", plugin),
            *("--device", "cpu", *more),
        )
        assert done.returncode == 0, done.stderr
        assert "verified" in done.stderr


def test_the_page_shows_the_example() -> None:
    page = PAGE.read_text()
    for name, language in (("RelaxMath.cpp", "cpp"), ("CMakeLists.txt", "cmake")):
        shown = re.search(rf"<!-- file: {name} -->\n```{language}\n(.*?)```", page, re.DOTALL)
        assert shown is not None
        assert shown[1] == (EXAMPLE / name).read_text()


@pytest.mark.compile
@pytest.mark.slow
@needs_shared_llvm
def test_plugin_for_another_llvm_is_refused_with_both_versions(tmp_path: Path) -> None:
    said = project(tmp_path / "p", "mneme_add_pass_plugin(plug RelaxMath.cpp)")
    assert said == ""
    stamp = tmp_path / "p" / "build" / "plug_built_for.cpp"
    text = stamp.read_text()
    stamp.write_text(re.sub(r'llvm\[\] = "\d+', 'llvm[] = "7', text))
    build(tmp_path / "p" / "build")
    plugin = tmp_path / "p" / "build" / "plug.so"
    assert b"mneme-passes:\0" in plugin.read_bytes()
    recorded = ROOT / "tests" / "golden" / "v2" / "16372073875777044691.json"
    done = run_here(
        BUILD, "compile", recorded, "default<O1>", "--arch", "cpu", "--pass-plugin", plugin
    )
    assert done.returncode == 6
    assert f"pass plugin '{plugin}': it is built for LLVM 7." in done.stderr
    assert "build it with the headers of LLVM" in done.stderr


def configured_with(tmp_path: Path, change: str, *options: str) -> str:
    """Configure the example with a package like a wheel's, and return what CMake said."""
    package = tmp_path / "mneme" / "lib" / "cmake" / "mneme"
    package.parent.mkdir(parents=True)
    shutil.copytree(BUILD / "lib" / "cmake" / "mneme", package)
    for one in (BUILD / "lib").glob("*.so"):
        (package.parents[1] / one.name).symlink_to(one)
    for name in ("bin", "include"):
        (tmp_path / "mneme" / name).symlink_to(BUILD / name)
    config = package / "mnemeConfig.cmake"
    config.write_text(re.sub(*change.split("=>"), config.read_text()))
    done = run_command(
        *("cmake", "-S", EXAMPLE, "-B", tmp_path / "b", f"-Dmneme_DIR={package}", *options)
    )
    return " ".join((done.stdout + done.stderr).split())


@pytest.mark.compile
@pytest.mark.slow
def test_a_mneme_that_loads_no_plugins_says_what_does(tmp_path: Path) -> None:
    said = configured_with(tmp_path, "LOADS_PASS_PLUGINS ON=>LOADS_PASS_PLUGINS OFF")
    assert "holds an LLVM of its own and loads no plugins into it" in said
    assert "mneme compiler add /" in said
    assert (tmp_path / "b" / "relax_math_built_for.cpp").is_file()


@pytest.mark.compile
@pytest.mark.slow
def test_what_to_install_is_said_where_there_is_no_such_llvm(tmp_path: Path) -> None:
    said = configured_with(tmp_path, r"LLVM_MAJOR \d+=>LLVM_MAJOR 7")
    assert "no development files of LLVM 7 were found" in said
    assert "install llvm-7-dev (apt.llvm.org)" in said


@pytest.mark.compile
@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("mneme_add_pass_plugin(plug)", "mneme_add_pass_plugin(plug): no source is named"),
        ("mneme_add_pass_plugin(plug PASSES a)", "no source is named"),
        (
            "add_library(plug INTERFACE)\nmneme_add_pass_plugin(plug RelaxMath.cpp)",
            "there is a target 'plug' already",
        ),
    ],
)
def test_what_cannot_be_meant_is_refused(text: str, says: str, tmp_path: Path) -> None:
    assert says in project(tmp_path / "p", text)
