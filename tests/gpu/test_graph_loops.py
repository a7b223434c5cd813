"""Kernels in bodies of conditional nodes are recorded, while the program does what it does alone."""

from __future__ import annotations

import shutil
from collections import Counter
from pathlib import Path

import pytest

from gpu import support
from gpu.support import BUILD, graph_cases, on_gpus

ROOT = Path(__file__).parents[2]
SOURCES = ROOT / "source" if (ROOT / "source").is_dir() else ROOT
PROGRAM = BUILD / "tests" / "apps" / "gpu_record" / "graph_loops"
pytestmark = pytest.mark.skipif(
    not support.IS_GPU, reason="the CPU device has no conditional nodes"
)
STEP = graph_cases.STEP
# Blocks of each recorded launch, and how many launches of each kernel were counted: none in what is
# left of a graph when everything in it is recorded.
CASES = {
    "loop": (
        {"begin": [1, 1], "advance": [9], STEP: [8, 10]},
        {"begin": 2, "advance": 1, STEP: 4},
    ),
    "bodies": ({"begin": [1] * 4, STEP: [8, 9, 10, 11, 12]}, {"begin": 4, STEP: 5}),
    "nested": ({"begin": [1, 1], STEP: [8, 9, 10]}, {"begin": 2, STEP: 4}),
    "later": ({"begin": [1, 1], STEP: [8, 9]}, {"begin": 2, STEP: 4}),
    "once": ({"begin": [1, 1], STEP: [9]}, {"begin": 2, STEP: 1}),
    "inner": ({"begin": [1, 1], STEP: [9]}, {"begin": 2, STEP: 1}),
    "far": ({"begin": [1, 1], STEP: [8]}, {"begin": 2, STEP: 1}),
    "exchanged": ({"begin": [1, 1, 1], STEP: [8, 9]}, {"begin": 4, STEP: 2}),
}


def record(program: Path, case: str, directory: Path, *options: str) -> str:
    plain = support.run(program, case)
    place = ("record", "-rdb", directory, "--device", support.DEVICE, *options)
    done = support.mneme(*place, "--", program, case)
    assert (done.returncode, done.stdout) == (plain.returncode, plain.stdout), done.stderr
    return str(done.stderr)


def blocks(directory: Path) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for (kernel, grid, _), count in sorted(graph_cases.recorded_launches(directory).items()):
        found.setdefault(kernel, []).extend([grid] * count)
    return found


def check(program: Path, case: str, directory: Path, pipeline: str) -> None:
    recorded, counts = CASES[case]
    said = record(program, case, directory, *graph_cases.EVERYTHING)
    assert blocks(directory) == recorded, said
    assert graph_cases.launch_counts(directory) == counts, said
    assert "in the body of a conditional node" not in said
    replayed = support.replay_all(directory, pipeline, device=support.DEVICE)
    assert {one.result_class for one in replayed} == {"exact"}


@pytest.mark.parametrize("case", on_gpus(tuple(CASES)))
def test_kernels_in_bodies_are_recorded(case: str, tmp_path: Path) -> None:
    check(PROGRAM, case, tmp_path, "default<O2>")


@pytest.fixture(scope="module")
def of_nvcc(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if not shutil.which("nvcc"):
        pytest.skip("nvcc is not there")
    program: Path = tmp_path_factory.mktemp("nvcc") / "program"
    apps = SOURCES / "tests" / "apps" / "gpu_record"
    support.compile_by_nvcc(apps / "graph_loops.cu", program)
    return program


@pytest.mark.parametrize("case", on_gpus(tuple(CASES)))
def test_kernels_of_nvcc_in_bodies_are_recorded(case: str, of_nvcc: Path, tmp_path: Path) -> None:
    check(of_nvcc, case, tmp_path, "")  # it has no IR


def test_an_iteration_of_a_loop_is_recorded(tmp_path: Path) -> None:
    said = record(PROGRAM, "loop", tmp_path, "-sr", "2", "-mr", "1", "--kernels", "advance")
    assert graph_cases.recorded_launches(tmp_path) == Counter({("advance", 9, 128): 1}), said
    assert graph_cases.launch_counts(tmp_path) == {"advance": 3}, said
    replayed = support.replay_all(tmp_path, "default<O2>", device=support.DEVICE)
    assert {one.result_class for one in replayed} == {"exact"}


def test_a_graph_runs_as_it_is_while_another_stream_is_captured(tmp_path: Path) -> None:
    said = record(PROGRAM, "capturing", tmp_path, *graph_cases.EVERYTHING)
    assert blocks(tmp_path) == {STEP: [8]}, said
    assert "cannot be launched in parts" not in said


def test_a_graph_is_left_whole_after_launches_that_recorded_nothing(tmp_path: Path) -> None:
    said = record(PROGRAM, "never", tmp_path, *graph_cases.EVERYTHING)
    assert blocks(tmp_path)[STEP] == [9], said
    assert said.count("16 launches of the graph in a row recorded nothing") == 1
    assert graph_cases.launch_counts(tmp_path)[STEP] == 17 * 3, said


def test_a_loop_that_waits_for_the_program_goes_on_without_its_thread(tmp_path: Path) -> None:
    said = record(PROGRAM, "waiting", tmp_path, *graph_cases.PATIENCE)
    assert "a graph with conditional nodes was not recorded to its end" in said
    assert (STEP, 8, 128) in graph_cases.recorded_launches(tmp_path)


def test_launches_behind_one_that_goes_on_keep_their_order(tmp_path: Path) -> None:
    said = record(PROGRAM, "relaunched", tmp_path, *graph_cases.PATIENCE)
    assert "a graph with conditional nodes was not recorded to its end" in said
    assert "an earlier launch of it went on while the program did" in said


def test_bodies_beside_a_graph_in_the_graph_are_left_whole(tmp_path: Path) -> None:
    said = record(PROGRAM, "child", tmp_path, *graph_cases.EVERYTHING)
    assert blocks(tmp_path) == {"begin": [1, 1]}
    assert "bodies of conditional nodes are left whole: a node in it cannot be made again" in said


def test_kernels_that_set_conditions_are_named(tmp_path: Path) -> None:
    said = record(PROGRAM, "nested", tmp_path)
    for kernel in ("choose(", "again("):
        assert f"kernel '{kernel}" in said
    assert "it sets their conditions" in said
