"""A program with tuned kernels is told of its graphs what it has launched, and runs what it sets."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT, mneme
from test_reachable_memory import CUDA, HIP, compile_hip, compile_program
from tuned_runs import TRACE, counts, kernels_of, warnings

SOURCE = ROOT / "tests" / "apps" / "tuned" / "graph_edits.cu"
GRID, BLOCK = 64, 256
SMALLER = f"launched <<<{2 * GRID}x1x1, {BLOCK // 2}x1x1>>>"


def dims(grid: int, block: int) -> dict[str, Any]:
    return {key: {"x": x, "y": 1, "z": 1} for key, x in (("GridDim", grid), ("BlockDim", block))}


def with_other_dimensions(program: Path, path: Path) -> Path:
    """A file that knows the kernel faster with other dimensions where its mode is 0."""
    (kernel,) = kernels_of([program])
    arguments = [
        {"Index": index, "Bytes": value.to_bytes(4, "little").hex()}
        for index, value in ((2, 0), (3, GRID * BLOCK))
    ]
    variant = {
        "SpecializeArgs": True,
        "Match": {**dims(GRID, BLOCK), "SharedMem": 0, "Args": arguments},
        "Launch": {"Rule": "exact", **dims(2 * GRID, BLOCK // 2)},
    }
    path.write_text(json.dumps({kernel: {"Mneme": {"Version": 1, "Variants": [variant]}}}))
    return path


def check(program: Path, tmp_path: Path) -> None:
    plain = mneme("run", "--device", "cpu", "--", program)
    assert (plain.returncode, plain.stdout.splitlines()[-1]) == (0, "graph_edits: ok")
    tuned = with_other_dimensions(program, tmp_path / "tuned.json")
    done = mneme(
        "run", "--device", "cpu", "--", program,
        PROTEUS_TUNED_KERNELS=str(tuned),
        PROTEUS_CACHE_DIR=str(tmp_path / "cache"),
        PROTEUS_TRACE_OUTPUT=TRACE,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (0, plain.stdout), done.stderr
    assert warnings(done.stderr) == []
    # One plain launch; three graphs that are made and one that is updated, each with a kernel.
    found = counts(done.stderr)
    assert (found.tuned, found.as_built, found.failed) == (5, 0, 0), done.stderr
    assert SMALLER in done.stderr


def test_a_graph_is_what_the_program_launched(tmp_path: Path) -> None:
    compile_program(tmp_path / "app", *CUDA, SOURCE, "-lcudart")
    check(tmp_path / "app", tmp_path)


@pytest.mark.hip
def test_a_hip_graph_is_what_the_program_launched(tmp_path: Path) -> None:
    compile_hip(*HIP, SOURCE, "-o", tmp_path / "app", "-lamdhip64")
    check(tmp_path / "app", tmp_path)
