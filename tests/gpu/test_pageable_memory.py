"""Kernels that use pageable memory of the host, on GPUs that can: recorded with it, and replayed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gpu import support
from gpu.support import BUILD

KERNELS = {"small", "large", "stack", "variables", "mapped", "linked", "functor", "captured"}

pytestmark = [support.only_on_gpus("the CPU device has its own test")]


@pytest.fixture(scope="module", params=["nvcc", "mneme"])
def program(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program, with the static runtime and no IR, or with the shared runtime and IR."""
    return support.program_of(request.param, "pageable", tmp_path_factory)


def test_launches_with_it_replay_exactly(program: Path, tmp_path: Path) -> None:
    if support.run(program, "asked").stdout != "1\n":
        pytest.skip("kernels of this GPU cannot use pageable memory of the host")
    alone = support.run(program)
    assert alone.returncode == 0, alone.stdout + alone.stderr
    done = support.record(tmp_path, program)
    assert (done.returncode, done.stdout) == (0, alone.stdout), done.stderr
    assert "ordinary memory of the host" not in done.stderr
    found = set()
    for path, record_id in support.launches(tmp_path):
        mangled = json.loads(path.read_text())["KernelName"]
        name = next(kernel for kernel in KERNELS if kernel in mangled)
        result = support.replay(path, record_id).result
        assert result["result_class"] == "exact", (name, result["mismatches"])
        found.add(name)
    assert found == KERNELS


def test_a_gpu_that_cannot_use_it_has_it_named(program: Path, tmp_path: Path) -> None:
    if support.run(program, "asked").stdout == "1\n":
        pytest.skip("kernels of this GPU can use pageable memory of the host")
    alone = support.run(program)
    done = support.record(tmp_path, program)
    assert (done.returncode, done.stdout) == (alone.returncode, alone.stdout), done.stderr
    assert alone.returncode == 1  # the first launch fails
    if program.is_relative_to(BUILD):  # of code without IR nobody knows what its arguments are
        assert "'small(double*, int)' was given ordinary memory of the host" in done.stderr
