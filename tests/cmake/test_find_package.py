"""find_package(mneme) and find_package(proteus) from wherever mneme can be, and what they offer."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from cmake_parts import (
    BUILD,
    HERE,
    ROOT,
    Finished,
    build,
    configure,
    recorded_kernels,
    run_command,
    run_here,
)

pytest_plugins = ["cmake_fixtures"]
pytestmark = [pytest.mark.compile, pytest.mark.slow]

FIND = "find_package(mneme CONFIG REQUIRED)"

# The parts of a prefix that a package must have for everything users do with it.
INSTALLED_FILES = (
    "bin/mneme-cc",
    "bin/mneme-cxx",
    "bin/mneme-clang++",
    "bin/mneme-clang-scan-deps",
    "bin/mneme-hipcc",
    "bin/mneme-jit-compile",
    "bin/mneme-nvcc",
    "bin/mneme-offload-arch",
    "include/mneme/MnemeAnnotation.hpp",
    "lib/cmake/mneme/MnemePassPlugin.cmake",
    "lib/cmake/mneme/MnemeWholeProject.cmake",
    "lib/cmake/mneme/mnemeConfigVersion.cmake",
    "lib/cmake/proteus/proteusConfig.cmake",
    "lib/libmneme_jit.so",
    "lib/pkgconfig/mneme.pc",
    "share/mneme/templates/cmake/CMakeLists.txt.j2",
)


@pytest.mark.parametrize("where", ["build_tree", "moved_prefix", "wheel_prefix"])
def test_consumer_is_built_and_recorded(
    where: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    prefix: Path = request.getfixturevalue(where)
    configured = configure(HERE / "consumer", tmp_path / "build", prefix)
    assert configured.returncode == 0, configured.words
    build(tmp_path / "build")
    program = tmp_path / "build" / "app"
    # The target's KERNELS keep the other kernel as it is.
    assert recorded_kernels(prefix, program, tmp_path / "db") == {"void fill<int, 3>"}
    # NO_RECORD: instrumented, with the static CUDA runtime, which the CPU device replaces.
    tuned_only = tmp_path / "build" / "tuned_only"
    linked = run_command("ldd", tuned_only).stdout
    assert "libmneme_rt.so" in linked
    assert "libcudart" not in linked
    done = run_here(
        prefix, "record", "-rdb", tmp_path / "none", "--device", "cpu", "--", tuned_only
    )
    assert (done.returncode, done.stdout) == (0, "three PASSED\nfour PASSED\n"), done.stderr
    assert "recorded 2 instances of 2 kernels" in done.stderr


_OWN = "target_compile_options({unit} PRIVATE -ftrivial-auto-var-init=pattern)"
# Lines of a directory with a library, and what its compiler is told.
_LOCALS: list[tuple[str, list[str]]] = [
    ("add_mneme({unit})", []),
    ("add_proteus({unit})", []),
    ("add_mneme({unit} NO_AUTO_VAR_INIT)", ["uninitialized"]),
    (f"{_OWN}\nadd_mneme({{unit}} NO_AUTO_VAR_INIT)", ["pattern"]),
    (
        "set(CMAKE_CUDA_FLAGS -ftrivial-auto-var-init=pattern)\nadd_mneme({unit} NO_AUTO_VAR_INIT)",
        ["pattern"],
    ),
    (f"add_mneme({{unit}} NO_AUTO_VAR_INIT)\n{_OWN}", ["uninitialized", "pattern"]),
]


@pytest.fixture(scope="module")
def locals_project(build_tree: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A configured project with a directory for each of the above: configuring takes longest."""
    folder: Path = tmp_path_factory.mktemp("locals")
    shutil.copy(HERE / "consumer" / "app.cu", folder)
    lines = ["cmake_minimum_required(VERSION 3.25)", "project(locals LANGUAGES CXX CUDA)", FIND]
    for number, (project, _) in enumerate(_LOCALS):
        unit = f"unit{number}"
        (folder / unit).mkdir()
        text = f"add_library({{unit}} OBJECT ../app.cu)\n{project}\n".format(unit=unit)
        (folder / unit / "CMakeLists.txt").write_text(text)
        lines.append(f"add_subdirectory({unit})")
    (folder / "CMakeLists.txt").write_text("\n".join(lines))
    configured = configure(folder, folder / "build", build_tree)
    assert configured.returncode == 0, configured.words
    return folder / "build"


@pytest.mark.parametrize("number", range(len(_LOCALS)), ids=lambda number: _LOCALS[number][0])
def test_unset_locals_stay_so_where_the_project_says_it(number: int, locals_project: Path) -> None:
    target = f"unit{number}/all"
    commands = run_command("ninja", "-C", locals_project, "-t", "commands", target).stdout
    assert "app.cu" in commands
    # What comes last counts.
    assert re.findall(r"-ftrivial-auto-var-init=(\w+)", commands) == _LOCALS[number][1]


def test_every_kind_of_target_and_unit_is_recorded(moved_prefix: Path, tmp_path: Path) -> None:
    configured = configure(HERE / "kinds", tmp_path / "build", moved_prefix)
    assert configured.returncode == 0, configured.words
    build(tmp_path / "build", "--parallel", "2")
    kinds = ("app", "shared", "static", "object", "rdc", "rdcStatic", "rdcObject", "cxx")
    recorded = recorded_kernels(moved_prefix, tmp_path / "build" / "app", tmp_path / "db")
    assert recorded == {f"{kind}Kernel" for kind in kinds}
    program = tmp_path / "build" / "rdc_program"
    assert recorded_kernels(moved_prefix, program, tmp_path / "rdc") == {"rdcKernel"}
    # Requirements stay with the targets that were named.
    commands = run_command("ninja", "-C", tmp_path / "build", "-t", "commands", "plain").stdout
    (own,) = [line for line in commands.splitlines() if " -c " in line and "plain.cpp" in line]
    assert "MnemePasses" not in own
    linked = run_command("readelf", "-d", tmp_path / "build" / "plain").stdout
    assert "NEEDED" in linked
    assert "libmneme_rt" not in linked


def test_either_signature_of_target_link_libraries_goes_with_add_mneme(
    build_tree: Path, tmp_path: Path
) -> None:
    configured = configure(HERE / "signatures", tmp_path / "build", build_tree)
    assert configured.returncode == 0, configured.words
    programs = [f"{kind}_{order}" for kind in ("plain", "keyword") for order in ("before", "after")]
    # How the runtime is linked shows in each program; one stands for how they run.
    text = run_command("ninja", "-C", tmp_path / "build", "-t", "commands", *programs).stdout
    links = [line for line in text.splitlines() if re.search(r" -o (plain|keyword)_\w+ ", line)]
    assert len(links) == len(programs)
    assert all("/libmneme_rt.so" in line and "-lcudart" in line for line in links)
    build(tmp_path / "build", "--target", "plain_before")
    recorded = recorded_kernels(build_tree, tmp_path / "build" / "plain_before", tmp_path / "db")
    assert recorded == {"mainKernel", "staticKernel", "objectKernel"}


@pytest.mark.parametrize("flags", ["", "--no-offload-new-driver"])
def test_exported_static_library_brings_its_relocatable_device_code(
    flags: str, build_tree: Path, tmp_path: Path
) -> None:
    library = tmp_path / "library"
    configured = configure(HERE / "exported", library, build_tree, f"-DCMAKE_CUDA_FLAGS={flags}")
    assert configured.returncode == 0, configured.words
    build(library)
    done = run_command("cmake", "--install", library, "--prefix", tmp_path / "prefix")
    assert done.returncode == 0, done.stderr
    targets = (tmp_path / "prefix" / "lib" / "cmake" / "unit" / "unit.cmake").read_text()
    assert "--offload-link" in targets
    assert "--cuda-path" not in targets
    for export in (tmp_path / "prefix" / "lib" / "cmake" / "unit", library):
        directory = tmp_path / f"consumer of {export.name}"
        configured = configure(
            *(HERE / "exported" / "consumer", directory, build_tree),
            *(f"-DUNIT={export}/unit.cmake", f"-DCMAKE_CUDA_FLAGS={flags}"),
        )
        assert configured.returncode == 0, configured.words
        build(directory)
        database = directory / "db"
        assert recorded_kernels(build_tree, directory / "program", database) == {"rdcKernel"}


@pytest.mark.skipif(not shutil.which("g++"), reason="g++ is not installed")
def test_other_cxx_compiler_goes_with_cuda_of_mneme(build_tree: Path, tmp_path: Path) -> None:
    directory = tmp_path / "build"
    configured = configure(HERE / "mixed", directory, build_tree, "-DCMAKE_CXX_COMPILER=g++")
    assert configured.returncode == 0, configured.words
    build(directory)
    assert recorded_kernels(build_tree, directory / "mixed", tmp_path / "a") == {"sharedKernel"}
    for number, program in enumerate(("rdc_mixed", "rdc_consumer")):
        database = tmp_path / str(number)
        assert recorded_kernels(build_tree, directory / program, database) == {"rdcKernel"}


def test_hip_units_carry_their_kernels(build_tree: Path, tmp_path: Path) -> None:
    compiler = build_tree / "bin" / "mneme-clang++"
    configured = run_command(
        *("cmake", "-S", HERE / "hip", "-B", tmp_path, "-G", "Ninja"),
        *(f"-DCMAKE_CXX_COMPILER={compiler}", f"-DCMAKE_HIP_COMPILER={compiler}"),
        *(f"-DCMAKE_PREFIX_PATH={build_tree}", "-DCMAKE_HIP_ARCHITECTURES=gfx90a"),
        f"-DCMAKE_HIP_COMPILER_ROCM_ROOT={HERE / 'hip' / 'rocm'}",
        *("-DCMAKE_HIP_FLAGS=-nogpuinc -nogpulib", "-DROCM_FLAGS=-nogpuinc;-nogpulib"),
        # CMake learns the compiler by linking a program, which takes a runtime.
        *("-DCMAKE_HIP_COMPILER_ID_RUN=1", "-DCMAKE_HIP_COMPILER_ID=Clang"),
    )
    assert configured.returncode == 0, configured.words
    build(tmp_path)
    for unit in ("hip", "cxx"):
        image = (tmp_path / f"lib{unit}_unit.so").read_bytes()
        assert b"__mneme_ir_" in image
        assert b"mneme_launch_kernel" in image


def test_project_of_the_reference_tools_configures_unchanged(
    moved_prefix: Path, tmp_path: Path
) -> None:
    configured = configure(HERE / "proteus", tmp_path / "build", moved_prefix)
    assert configured.returncode == 0, configured.words
    build(tmp_path / "build")
    for name in ("forced", "annotated", "by_hand", "linked"):
        program = tmp_path / "build" / name
        assert recorded_kernels(moved_prefix, program, tmp_path / name) == {"existing"}
    is_marked = {"forced": False, "annotated": True, "by_hand": True, "linked": True}
    for name, is_value_marked in is_marked.items():
        # What is found in a cache is not traced, and two of them are the same program.
        cache = str(tmp_path / f"cache-{name}")
        wanted = {"PROTEUS_TRACE_OUTPUT": "specialization", "PROTEUS_CACHE_DIR": cache}
        done = run_here(moved_prefix, "run", "--", tmp_path / "build" / name, **wanted)
        assert "[KernelConfig] ID:" in done.stdout
        assert ("ArgNo 1 with value i32 5" in done.stdout) is is_value_marked
    for name in ("made_at_run_time", "added", "userSHARED", "userSTATIC"):
        assert run_here(moved_prefix, "run", "--", tmp_path / "build" / name).stdout == "42\n"


@pytest.mark.skipif(not shutil.which("g++"), reason="g++ is not installed")
def test_lines_of_makefiles_for_the_reference_tools(moved_prefix: Path, tmp_path: Path) -> None:
    marked = tmp_path / "marked.cpp"
    marked.write_text(
        "#include <cstdio>\n"
        '__attribute__((annotate("jit", 1))) int twice(int n) { return n * 2; }\n'
        'int main() { std::printf("%d\\n", twice(21)); }\n'
    )
    libraries = moved_prefix / "lib64"
    clang = json.loads((BUILD / "config.json").read_text())["llvmdir"] + "/bin/clang++"
    with_passes = f"-fpass-plugin={libraries}/libProteusPass.so"
    made = HERE / "proteus" / "made_at_run_time.cpp"
    for name, words in {
        "shared": (clang, marked, with_passes, "-l:libproteus.so"),
        "static": (
            clang,
            marked,
            with_passes,
            "-l:libproteus.a",
            "-l:libproteus_cudart_builtins.a",
        ),
        "host": (clang, marked, with_passes, "-lproteus"),
        "made": ("g++", made, "-std=c++17", "-DPROTEUS_ENABLE_CUDA", "-lproteusFrontend"),
    }.items():
        program = tmp_path / name / "program"
        program.parent.mkdir()
        found = (f"-I{moved_prefix}/include", f"-L{libraries}", f"-Wl,-rpath,{libraries}")
        built = run_command(*words, *found, "-o", program)
        assert built.returncode == 0, built.stderr
        done = run_command(program, PROTEUS_TRACE_OUTPUT="specialization", cwd=program.parent)
        assert "42" in done.stdout.splitlines()
        assert ("ArgNo 0 with value i32 21" in done.stdout) is (name != "made")


def test_installed_prefix_is_complete_and_names_no_build_directory(moved_prefix: Path) -> None:
    assert [name for name in INSTALLED_FILES if not (moved_prefix / name).is_file()] == []
    for directory in {BUILD, ROOT, moved_prefix.parent / "first"}:
        naming = run_command("grep", "-rlF", f"{directory}/", moved_prefix).stdout.split()
        assert naming == []


def _without_languages(folder: Path, prefix: Path, lines: str, *options: str) -> Finished:
    folder.mkdir(exist_ok=True)
    text = f"cmake_minimum_required(VERSION 3.25)\nproject(tiny LANGUAGES NONE)\n{lines}\n"
    (folder / "CMakeLists.txt").write_text(text)
    return run_command(
        "cmake", "-S", folder, "-B", folder / "build", f"-DCMAKE_PREFIX_PATH={prefix}", *options
    )


@pytest.mark.parametrize(
    ("lines", "sentence"),
    [
        ("find_package(mneme CONFIG REQUIRED COMPONENTS replay)",
         "mneme has no component 'replay': there are 'record' and 'jit'"),
        ("find_package(mneme 99.1 CONFIG REQUIRED)", 'compatible with requested version "99.1"'),
        (f"{FIND}\nadd_mneme(nobody)", "add_mneme: 'nobody' is not a target"),
        (f"{FIND}\nadd_library(a OBJECT a.c)\nadd_mneme(a RECORD_ALL)",
         "add_mneme(a): unknown arguments: RECORD_ALL"),
        (f"{FIND}\nadd_library(a OBJECT a.c)\nadd_mneme(a KERNELS)", "add_mneme(a): KERNELS needs a value"),
        (f"{FIND}\nadd_library(a INTERFACE)\nadd_mneme(a)", "'a' compiles nothing"),
        (f"{FIND}\nadd_library(a OBJECT a.c)\nadd_library(b ALIAS a)\nadd_mneme(b)",
         "'b' is another name of 'a'"),
        (f"{FIND}\nadd_library(a OBJECT a.c)\nadd_proteus(a FORCE)", "add_proteus(a): unknown arguments: FORCE"),
        (f"{FIND}\nadd_library(a OBJECT a.c)\nmneme_apply_tuned(a b.json)", "call add_mneme(a) before"),
        (f"{FIND}\nadd_library(a OBJECT a.c)\nadd_mneme(a)\nmneme_apply_tuned(a b.json)", "there is no file"),
        (f"{FIND}\nadd_library(a OBJECT a.c)\nadd_mneme(a)\nmneme_apply_tuned(a CMakeLists.txt)",
         "CMakeLists.txt' is not a file of tuned kernels: failed parsing json string: Line 1, Column 1 Syntax"),
        (f"file(WRITE a.json [])\n{FIND}\nadd_library(a OBJECT a.c)\nadd_mneme(a)\nmneme_apply_tuned(a a.json)",
         "a.json' is not a file of tuned kernels: it holds no JSON object"),
        ((f"file(WRITE a.json {{}})\nfile(WRITE b.json {{}})\n{FIND}\nadd_library(a OBJECT a.c)\nadd_mneme(a)\n"
         "mneme_apply_tuned(a a.json)\nmneme_apply_tuned(a a.json)\nmneme_apply_tuned(a b.json)"),
         "mneme_apply_tuned(a): called before with '{source}/a.json', now with '{source}/b.json'"),
        (f"{FIND}\nadd_library(a OBJECT a.c)\nadd_mneme(a)\nadd_proteus(a)\nadd_mneme(a KERNELS x)",
         "add_mneme(a): called before with '', now with 'x'"),
        (f"{FIND}\nadd_library(a OBJECT a.c)\nadd_mneme(a)\nadd_mneme(a NO_AUTO_VAR_INIT)",
         "add_mneme(a): called before with '', now with 'NO_AUTO_VAR_INIT'"),
        (f"{FIND}\nadd_library(a OBJECT a.c)\nadd_mneme(a KERNELS [[x$<y]])", "no kernel has '$<' in its name"),
        (f"{FIND}\nadd_library(a OBJECT a.c)\nadd_mneme(a KERNELS [[x;y]])", "no kernel has ';' in its name"),
        # A project's compilers as CMake describes them; they are not started.
        (f"{FIND}\nset(CMAKE_CUDA_COMPILER_ID NVIDIA)\nadd_library(a OBJECT a.c)\nadd_mneme(a)",
         "the CUDA compiler is NVIDIA"),
        (f"{FIND}\nset(CMAKE_CXX_COMPILER_ID GNU)\nadd_library(a OBJECT a.c)\nadd_mneme(a)",
         "-DCMAKE_CXX_COMPILER={prefix}/bin/mneme-clang++"),
        ((f"{FIND}\nset(CMAKE_HIP_COMPILER_ID Clang)\nset(CMAKE_HIP_COMPILER_VERSION 17.0.6)\n"
         "add_library(a OBJECT a.c)\nadd_mneme(a)"), "the HIP compiler is clang 17"),
        # C++ alone is nothing that mneme could see.
        ((f"{FIND}\nset(CMAKE_CXX_COMPILER_ID GNU)\nset(CMAKE_CUDA_COMPILER_ID Clang)\n"
          "set(CMAKE_CUDA_COMPILER_VERSION ${MNEME_LLVM_MAJOR}.1)\n"
          "add_library(a OBJECT a.cpp)\nadd_mneme(a)"), "the CXX compiler is GNU"),
    ],
)  # fmt: skip
def test_mistake_is_a_fatal_error_with_a_sentence(
    lines: str, sentence: str, moved_prefix: Path, tmp_path: Path
) -> None:
    done = _without_languages(tmp_path / "tiny", moved_prefix, lines)
    assert done.returncode != 0
    assert sentence.format(prefix=moved_prefix, source=tmp_path / "tiny") in done.words


def test_optional_component_that_is_missing_is_told_not_fatal(
    moved_prefix: Path, tmp_path: Path
) -> None:
    lines = (
        "find_package(mneme 0.1 CONFIG REQUIRED COMPONENTS record OPTIONAL_COMPONENTS jit other)\n"
        'message(STATUS "found: ${mneme_record_FOUND} ${mneme_jit_FOUND} ${mneme_other_FOUND}")'
    )
    done = _without_languages(tmp_path / "tiny", moved_prefix, lines)
    assert done.returncode == 0, done.words
    assert "found: TRUE TRUE FALSE" in done.words


def test_prefix_without_compiler_lacks_the_component(moved_prefix: Path, tmp_path: Path) -> None:
    prefix = tmp_path / "prefix"
    subprocess.run(["cp", "-rs", str(moved_prefix), str(prefix)], check=True)
    (prefix / "bin" / "mneme-jit-compile").unlink()
    done = _without_languages(
        tmp_path / "tiny", prefix, "find_package(mneme CONFIG REQUIRED COMPONENTS jit)"
    )
    assert done.returncode != 0
    assert "cannot compile tuned kernels" in done.words
    assert _without_languages(tmp_path / "other", prefix, FIND).returncode == 0


@pytest.mark.parametrize("wanted", ["", "-DPROTEUS_ENABLE_MPI=OFF"])
def test_proteus_says_whether_ranks_can_share_code(
    wanted: str, build_tree: Path, tmp_path: Path
) -> None:
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.25)\nproject(ranks LANGUAGES CXX)\n"
        "find_package(proteus CONFIG REQUIRED)\n"
        "get_target_property(names proteus INTERFACE_COMPILE_DEFINITIONS)\n"
        'message(STATUS "for MPI: ${PROTEUS_ENABLE_MPI} ${names}")\n'
    )
    configured = configure(tmp_path, tmp_path / "build", build_tree, *wanted.split())
    (said,) = (line for line in configured.words.splitlines() if "for MPI: " in line)
    is_built = any((build_tree / "lib").glob("libmneme_jit_mpi_*.so"))
    assert ("for MPI: ON" in said) == ("PROTEUS_ENABLE_MPI" in said) == (is_built and not wanted)


@pytest.mark.parametrize(("wanted", "told"), [("", "ON"), ("-DPROTEUS_ENABLE_MLIR=OFF", "OFF")])
def test_proteus_accepts_mlir_unless_a_project_says_no(
    wanted: str, told: str, build_tree: Path, tmp_path: Path
) -> None:
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.25)\nproject(modules LANGUAGES CXX)\n"
        "find_package(proteus CONFIG REQUIRED)\n"
        "get_target_property(names proteusFrontend INTERFACE_COMPILE_DEFINITIONS)\n"
        'message(STATUS "for MLIR: ${PROTEUS_ENABLE_MLIR} ${names}")\n'
    )
    configured = configure(tmp_path, tmp_path / "build", build_tree, *wanted.split())
    (said,) = (line for line in configured.words.splitlines() if "for MLIR: " in line)
    assert f"for MLIR: {told} " in said
    assert ("PROTEUS_ENABLE_MLIR" in said) == (told == "ON")
