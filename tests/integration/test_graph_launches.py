"""Kernels in graphs are recorded as they run, and the program does what it does alone."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from conftest import ROOT, mneme, replay_all
from graph_cases import (
    BEFORE_THE_WAIT,
    CASES,
    EVERYTHING,
    FILTERS,
    GIVEN_UP,
    MEMORY_IS_NAMED,
    PATIENCE,
    launch_counts,
    recorded_launches,
)
from test_reachable_memory import CUDA, HIP, compile_hip, compile_program

PROGRAM = ROOT / "tests" / "apps" / "gpu_record" / "graph_kernels.cu"


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("graphs") / "graph_kernels"
    compile_program(path, *CUDA, PROGRAM, "-lcudart")
    return path


@pytest.fixture(scope="module")
def hip_program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("graphs") / "graph_kernels"
    compile_hip(*HIP, PROGRAM, "-o", path, "-lamdhip64")
    return path


def record(program: Path, case: str, directory: Path, *options: str) -> str:
    plain = mneme("run", "--device", "cpu", "--", program, case)
    place = ("record", "-rdb", directory, "--device", "cpu", *options)
    done = mneme(*place, "--", program, case)
    assert (done.returncode, done.stdout) == (0, plain.stdout), done.stderr
    assert plain.stdout.endswith("graph_kernels: ok\n")
    return done.stderr


def check(program: Path, case: str, directory: Path) -> None:
    launches, counts = CASES[case]
    said = record(program, case, directory, *EVERYTHING)
    assert recorded_launches(directory) == Counter(launches), said
    assert launch_counts(directory) == counts
    assert "not recorded" not in said
    assert {one.result_class for one in replay_all(directory)} == {"exact"}


@pytest.mark.parametrize("case", CASES)
def test_kernels_in_graphs_are_recorded(case: str, program: Path, tmp_path: Path) -> None:
    check(program, case, tmp_path)


@pytest.mark.hip
@pytest.mark.parametrize("case", CASES)
def test_kernels_in_graphs_of_hip_are_recorded(
    case: str, hip_program: Path, tmp_path: Path
) -> None:
    check(hip_program, case, tmp_path)


@pytest.mark.parametrize("name", FILTERS)
def test_filters_and_limits_hold_in_graphs(name: str, program: Path, tmp_path: Path) -> None:
    case, options, launches = FILTERS[name]
    said = record(program, case, tmp_path, *options)
    assert recorded_launches(tmp_path) == Counter(launches), said


@pytest.mark.hip
def test_a_graph_of_hip_with_memory_of_its_own_is_named(hip_program: Path, tmp_path: Path) -> None:
    said = record(hip_program, "memory", tmp_path)
    assert MEMORY_IS_NAMED in said
    assert not recorded_launches(tmp_path)


def test_a_kernel_in_a_graph_that_waits_for_the_program_is_given_up(
    program: Path, tmp_path: Path
) -> None:
    said = record(program, "waiting", tmp_path, *PATIENCE)
    assert GIVEN_UP in said
    # It may be known a moment too late that the device is idle, or in time for the kernel behind it.
    assert set(BEFORE_THE_WAIT) <= set(recorded_launches(tmp_path))


def test_graphs_can_be_left_as_they_are(program: Path, tmp_path: Path) -> None:
    place = ("record", "-rdb", tmp_path, "--device", "cpu")
    done = mneme(*place, "--", program, "captured", MNEME_GRAPHS="whole")
    assert "a graph was launched whose kernels are not recorded: MNEME_GRAPHS" in done.stderr
    assert not recorded_launches(tmp_path)
