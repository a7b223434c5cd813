"""mneme as a part of somebody's build: add_subdirectory() and FetchContent."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from cmake_parts import BUILD, HERE, ROOT, build, configure, recorded_kernels, run_command

pytest_plugins = ["cmake_fixtures"]
pytestmark = [pytest.mark.compile, pytest.mark.slow]

WAYS = ["SUBDIRECTORY", "FETCH"]
# What a build of mneme reads.
SOURCES = (
    "CMakeLists.txt",
    "cmake",
    "include",
    "passes",
    "python",
    "runtime",
    "scripts",
    "templates",
)


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the sources. The build directory lies in it as in this checkout: a compiler cache compares
    the way from one to the other."""
    copy = tmp_path_factory.mktemp("part") / "mneme"
    copy.mkdir()
    for name in SOURCES:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy2(ROOT / name, copy)
    return copy


@pytest.fixture(scope="module")
def directory(sources: Path) -> Path:
    """One build directory: mneme lies at the same place in it both ways, and is compiled once."""
    return sources / "build"


@pytest.mark.parametrize("how", WAYS)
def test_mneme_as_a_part_of_the_build(
    how: str, sources: Path, directory: Path, build_tree: Path, tmp_path: Path
) -> None:
    options = [f"-DMNEME_{way}={sources if way == how else ''}" for way in WAYS]
    options += ["-DCMAKE_DISABLE_FIND_PACKAGE_pybind11=ON"]
    # Compilers and flags of this build tree, so that a compiler cache serves what was built there.
    known = ("C_COMPILER", "CXX_COMPILER", "BUILD_TYPE")
    options += [f"-DCMAKE_{name}={_cached(name)}" for name in known]
    if shutil.which("ccache"):
        options.append(f"-DCMAKE_CXX_COMPILER_LAUNCHER={sources / 'scripts' / 'with-ccache'}")
    configured = configure(HERE / "consumer", directory, build_tree, *options)
    assert configured.returncode == 0, configured.words
    # Neither tests nor the Python extension of mneme's are in the way of who has it as a part.
    targets = run_command("ninja", "-C", directory, "-t", "targets", "all").stdout
    assert "test_embed" not in targets
    assert "_native" not in targets
    assert "Total Tests: 0" in run_command("ctest", "-N", "--test-dir", directory).stdout
    # The plugin is built before it is used.
    for plugin in directory.rglob("libMnemePasses.so"):
        plugin.unlink()
    (directory / "app").unlink(missing_ok=True)
    build(directory, "--target", "app", "--parallel", "2")
    assert len(list(directory.rglob("libMnemePasses.so"))) == 1
    program = directory / "app"
    linked = run_command("ldd", program).stdout
    assert re.search(rf"{directory}/\S*/lib/libmneme_rt\.so", linked), linked
    assert recorded_kernels(build_tree, program, tmp_path / "db") == {"void fill<int, 3>"}


def _cached(name: str) -> str:
    found = re.search(
        rf"^CMAKE_{name}:\w+=(.*)$", (BUILD / "CMakeCache.txt").read_text(), re.MULTILINE
    )
    assert found
    return found[1]
