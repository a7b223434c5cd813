"""Contexts that a program makes itself, and green contexts, by the driver's API."""

from __future__ import annotations

import ctypes
import re
import sys
from pathlib import Path

import pytest

from gpu import support
from gpu.support import mneme, run_command

PROGRAM = Path(__file__).resolve().with_name("context_program.py")
# By mode: how many launches there are, each unlike the others.
LAUNCHES = {"one": 2, "two": 4, "again": 4, "current": 4, "mapped": 3, "green": 4}
WHERE_PLACED = "memory of contexts that the program made itself is recorded where the vendor placed"

pytestmark = pytest.mark.skipif(not support.IS_GPU, reason="the program's code is PTX")


def has_green_contexts() -> bool:
    """Return whether the driver has green contexts (CUDA 12.4)."""
    return hasattr(ctypes.CDLL("libcuda.so.1"), "cuGreenCtxStreamCreate")


@pytest.mark.parametrize("mode", sorted(LAUNCHES))
def test_launches_are_recorded_and_replay(mode: str, tmp_path: Path) -> None:
    if mode == "green" and not has_green_contexts():
        pytest.skip("this driver has no green contexts")
    command = (sys.executable, PROGRAM, mode)
    alone = run_command(*command)
    assert alone.returncode == 0, alone.stdout + alone.stderr
    options = ("-rdb", tmp_path, "-mr", 9, "--device", support.DEVICE)
    done = mneme("record", *options, "--", *command)
    assert (done.returncode, done.stdout) == (0, alone.stdout), done.stderr
    assert f"({LAUNCHES[mode]} launches)" in done.stderr
    assert "not recorded" not in done.stderr
    assert (WHERE_PLACED in done.stderr) == (mode != "green")
    launches = list(support.launches(tmp_path))
    assert len(launches) == LAUNCHES[mode], done.stderr
    for path, record_id in launches:
        again = support.replay(path, record_id)
        assert again.result["result_class"] == "exact", again.stdout + again.stderr


def test_the_part_of_the_device_is_named(tmp_path: Path) -> None:
    if not has_green_contexts():
        pytest.skip("this driver has no green contexts")
    options = ("-rdb", tmp_path, "-mr", 9, "--device", support.DEVICE)
    done = mneme("record", *options, "--", sys.executable, PROGRAM, "green")
    assert done.returncode == 0, done.stderr
    (record,) = support.records(tmp_path)
    parts = re.findall(r"ran on (\d+) of (\d+) multiprocessors", mneme("show", record).stdout)
    assert len(parts) == 2  # in a stream of the part, and where it is current
    for used, of in parts:
        assert 0 < int(used) < int(of)
    replayed = [
        support.replay(path, record_id).result["multiprocessors"]
        for path, record_id in support.launches(tmp_path)
    ]
    assert sorted(replayed) == sorted([*(int(used) for used, _ in parts)] + [int(of)] * 2)


def test_what_is_mixed_with_the_runtime(tmp_path: Path) -> None:
    """A program of nvcc's with its runtime inside, in another context than the runtime's."""
    program = tmp_path / "device_state"
    if run_command("which", "nvcc").returncode != 0:
        pytest.skip("nvcc is not on PATH")
    support.compile_by_nvcc(Path(__file__).with_name("device_state.cu"), program)
    alone = run_command(program, "mixed")
    assert alone.returncode == 0, alone.stdout + alone.stderr
    done = support.record(tmp_path / "db", program, "mixed")
    assert (done.returncode, done.stdout) == (0, alone.stdout), done.stderr
    launches = list(support.launches(tmp_path / "db"))
    assert len(launches) == 3, done.stderr
    for path, record_id in launches:
        again = support.replay(path, record_id)
        assert again.result["result_class"] == "exact", again.stdout + again.stderr
