"""Two processes share device memory while both are recorded, or one of them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from gpu import support
from gpu.support import BUILD, DEVICE, launches
from mneme.devices import list_devices

PROGRAM = BUILD / "tests" / "apps" / "gpu_record" / "shared_memory"
UNRECORDED = ("env", "-u", "LD_PRELOAD")


def recorder(directory: Path) -> tuple[str, ...]:
    return (
        sys.executable,
        "-m",
        "mneme",
        "record",
        "-rdb",
        str(directory),
        "--device",
        DEVICE,
        "--",
    )


def run_both(directory: Path, recorded: str, devices: str) -> Any:
    first = recorder(directory) if recorded in ("both", "first") else ()
    # The second process inherits the recorder of the first.
    second = {"both": (), "first": UNRECORDED, "second": recorder(directory), "none": ()}[recorded]
    return subprocess.run(
        [*first, str(PROGRAM), *second],
        env={**os.environ, "CUDA_VISIBLE_DEVICES": devices},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def has_second_device() -> bool:
    return any(one.is_available and one.id.endswith(":1") for one in list_devices())


@pytest.mark.skipif(not support.IS_GPU, reason="the CPU device shares no memory between processes")
@pytest.mark.parametrize("devices", ["0", "0,1"])
@pytest.mark.parametrize("recorded", ["both", "first", "second"])
def test_processes_share_memory_as_they_do_alone(
    recorded: str, devices: str, tmp_path: Path
) -> None:
    if devices != "0" and not has_second_device():
        pytest.skip("there is one GPU")
    alone = run_both(tmp_path, "none", devices)
    assert alone.returncode == 0, alone.stderr
    assert "shared:" in alone.stdout
    done = run_both(tmp_path, recorded, devices)
    assert done.returncode == 0, done.stderr
    assert done.stdout == alone.stdout
    assert "may share device memory with other processes" in done.stderr
    found = list(launches(tmp_path))
    assert found, done.stderr
    if devices != "0":
        return  # a recording of the last device is replayed on another one
    for path, record_id in found:
        replayed = support.replay(path, record_id, "default<O3>")
        assert replayed.returncode == 0, f"{path.name} {record_id}: {replayed.stderr}"
