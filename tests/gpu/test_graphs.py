"""Kernels in graphs on the GPU: recorded as they run, while the program does what it does alone."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from gpu import support
from gpu.support import BUILD, SOURCES, graph_cases, on_gpus

PROGRAM = BUILD / "tests" / "apps" / "gpu_record" / "graph_kernels"
ALLOCATIONS = PROGRAM.with_name("graph_allocations")
CASES = on_gpus(tuple(graph_cases.CASES))
FILTERS = on_gpus(tuple(graph_cases.FILTERS))


def record(case: str, directory: Path, *options: str, program: Path = PROGRAM) -> str:
    plain = support.run(program, case)
    place = ("record", "-rdb", directory, "--device", support.DEVICE, *options)
    done = support.mneme(*place, "--", program, case)
    assert (done.returncode, done.stdout) == (plain.returncode, plain.stdout), done.stderr
    return str(done.stderr)


@pytest.mark.parametrize("case", CASES)
def test_kernels_in_graphs_are_recorded(case: str, tmp_path: Path) -> None:
    launches, counts = graph_cases.CASES[case]
    said = record(case, tmp_path, *graph_cases.EVERYTHING)
    assert graph_cases.recorded_launches(tmp_path) == Counter(launches), said
    assert graph_cases.launch_counts(tmp_path) == counts, said
    replayed = support.replay_all(tmp_path, "default<O3>", device=support.DEVICE)
    assert {one.result_class for one in replayed} == {"exact"}


def test_a_kept_graph_replays_as_a_whole(tmp_path: Path) -> None:
    record("captured", tmp_path, "--graph")
    (graph,) = tmp_path.glob("*.graph")
    done = support.mneme("replay", tmp_path, "--graph", graph.stem, "--device", support.DEVICE)
    assert done.returncode == 0, done.stderr
    assert "verified: exact" in done.stderr


def test_a_kept_graph_with_textures_replays_as_a_whole(tmp_path: Path) -> None:
    said = record("", tmp_path, "--graph", program=PROGRAM.with_name("graph_textures"))
    (graph,) = tmp_path.glob("*.graph")
    assert "a recording does not hold" not in said
    done = support.mneme("replay", tmp_path, "--graph", graph.stem, "--device", support.DEVICE)
    assert done.returncode == 0, done.stderr
    assert "of 3 kernels: verified: exact" in done.stderr


def check_conditions(said: str, directory: Path, pipeline: str) -> None:
    """All is recorded but the kernel that sets a condition, which is named."""
    assert "a graph was launched whose kernels are not recorded" not in said
    assert "in the body of a conditional node" not in said
    name = "choose(unsigned long long, int const*, int)"
    assert f"kernel '{name}': its launches in a graph with conditional nodes" in said
    recorded = {(graph_cases.STEP, 8, 128): 6, ("inside", 8, 128): 1, ("deeper", 8, 128): 1}
    assert graph_cases.recorded_launches(directory) == Counter(recorded), said
    counts = {graph_cases.STEP: 11, "inside": 1, "deeper": 1}
    assert graph_cases.launch_counts(directory) == counts, said
    replayed = support.replay_all(directory, pipeline, device=support.DEVICE)
    assert {one.result_class for one in replayed} == {"exact"}


CONDITIONS = PROGRAM.with_name("graph_conditions")


@support.only_on_gpus("the CPU device has no conditional nodes")
def test_kernels_beside_conditional_nodes_are_recorded(tmp_path: Path) -> None:
    said = record("", tmp_path, *graph_cases.EVERYTHING, program=CONDITIONS)
    check_conditions(said, tmp_path, "default<O2>")


@support.only_on_gpus("nvcc leaves code for GPUs only")
@support.needs_nvcc
def test_kernels_of_nvcc_beside_conditional_nodes_are_recorded(tmp_path: Path) -> None:
    program = tmp_path / "program"
    apps = SOURCES / "tests" / "apps" / "gpu_record"
    support.compile_by_nvcc(apps / "graph_conditions.cu", program)
    said = record("", tmp_path / "db", *graph_cases.EVERYTHING, program=program)
    check_conditions(said, tmp_path / "db", "")  # which has no IR


@support.only_on_gpus("the CPU device has no conditional nodes")
def test_graphs_with_conditional_nodes_are_not_kept_as_sequences(tmp_path: Path) -> None:
    said = record("", tmp_path, "--graph", program=CONDITIONS)
    assert "a graph is not kept as a sequence: it has conditional nodes" in said
    assert not list(tmp_path.glob("*.graph"))


@support.only_on_gpus("nvcc leaves code for GPUs only")
@support.needs_nvcc
def test_memory_of_graphs_in_a_program_of_nvcc(tmp_path: Path) -> None:
    program = tmp_path / "program"
    apps = SOURCES / "tests" / "apps" / "gpu_record"
    support.compile_by_nvcc(apps / "graph_allocations.cu", program)
    said = record("", tmp_path / "db", *graph_cases.EVERYTHING, program=program)
    assert "allocates or frees memory" not in said
    counts = graph_cases.launch_counts(tmp_path / "db")
    assert set(counts) == {graph_cases.FILL, graph_cases.ADD}, said
    replayed = support.replay_all(tmp_path / "db", "", device=support.DEVICE)  # which has no IR
    assert {one.result_class for one in replayed} == {"exact"}


@pytest.mark.parametrize("name", FILTERS)
def test_filters_and_limits_hold_in_graphs(name: str, tmp_path: Path) -> None:
    case, options, launches = graph_cases.FILTERS[name]
    said = record(case, tmp_path, *options)
    assert graph_cases.recorded_launches(tmp_path) == Counter(launches), said


@pytest.mark.parametrize("case", on_gpus(("", *graph_cases.ALLOCATIONS)))
def test_kernels_in_graphs_with_memory_of_their_own_are_recorded(case: str, tmp_path: Path) -> None:
    program = ALLOCATIONS if case else PROGRAM
    launches, counts = graph_cases.ALLOCATIONS[case] if case else graph_cases.MEMORY
    said = record(case or "memory", tmp_path, *graph_cases.EVERYTHING, program=program)
    assert graph_cases.recorded_launches(tmp_path) == Counter(launches), said
    assert graph_cases.launch_counts(tmp_path) == counts, said
    replayed = support.replay_all(tmp_path, "default<O3>", device=support.DEVICE)
    assert {one.result_class for one in replayed} == {"exact"}


def test_a_kernel_in_a_graph_that_waits_for_the_program_is_given_up(tmp_path: Path) -> None:
    said = record("waiting", tmp_path, *graph_cases.PATIENCE)
    assert graph_cases.GIVEN_UP in said
    assert set(graph_cases.BEFORE_THE_WAIT) <= set(graph_cases.recorded_launches(tmp_path))
