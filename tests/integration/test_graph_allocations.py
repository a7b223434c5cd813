"""Kernels in graphs whose nodes allocate memory are recorded, and the program sees the graphs that it has made."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from conftest import ROOT, mneme, replay_all
from graph_cases import (
    ADD,
    ALLOCATIONS,
    EVERYTHING,
    FILL,
    MEMORY,
    MEMORY_IS_NAMED,
    launch_counts,
    recorded_launches,
)
from test_reachable_memory import CUDA, compile_program

PROGRAMS = ROOT / "tests" / "apps" / "gpu_record"


def compiled(directory: Path, name: str, *options: str) -> Path:
    path = directory / name
    compile_program(path, *CUDA, *options, PROGRAMS / f"{name}.cu", "-lcudart")
    return path


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compiled(tmp_path_factory.mktemp("allocations"), "graph_allocations")


def record(program: Path, case: str, directory: Path, *options: str, graphs: str = "parts") -> str:
    plain = mneme("run", "--device", "cpu", "--", program, case)
    place: list[str | Path] = ["record", "-rdb", directory, "--device", "cpu", *options]
    done = mneme(*place, "--", program, case, MNEME_GRAPHS=graphs)
    assert (done.returncode, done.stdout) == (0, plain.stdout), done.stderr
    assert plain.stdout.endswith(f"{program.name}: ok\n")
    return done.stderr


@pytest.mark.parametrize("case", ALLOCATIONS)
def test_kernels_are_recorded(case: str, program: Path, tmp_path: Path) -> None:
    launches, counts = ALLOCATIONS[case]
    said = record(program, case, tmp_path, *EVERYTHING)
    assert recorded_launches(tmp_path) == Counter(launches), said
    assert launch_counts(tmp_path) == counts
    assert "not recorded" not in said
    assert {one.result_class for one in replay_all(tmp_path)} == {"exact"}


def test_memory_among_other_nodes(tmp_path: Path) -> None:
    launches, counts = MEMORY
    said = record(compiled(tmp_path, "graph_kernels"), "memory", tmp_path / "db", *EVERYTHING)
    assert recorded_launches(tmp_path / "db") == Counter(launches), said
    assert launch_counts(tmp_path / "db") == counts


def test_a_graph_is_kept_as_a_sequence(program: Path, tmp_path: Path) -> None:
    assert "kept 1 graph of 3 kernels" in record(program, "explicit", tmp_path, "--graph")
    (graph,) = tmp_path.glob("*.graph")
    done = mneme("replay", tmp_path, "--graph", graph.stem, "--device", "cpu")
    assert "verified: exact" in done.stderr


def test_graphs_that_are_left_whole_have_the_vendors_memory(program: Path, tmp_path: Path) -> None:
    said = record(program, "", tmp_path, graphs="whole")
    assert "a graph was launched whose kernels are not recorded: MNEME_GRAPHS" in said
    assert {kernel for kernel, _, _ in recorded_launches(tmp_path)} == {ADD}


def test_a_program_that_asks_for_the_memory_of_graphs_is_told_the_vendors(tmp_path: Path) -> None:
    program = compiled(tmp_path, "graph_allocations", "-DASKS_FOR_MEMORY")
    said = record(program, "captured", tmp_path / "db")
    assert MEMORY_IS_NAMED in said
    assert FILL not in launch_counts(tmp_path / "db")
