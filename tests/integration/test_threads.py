"""Programs whose threads launch, copy, fork, are cancelled and jump: recorded, they do what they do alone."""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import BUILD, ROOT, Finished, instances, mneme, records, replay_all, run_command
from tuned_runs import TRACE, counts, kernels_of, write_tuned

SOURCES = ROOT / "tests" / "apps" / "threads"
SOON = 60  # seconds, on a machine that does much else; some of these took for ever
Record = Callable[..., tuple[Finished, Path]]


def build(name: str, flavour: str, folder: Path) -> Path:
    """Compile a program as CUDA or as HIP, as a Makefile would."""
    if flavour == "hip" and not Path("/usr/include/hip/hip_runtime.h").is_file():
        pytest.skip("no HIP headers: install libamdhip64-dev and rocm-device-libs")
    source = SOURCES / f"{name}.{flavour}"
    target = {"cu": ("--offload-arch=sm_90",), "hip": ("--offload-arch=gfx90a",)}[flavour]
    library = {"cu": "-lcudart", "hip": "-lamdhip64"}[flavour]
    compiler = BUILD / "bin" / "mneme-cxx"
    built = run_command(compiler, "-O2", *target, source, "-o", folder / name, library, "-pthread")
    assert built.returncode == 0, built.stderr
    return folder / name


FLAVOURS = ["cu", pytest.param("hip", marks=pytest.mark.hip)]


@pytest.fixture(scope="module", params=FLAVOURS)
def program(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program in both flavours."""
    return build("threads", request.param, tmp_path_factory.mktemp(request.param))


@pytest.fixture
def record(program: Path, tmp_path: Path) -> Record:
    """Records the program and checks that it does what it does alone."""

    def run(*arguments: str, **environment: str) -> tuple[Finished, Path]:
        plain = mneme("run", "--device", "cpu", "--", program, *arguments)
        begin = time.monotonic()
        done = mneme(
            "record", "-rdb", tmp_path / "db", "-mr", "20", "--device", "cpu", "--",
            program, *arguments, **environment,
        )  # fmt: skip
        assert time.monotonic() - begin < SOON
        assert (done.returncode, done.stdout) == (plain.returncode, plain.stdout), done.stderr
        return done, tmp_path / "db"

    return run


def recorded_in(directory: Path) -> int:
    """How many instances of the program's one kernel there are."""
    (record,) = records(directory)
    return len(instances(record))


@pytest.mark.parametrize("threads", ["2", "64"])
def test_launches_are_recorded_beside_threads_that_launch(record: Record, threads: str) -> None:
    done, directory = record("beside", threads)
    assert recorded_in(directory) == 6
    launched = re.search(r"^launched (\d+)$", done.stderr, re.MULTILINE)
    said = re.search(r"\((\d+) launches\)", done.stderr)
    assert launched
    assert said
    assert int(said[1]) == int(launched[1]) + 1  # the last one comes after


def test_the_end_does_not_wait_for_threads_that_launch(record: Record) -> None:
    _, directory = record("detached", "16")
    assert recorded_in(directory) == 2


def test_launching_threads_are_cancelled(record: Record) -> None:
    _, directory = record("cancel", "10")
    assert recorded_in(directory) == 2


def test_a_jump_out_of_a_kernel_is_said_and_ends(record: Record) -> None:
    done, _ = record("jump")
    assert "left the launch by a jump" in done.stderr


def test_settings_are_those_the_program_was_started_with(record: Record) -> None:
    _, directory = record("away")
    assert recorded_in(directory) == 1


@pytest.mark.parametrize("flavour", FLAVOURS)
def test_copies_and_fills_wait_while_a_launch_is_recorded(flavour: str, tmp_path: Path) -> None:
    program = build("copies", flavour, tmp_path)
    plain = mneme("run", "--device", "cpu", "--", program)
    folder = tmp_path / "db"
    done = mneme("record", "-rdb", folder, "-mr", "20", "--device", "cpu", "--", program)
    assert plain.stdout == "sum 1093 failed 0\n"
    assert (done.returncode, done.stdout) == (plain.returncode, plain.stdout), done.stderr
    assert len(records(folder)) == 1
    assert [one.result_class for one in replay_all(folder)] == ["exact"] * 5


@pytest.mark.parametrize("mode", [("away",), ("cancel", "5"), ("beside", "16")])
def test_tuned_runs_do_the_same(program: Path, tmp_path: Path, mode: tuple[str, ...]) -> None:
    write_tuned(tmp_path / "tuned.json", kernels_of([program]))
    plain = mneme("run", "--device", "cpu", "--", program, *mode)
    tuned = run_command(
        "env", "-C", tmp_path, sys.executable, "-m", "mneme", "run", "--device", "cpu", "--", program, *mode,
        PROTEUS_TUNED_KERNELS="tuned.json", PROTEUS_TRACE_OUTPUT=TRACE,
    )  # fmt: skip
    assert (tuned.returncode, tuned.stdout) == (plain.returncode, plain.stdout), tuned.stderr
    assert counts(tuned.stderr).tuned > 0, tuned.stderr
    assert (tmp_path / ".proteus").is_dir()
