"""A stand-in for AMD's HIP runtime: what runs on it, and how it fails when told to."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path

import pytest
from conftest import BUILD, ROOT, Finished, mneme, run_command
from test_hip import APPS, SOURCES, build, hip  # noqa: F401 - skips where there is no HIP

pytestmark = [pytest.mark.hip, pytest.mark.compile]

STAND_IN = BUILD / "lib" / "stand_in"
SUM = "5994\n"


@pytest.fixture(scope="session", autouse=True)
def stand_in() -> None:
    """Skip where it is not built."""
    if not (STAND_IN / "libamdhip64.so.6").is_file():
        pytest.skip("the stand-in is built with the tests, on x86-64")


def on_stand_in(*command: str | Path, **environment: str) -> Finished:
    """Run a program as on a machine with ROCm."""
    return run_command(*command, LD_LIBRARY_PATH=str(STAND_IN), **environment)


@pytest.fixture(scope="session")
def loader(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A program that loads code objects, and a code object that mneme made."""
    folder = tmp_path_factory.mktemp("loader")
    add = folder / "vector_add"
    source = ROOT / "examples" / "vector_add" / "vector_add.cu"
    build("-x", "hip", source, "-I", SOURCES, "-o", add, "-lamdhip64")
    build(APPS / "loader.hip", "-o", folder / "loader", "-lamdhip64")
    done = mneme("record", "-rdb", folder / "db", "--device", "cpu", "--", add, "1000")
    assert done.returncode == 0, done.stderr
    made = ("compile", folder / "db", "--arch", "gfx90a", "-o", folder / "add.co")
    done = mneme(*made, MNEME_CARRY_IR="1")
    assert done.returncode == 0, done.stderr
    return folder / "loader", folder / "add.co"


def test_a_program_runs_as_on_the_cpu_device(tmp_path: Path) -> None:
    program = tmp_path / "functions"
    build(APPS / "functions.hip", "-o", program, "-lamdhip64")
    done = on_stand_in(program)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == mneme("run", "--device", "cpu", "--", program).stdout


def test_it_keeps_the_promises_of_the_api_but_for_its_name(tmp_path: Path) -> None:
    build(APPS / "api.hip", "-o", tmp_path / "api", "-lamdhip64")
    build("--cuda-device-only", APPS / "api.hip", "-o", tmp_path / "api.co")
    done = on_stand_in(tmp_path / "api", tmp_path / "api.co")
    broken = done.stdout.splitlines()
    assert broken[-1] == "1 broken promises", done.stdout
    assert 'strncmp(text, "CPU (", 5)' in broken[0]


def test_the_device_is_what_the_environment_says(tmp_path: Path) -> None:
    build(APPS / "wave.hip", "-o", tmp_path / "wave", "-lamdhip64")
    done = on_stand_in(tmp_path / "wave")
    assert done.stdout == "gfx90a:sramecc+:xnack- 9.0: 64 64\n"
    done = on_stand_in(tmp_path / "wave", MNEME_STAND_IN_ARCH="gfx942:xnack+")
    assert done.stdout == "gfx942:xnack+ 9.4: 64 64\n"


def test_a_code_object_that_carries_its_ir_runs(loader: tuple[Path, Path]) -> None:
    done = on_stand_in(*loader)
    assert (done.stdout, done.returncode) == (SUM, 0), done.stderr


def test_a_code_object_in_a_bundle_runs(loader: tuple[Path, Path], tmp_path: Path) -> None:
    llvm = Path(mneme("config", "llvmdir").stdout.strip()) / "bin" / "clang-offload-bundler"
    targets = "host-x86_64-unknown-linux--,hipv4-amdgcn-amd-amdhsa--gfx90a"
    files = ("-input=/dev/null", f"-input={loader[1]}", f"-output={tmp_path / 'bundle'}")
    done = run_command(llvm, "-type=o", f"-targets={targets}", *files)
    assert done.returncode == 0, done.stderr
    done = on_stand_in(loader[0], tmp_path / "bundle")
    assert done.stdout == SUM, done.stderr


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ("hipMemCreate", "create: hipErrorNotSupported\n"),
        ("hipMemCreate:1=hipErrorOutOfMemory", "create: hipErrorOutOfMemory\n"),
        ("hipMalloc:2=hipErrorOutOfMemory", "c: hipErrorOutOfMemory\n"),
        ("hipMalloc:3=hipErrorOutOfMemory", SUM),
        ("elsewhere:hipMemAddressReserve", f"another address was granted\n{SUM}"),
        ("missing:hipModuleLaunchCooperativeKernel", "no cooperative launches\n"),
    ],
)
def test_faults_are_as_asked_for(fault: str, said: str, loader: tuple[Path, Path]) -> None:
    done = on_stand_in(*loader, MNEME_STAND_IN_FAULT=fault)
    assert done.stdout.startswith(said), done.stdout + done.stderr


def test_a_kernel_can_hang(loader: tuple[Path, Path]) -> None:
    faults = {"MNEME_STAND_IN_FAULT": "hang:hipModuleLaunchKernel:2"}
    environment = {**os.environ, **faults, "LD_LIBRARY_PATH": str(STAND_IN)}
    with subprocess.Popen(loader, env=environment, stdout=subprocess.PIPE, text=True) as process:
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(3)
        process.send_signal(signal.SIGKILL)
        assert process.stdout is not None
        assert process.stdout.read() == ""
