"""Programs that die where there is no GPU say how they run without one."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest
from conftest import ROOT, mneme, run_command

pytestmark = [
    pytest.mark.compile,
    pytest.mark.skipif(Path("/dev/nvidiactl").exists(), reason="this machine has a GPU"),
]
SOURCE = ROOT / "tests/apps/without_gpu/managed.cu"


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    built = tmp_path_factory.mktemp("built") / "managed"
    compiler = mneme("config", "cxx").stdout.strip()
    flags = mneme("config", "cflags").stdout.split()
    libraries = mneme("config", "ldflags").stdout.split()
    done = run_command(compiler, *flags, "-O2", SOURCE, "-o", built, *libraries, "-lcudart")
    assert done.returncode == 0, done.stderr
    return built


@pytest.mark.parametrize("arguments", [(), ("sent",)])
def test_program_dies_as_ever_and_says_why(program: Path, arguments: tuple[str, ...]) -> None:
    done = run_command(program, *arguments)
    assert (done.returncode, done.stdout) == (-signal.SIGSEGV, "")
    assert done.stderr == (
        "mneme: this program dies where there is no GPU for its kernels and its memory; to run it "
        f"without one: mneme run --device cpu -- {program}\n"
    )


def test_handler_of_the_program_is_left_alone(program: Path) -> None:
    done = run_command(program, "own")
    assert (done.returncode, done.stderr) == (7, "")


def test_nothing_is_said_on_the_cpu_device(program: Path) -> None:
    done = mneme("run", "--device", "cpu", "--", program)
    assert (done.returncode, done.stdout, done.stderr) == (0, "14\n", "")
    died = mneme("run", "--device", "cpu", "--", program, "sent")
    assert died.returncode == -signal.SIGSEGV
    assert "mneme: this program dies" not in died.stderr
