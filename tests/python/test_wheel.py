"""The wheel works alone: in a fresh environment, away from the checkout and from LLVM's libraries."""

from __future__ import annotations

import json
import os
import platform
import re
import runpy
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import zipfile
from email.parser import HeaderParser
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
MOST_BYTES = 60 << 20
# Debian 12's. Archives of LLVM built for a newer one need what older machines lack.
NEWEST_GLIBC = (2, 36)
NATIVE = (
    *("bin/mneme-cc", "bin/mneme-cxx", "bin/mneme-jit-compile", "bin/nvcc", "config.json"),
    *("include/mneme/MnemeAnnotation.hpp", "lib/cmake/mneme/mnemeConfig.cmake"),
    *("lib/libMnemePasses.so", "lib/libmneme_compile.so", "lib/libmneme_cudart.so"),
    *("lib/libmneme_hiprt.so", "lib/libmneme_cuda_driver.so", "lib/driver_stubs/libcuda.so"),
    *("lib/libmneme_jit.so", "lib/libmneme_rt.so", "lib/librecord.so", "py.typed"),
    *("lib/libmneme_profiler.so", "lib/libmneme_nvml.so", "lib/driver_stubs/libnvidia-ml.so"),
    "lib/libmneme_curand.so",
    *("report/report.html.j2", "share/mneme/templates/tune/tune.py.j2"),
)
TOOLS = ("clang-22", "cmake", "ninja", "ccache")
MISSING = [
    *(tool for tool in TOOLS if shutil.which(tool) is None),
    *(name for name in ("auditwheel", "scikit_build_core") if find_spec(name) is None),
]

pytestmark = [
    pytest.mark.slow,
    pytest.mark.compile,
    pytest.mark.skipif(bool(MISSING), reason=f"building wheels needs {', '.join(MISSING)}"),
]


def run(*command: str | Path, cwd: Path, **environment: str) -> str:
    """Run a command that has to work, without what points at the build tree; return its stdout."""
    ours = ("MNEME_BUILD_DIR", "PYTHONPATH", "VIRTUAL_ENV")
    variables = {name: value for name, value in os.environ.items() if name not in ours}
    done = subprocess.run(
        [str(part) for part in command],
        cwd=cwd, env={**variables, **environment}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def command_of(environment: Path, name: str) -> Path:
    return environment / "bin" / name


def fresh_environment(made: Path) -> Path:
    """Make a virtual environment that sees what mneme depends on, and no mneme."""
    run(sys.executable, "-m", "venv", made, cwd=made.parent)
    (site,) = made.glob("lib/python3*/site-packages")
    (site / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return made


def pip_of(environment: Path) -> tuple[str | Path, ...]:
    python = command_of(environment, "python")
    return (python, "-m", "pip", "install", "-q", "--no-index", "--no-deps")


@pytest.fixture(scope="module")
def output(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with the source distribution and the wheel for this Python."""
    made: Path = tmp_path_factory.mktemp("wheel")
    run(sys.executable, ROOT / "scripts" / "wheel.py", "--output", made, cwd=ROOT)
    return made


@pytest.fixture(scope="module")
def wheel(output: Path) -> Path:
    (found,) = output.glob("*.whl")
    return found


@pytest.fixture(scope="module")
def environment(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A fresh environment with the wheel; what mneme depends on is taken from this one's."""
    made = fresh_environment(tmp_path_factory.mktemp("environment") / "venv")
    run(*pip_of(made), wheel, cwd=made.parent)
    return made


@pytest.fixture(scope="module")
def unpacked(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder: Path = tmp_path_factory.mktemp("unpacked")
    zipfile.ZipFile(wheel).extractall(folder)
    return folder


def shared_objects(folder: Path) -> list[Path]:
    """Without scripts for the linker, which have such names too."""
    return [path for path in folder.rglob("*.so") if path.read_bytes()[:4] == b"\x7fELF"]


def test_it_has_every_part_and_is_small(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    assert [name for name in NATIVE if f"mneme/{name}" not in names] == []
    assert "proteus/__init__.py" in names
    assert any(re.fullmatch(r"mneme/_native\..*\.so", name) for name in names)
    assert wheel.stat().st_size <= MOST_BYTES


@pytest.mark.skipif(
    tuple(map(int, platform.libc_ver()[1].split("."))) > NEWEST_GLIBC,
    reason="this C library is newer than the one wheels are built with",
)
def test_it_installs_where_the_c_library_is_2_34(wheel: Path) -> None:
    assert wheel.name.endswith(f"-manylinux_2_34_{platform.machine()}.whl")


def test_its_libraries_need_nothing_but_the_c_library(unpacked: Path) -> None:
    allowed = re.compile(
        r"(libc|libm|libdl|libpthread|libgcc_s|ld-linux.*|libmneme_rt|libmneme_cudart)\.so"
    )
    for library in shared_objects(unpacked):
        if library.name in (
            "libMnemePasses.so",
            "libProteusPass.so",
            "libProteusPassOffload.so",
        ):  # they live in clang
            continue
        dynamic = run("readelf", "-d", library, cwd=unpacked)
        needed = re.findall(r"\(NEEDED\).*\[(.*)\]", dynamic)
        assert [name for name in needed if not allowed.match(name)] == [], library.name


def test_nothing_of_llvm_or_other_libraries_is_visible(unpacked: Path) -> None:
    foreign = re.compile(
        r" (LLVM\w+|_ZN4llvm\w+|_ZN3lld\w+|ZSTD_\w+|XXH\w+|make_fcontext|inflate)$"
    )
    for library in shared_objects(unpacked):
        exported = run("nm", "-D", "--defined-only", library, cwd=unpacked).splitlines()
        assert [line for line in exported if foreign.search(line)] == [], library.name


def test_it_knows_nothing_of_where_it_was_built(unpacked: Path) -> None:
    places = [str(ROOT).encode() + b"/", str(Path.home()).encode() + b"/"]
    files = [path for path in unpacked.rglob("*") if path.is_file()]
    assert [p.name for p in files if any(place in p.read_bytes() for place in places)] == []


def test_it_says_what_it_is_and_under_which_licences(wheel: Path, unpacked: Path) -> None:
    (metadata,) = unpacked.glob("*.dist-info/METADATA")
    headers = HeaderParser().parsestr(metadata.read_text())
    assert headers["Name"] == "mneme-gpu"
    assert headers["Version"] == wheel.name.split("-")[1]
    assert headers["Requires-Python"] == ">=3.10"
    assert headers["License-Expression"] == "Apache-2.0 WITH LLVM-exception"
    licences = headers.get_all("License-File", [])
    assert set(licences) == {"LICENSE", "LICENSE-THIRD-PARTY"}
    for name in licences:
        assert (metadata.parent / "licenses" / name).read_text() == (ROOT / name).read_text()
    minors = {
        name.rpartition(" 3.")[2] for name in headers.get_all("Classifier", []) if "3." in name
    }
    assert minors == {"10", "11", "12", "13"}
    assert set(headers.get_all("Provides-Extra", [])) == {
        *("tune", "dashboard", "dask", "mpi", "ray", "data", "gym", "corpus", "dev", "docs"),
        "cuda-toolkit",
    }


def test_the_source_distribution_has_what_is_built(output: Path) -> None:
    (sdist,) = output.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        inside = {name.partition("/")[2] for name in archive.getnames()}
    parts = ("cmake", "passes", "runtime", "python", "include", "templates")
    tracked = run("git", "ls-files", "--", *parts, "pyproject.toml", "LICENSE", "CMakeLists.txt",
                  "README.md", cwd=ROOT).splitlines()  # fmt: skip
    assert len(tracked) > 100
    assert [name for name in tracked if name not in inside and (ROOT / name).exists()] == []
    assert not any(name.startswith((".venv", "build", ".setup")) for name in inside)


def test_the_command_answers(wheel: Path, environment: Path, tmp_path: Path) -> None:
    mneme = command_of(environment, "mneme")
    version = wheel.name.split("-")[1]
    assert run(mneme, "--version", cwd=tmp_path) == f"mneme {version}\n"
    code = "import mneme; print(mneme.__version__)"
    assert run(command_of(environment, "python"), "-c", code, cwd=tmp_path) == f"{version}\n"
    package = Path(run(mneme, "config", "cmakedir", cwd=tmp_path).strip())
    assert package.is_relative_to(environment)
    assert (package / "mnemeConfig.cmake").is_file()


def test_a_makefile_takes_the_compiler_from_the_path(environment: Path, tmp_path: Path) -> None:
    project = ROOT / "tests" / "cmake" / "wrapped"
    path = f"{environment / 'bin'}{os.pathsep}{os.environ['PATH']}"
    run("make", "-f", project / "Makefile", f"SOURCE={project}", "CXX=mneme-cxx", cwd=tmp_path,
        PATH=path)  # fmt: skip
    run("mneme", "record", "-rdb", "rec", "--device", "cpu", "--", "./app", cwd=tmp_path, PATH=path)
    assert list((tmp_path / "rec").glob("[0-9]*.json")) != []
    # A command of another name is a link to it, as c++ is to a compiler.
    (tmp_path / "c++").symlink_to(environment / "bin" / "mneme-cxx")
    assert "clang version" in run(tmp_path / "c++", "--version", cwd=tmp_path)


def test_a_compiler_without_its_package_says_so(environment: Path, tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    alone = shutil.copy(environment / "bin" / "mneme-cc", tmp_path / "bin")
    done = subprocess.run([alone, "--version"], capture_output=True, text=True, check=False)
    assert done.returncode == 127
    assert (
        f"mneme-cc: the package mneme is not installed for python3.{sys.version_info[1]} below '{tmp_path}'"
        in done.stderr
    )


def test_a_cmake_project_finds_the_package(environment: Path) -> None:
    (prefix,) = environment.glob("lib/python3*/site-packages/mneme")
    said = run(sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", "wheel_prefix",
               ROOT / "tests" / "cmake" / "test_find_package.py", cwd=ROOT,
               MNEME_TEST_WHEEL_PREFIX=str(prefix))  # fmt: skip
    assert "1 passed" in said


def test_an_editable_installation_finds_its_native_parts(tmp_path: Path) -> None:
    made = fresh_environment(tmp_path / "venv")
    build = ROOT / ".setup" / "wheel" / str(sys.implementation.cache_tag) / "build"
    settings = runpy.run_path(str(ROOT / "scripts" / "wheel.py"))["settings"](build)
    run(*pip_of(made), "--no-build-isolation", *settings, "-e", ".", cwd=ROOT,
        CMAKE_BUILD_PARALLEL_LEVEL="2")  # fmt: skip
    mneme = command_of(made, "mneme")
    assert Path(run(mneme, "config", "prefix", cwd=tmp_path).strip()).is_relative_to(made)
    assert "cpu" in run(mneme, "devices", cwd=tmp_path)
    assert "clang version" in run(command_of(made, "mneme-cxx"), "--version", cwd=tmp_path)
    code = "import mneme; print(mneme.__file__)"
    assert str(ROOT) in run(command_of(made, "python"), "-c", code, cwd=tmp_path)


def pretend_a_gain(path: Path) -> None:
    """Whether there is one is up to the machine."""
    best = json.loads(path.read_text())
    best["trial"] = 1
    best["gain"] = {"ratio": 1.5, "low": 1.4, "high": 1.6, "significant": True, "rounds": 12}
    path.write_text(json.dumps(best))


def test_main_job_from_build_to_tuned_run(environment: Path, tmp_path: Path) -> None:
    mneme = command_of(environment, "mneme")
    for name in ("nbody", "common.h"):
        source = ROOT / "examples" / name
        (shutil.copytree if source.is_dir() else shutil.copy)(source, tmp_path / name)
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.25)\nproject(alone LANGUAGES CXX CUDA)\n"
        "find_package(mneme CONFIG REQUIRED)\nadd_executable(alone nbody/nbody.cu)\n"
        "target_include_directories(alone PRIVATE .)\nadd_mneme(alone)\n"
    )
    arguments = run(mneme, "config", "cmake-args", cwd=tmp_path).split()
    run("cmake", "-S", ".", "-B", "build", "-G", "Ninja", *arguments, cwd=tmp_path)
    run("ninja", "-C", "build", cwd=tmp_path)
    run(mneme, "record", "-rdb", "rec", "--", "./build/alone", cwd=tmp_path)
    (record,) = (tmp_path / "rec").glob("[0-9]*.json")

    replayed = json.loads(run(mneme, "replay", "-rdb", record, "default<O3>", cwd=tmp_path))
    assert replayed["Result"]["verified"] is True

    run(mneme, "tune", "-rdb", record, "--device", "cpu", "--trials", "8", "--seed", "1",
        "--space-preset", "compiler",
        "--passes", "function(reg2mem)", "--passes", "default<O2>", "--passes", "default<O3>",
        "--results-dir", "tuned", cwd=tmp_path)  # fmt: skip
    pretend_a_gain(tmp_path / "tuned" / "best.json")
    run(mneme, "deploy", "tuned", "-o", "tuned.json", cwd=tmp_path)
    tuned = {
        "PROTEUS_TUNED_KERNELS": str(tmp_path / "tuned.json"),
        "PROTEUS_CACHE_DIR": str(tmp_path / "cache"),
    }
    assert "PASSED" in run(mneme, "run", "--", "./build/alone", cwd=tmp_path, **tuned)
    assert [path for path in (tmp_path / "cache").rglob("*") if path.is_file()] != []
