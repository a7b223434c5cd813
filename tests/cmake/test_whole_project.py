"""Projects that know nothing of mneme, configured with `mneme config cmake-args` alone."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

import pytest
from cmake_parts import HERE, Finished, build, configure, recorded_kernels, run_command, run_here

pytest_plugins = ["cmake_fixtures"]
pytestmark = [pytest.mark.compile, pytest.mark.slow]

FOREIGN = HERE / "foreign"
PROJECT = "cmake_minimum_required(VERSION 3.25)\nproject(small LANGUAGES {languages})\n{lines}\n"


def recordable(configured: Finished) -> set[str]:
    """Targets that the configuration reports as recordable."""
    assert configured.returncode == 0, configured.words
    (line,) = re.findall(r"-- mneme: recordable: (.*)", configured.stdout)
    return set(line.split(", "))


def small_project(folder: Path, lines: str, languages: str = "CXX CUDA") -> Path:
    """Write a project that compiles one of the sources of these tests."""
    folder.mkdir()
    (folder / "CMakeLists.txt").write_text(PROJECT.format(languages=languages, lines=lines))
    shutil.copy(HERE / "fill.h", folder)
    shutil.copy(HERE / "kinds" / "static_unit.cu", folder / "unit.cu")
    return folder


def test_options_for_languages_that_a_project_lacks_are_silent(
    moved_prefix: Path, tmp_path: Path
) -> None:
    project = small_project(tmp_path / "project", "", languages="CXX")
    configured = configure(project, tmp_path / "build", moved_prefix)
    assert configured.returncode == 0
    assert "not used by the project" not in configured.words


# What CMake 3.25 of Debian 12 does where the toolkit, as CUDA 13, has no nvToolsExt.
TOOLKIT_OF_CMAKE_3_25 = """
if(CMAKE_MINIMUM_REQUIRED_VERSION VERSION_GREATER_EQUAL 3.25)
  set_property(TARGET CUDA::nvToolsExt PROPERTY DEPRECATION "use CUDA::nvtx3")
endif()
set(CUDAToolkit_FOUND TRUE)
"""


@pytest.mark.parametrize("way", ["cmake-args", "find_package"])
def test_toolkit_without_nvtx_is_found_by_cmake_of_debian_12(
    way: str, moved_prefix: Path, tmp_path: Path
) -> None:
    if re.search(r"version 3\.25\.", run_command("cmake", "--version").stdout) is None:
        pytest.skip("this CMake is not 3.25")
    lines = "add_subdirectory(below)\nfind_package(CUDAToolkit REQUIRED)"
    if way == "find_package":
        lines = f"find_package(mneme CONFIG REQUIRED)\n{lines}"
    project = small_project(tmp_path / "project", lines, languages="CXX")
    (project / "below").mkdir()
    (project / "below" / "CMakeLists.txt").write_text("find_package(CUDAToolkit REQUIRED)\n")
    (project / "FindCUDAToolkit.cmake").write_text(TOOLKIT_OF_CMAKE_3_25)
    options = [f"-DCMAKE_MODULE_PATH={project}"]
    if way == "find_package":
        options.append("-DCMAKE_PROJECT_TOP_LEVEL_INCLUDES=")
    configured = configure(project, tmp_path / "build", moved_prefix, *options)
    assert configured.returncode == 0, configured.words


@pytest.fixture(scope="module")
def foreign(moved_prefix: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The foreign project, configured twice and built."""
    folder: Path = tmp_path_factory.mktemp("foreign") / "build"
    for _ in range(2):
        configured = configure(FOREIGN, folder, moved_prefix)
        assert recordable(configured) == {
            *("static_unit", "object_unit", "rdc_static", "rdc_object"),
            *("language_app", "properties_app", "package_app"),
        }
    build(folder, "--parallel", "2")
    return folder


@pytest.mark.parametrize(
    ("program", "kernels"),
    [
        ("language/language_app", {"staticKernel", "objectKernel", "rdcStaticKernel"}),
        ("language/caller", {"staticKernel"}),
        ("properties/properties_app", {"propertiesKernel"}),
        ("package/package_app", {"cxxKernel"}),
    ],
)
def test_device_code_of_every_kind_is_recorded(
    program: str, kernels: set[str], foreign: Path, moved_prefix: Path, tmp_path: Path
) -> None:
    assert recorded_kernels(moved_prefix, foreign / program, tmp_path / "db") == kernels


def test_the_runtime_is_shared_and_host_code_stays_as_it_is(foreign: Path) -> None:
    for program in ("language/language_app", "language/caller", "properties/properties_app"):
        linked = run_command("readelf", "-d", foreign / program).stdout
        assert "libcudart.so" in linked
        assert "libmneme_rt.so" in linked
    assert "libmneme_rt" not in run_command("readelf", "-d", foreign / "host").stdout
    commands = run_command("ninja", "-C", foreign, "-t", "commands").stdout
    compiled = [line for line in commands.splitlines() if " -c " in line]
    assert {line.count("-fpass-plugin=") for line in compiled} == {0, 1}  # never twice
    (own,) = [line for line in compiled if "host.cpp" in line]
    assert "MnemePasses" not in own


def test_mneme_nvcc_can_be_the_compiler(build_tree: Path, tmp_path: Path) -> None:
    compiler = build_tree / "bin" / "mneme-nvcc"
    if not compiler.is_file():
        pytest.skip("this build has no mneme-nvcc")
    chosen = f"-DCMAKE_CUDA_COMPILER={compiler}"
    configured = configure(FOREIGN, tmp_path / "build", build_tree, chosen)
    assert {"static_unit", "rdc_static", "language_app"} < recordable(configured)
    build(tmp_path / "build", "--target", "language_app", "--parallel", "2")
    program = tmp_path / "build" / "language" / "language_app"
    kernels = {"staticKernel", "objectKernel", "rdcStaticKernel"}
    assert recorded_kernels(build_tree, program, tmp_path / "db") == kernels
    lines = (
        "find_package(mneme CONFIG REQUIRED)\nadd_executable(app unit.cu)\n"
        "add_mneme(app KERNELS static)"
    )
    project = small_project(tmp_path / "p", lines)
    configured = configure(project, tmp_path / "second", build_tree, chosen)
    assert "add_mneme(app): KERNELS, NO_AUTO_VAR_INIT" in configured.words
    assert "are for clang: configure with -DCMAKE_CUDA_COMPILER=" in configured.words


def test_targets_are_named_and_left_out(build_tree: Path, tmp_path: Path) -> None:
    configured = configure(
        *(FOREIGN, tmp_path / "build", build_tree),
        "-DMNEME_TARGETS=host;rdc_.*;.*_app",
        "-DMNEME_EXCLUDE_TARGETS=package_app;rdc_o.*",
    )
    # A name is taken as it is, an expression covers targets with device code.
    assert recordable(configured) == {"host", "rdc_static", "language_app", "properties_app"}
    left = "does not run on the CPU device: static_unit, object_unit, rdc_object,"
    assert left in configured.words


def test_name_that_fits_no_target_is_refused(build_tree: Path, tmp_path: Path) -> None:
    project = small_project(tmp_path / "p", "add_executable(app unit.cu)")
    configured = configure(project, tmp_path / "build", build_tree, "-DMNEME_TARGETS=ap")
    assert configured.returncode != 0
    assert "MNEME_TARGETS: 'ap' fits no target of this project" in configured.words
    assert "it has: app" in configured.words


def test_kernels_of_a_library_left_out_are_listed_before_anything_runs(
    moved_prefix: Path, tmp_path: Path
) -> None:
    library = "add_library(unit STATIC unit.cu)\ninclude_directories(.)\n"
    program = "add_executable(app main.cu)\ntarget_link_libraries(app unit)"
    project = small_project(tmp_path / "p", library + program)
    (project / "main.cu").write_text(
        '#include "fill.h"\nbool staticUnit();\n'
        "__global__ void mainKernel(int* out, int value) { out[threadIdx.x] = value; }\n"
        'int main() { return fills(mainKernel, "main", 1) && staticUnit() ? 0 : 1; }\n'
    )
    configured = configure(
        project, tmp_path / "build", moved_prefix, "-DMNEME_EXCLUDE_TARGETS=unit"
    )
    assert recordable(configured) == {"app"}
    build(tmp_path / "build")
    for verb in (["run"], ["record", "-rdb", str(tmp_path / "db")]):
        done = run_here(moved_prefix, *verb, "--device", "cpu", "--", tmp_path / "build" / "app")
        assert done.returncode != 0
        (listed,) = [line for line in done.stderr.splitlines() if "without mneme IR" in line]
        assert "1 of 'app' (staticKernel(int*, int))" in listed
        assert "build every library and program that has kernels with mneme" in listed
        assert "mainKernel" not in listed
        assert "main PASSED" in done.stdout  # what has IR runs


def test_project_that_names_its_targets_has_chosen(build_tree: Path, tmp_path: Path) -> None:
    lines = (
        "find_package(mneme CONFIG REQUIRED)\nadd_executable(app unit.cu)\n"
        "add_executable(other unit.cu)\nadd_mneme(app KERNELS static)"
    )
    project = small_project(tmp_path / "p", lines)
    configured = configure(project, tmp_path / "build", build_tree)
    assert recordable(configured) == {"app"}
    assert "does not run on the CPU device: other" in configured.words
    commands = run_command("ninja", "-C", tmp_path / "build", "-t", "commands", "other").stdout
    assert "MnemePasses" not in commands
    assert "-lcudart_static" in commands
    # More are added by name.
    configured = configure(project, tmp_path / "build", build_tree, "-DMNEME_TARGETS=other")
    assert recordable(configured) == {"app", "other"}


def test_files_of_the_users_own_are_read_too(build_tree: Path, tmp_path: Path) -> None:
    own = tmp_path / "own.cmake"
    own.write_text('message(STATUS "own file for ${PROJECT_NAME}")\n')
    configured = configure(
        FOREIGN, tmp_path / "build", build_tree, f"-DCMAKE_PROJECT_INCLUDE={own}"
    )
    assert "language_app" in recordable(configured)
    for name in ("foreign", "language"):
        assert f"-- own file for {name}\n" in configured.stdout
    # The list that mneme's file is in has room for others.
    package = run_here(build_tree, "config", "cmakedir").stdout.strip()
    both = f"-DCMAKE_PROJECT_TOP_LEVEL_INCLUDES={own};{package}/MnemeWholeProject.cmake"
    configured = configure(FOREIGN, tmp_path / "second", build_tree, both)
    assert "language_app" in recordable(configured)
    assert "-- own file for foreign\n" in configured.stdout


def test_what_modules_of_cmake_look_for_is_chosen(build_tree: Path, tmp_path: Path) -> None:
    lines = (
        'option(CUDA_USE_STATIC_CUDA_RUNTIME "as FindCUDA says it" ON)\n'
        "find_package(CUDAToolkit REQUIRED)\n"
        "get_target_property(driver CUDA::cuda_driver IMPORTED_LOCATION)\n"
        "get_target_property(runtime CUDA::cudart_static IMPORTED_LOCATION)\n"
        'message(STATUS "static: ${CUDA_USE_STATIC_CUDA_RUNTIME}, ${driver}, ${runtime}")'
    )
    project = small_project(tmp_path / "p", lines, languages="CXX")
    # CMake 3.25 cannot find CUDA 13 for a project that requires it.
    text = (project / "CMakeLists.txt").read_text().replace("3.25", "3.24")
    (project / "CMakeLists.txt").write_text(text)
    configured = configure(project, tmp_path / "build", build_tree)
    assert configured.returncode == 0, configured.words
    found = re.search(r"-- static: OFF, (.*), (.*)", configured.stdout)
    assert found, configured.stdout
    assert Path(found[1]).name == "libcuda.so"
    assert Path(found[2]).name == "libcudart.so"
    assert "-- mneme: no target of this project becomes recordable" in configured.stdout


def test_compilers_alone_leave_the_project_as_it_is(build_tree: Path, tmp_path: Path) -> None:
    options = run_here(build_tree, "config", "cmake-args", "--compilers-only").stdout.split()
    every = run_here(build_tree, "config", "cmake-args").stdout.split()
    (more,) = set(every) - set(options)
    assert more.startswith("-DCMAKE_PROJECT_TOP_LEVEL_INCLUDES=")
    assert Path(more.partition("=")[2]).is_file()
    wrong = run_here(build_tree, "config", "cxx", "--compilers-only")
    assert wrong.returncode == 2
    assert "--compilers-only goes with cmake-args only" in wrong.stderr


def test_toolkit_without_random_numbers_is_named_before_cmake_stops(
    build_tree: Path, tmp_path: Path
) -> None:
    toolkit, whole = tmp_path / "toolkit", Path(os.environ["CUDA_HOME"])
    shutil.copytree(
        whole, toolkit, copy_function=os.symlink, ignore=shutil.ignore_patterns("curand*")
    )
    sentence = (
        f"the CUDA toolkit in '{toolkit}' lacks cuRAND's headers, which clang includes: install "
        "them, set CUDA_HOME to another toolkit, or: pip install 'mneme-gpu[cuda-toolkit]', with "
        "CUDA_HOME unset"
    )
    asked = run_here(build_tree, "config", "cmake-args", CUDA_HOME=str(toolkit))
    assert asked.stderr == f"mneme: {sentence}\n"
    assert asked.stdout.startswith("-DCMAKE_C_COMPILER=")
    configured = run_command(
        *("cmake", "-S", FOREIGN, "-B", tmp_path / "build", "-G", "Ninja", *asked.stdout.split()),
        CUDA_HOME=str(toolkit),
    )
    assert configured.returncode != 0
    assert f"mneme: {sentence}" in configured.words
    # Where the toolkit is named on the command line, as Kokkos does, the compiler says it.
    done = run_command(
        *(build_tree / "bin" / "mneme-clang++", "-c", HERE / "kinds" / "static_unit.cu"),
        f"--cuda-path={toolkit}/bin/..",
    )
    assert (done.returncode, done.stderr.split(":")[0]) == (1, "mneme-clang++")
    assert f"the CUDA toolkit in '{toolkit}' lacks" in done.stderr
