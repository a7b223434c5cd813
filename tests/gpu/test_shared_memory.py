"""Two processes share device memory while both are recorded, or one of them."""

from __future__ import annotations

import os
import shutil
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


SHARES_IF_ASKED = """
#include <cstdio>
__global__ void add(int* value) { *value += 41; }
int main(int count, char**) {
  int* value; int out = 0;
  cudaMalloc(&value, 4);
  cudaMemset(value, 0, 4);
#ifdef SHARES
  cudaIpcMemHandle_t handle;
  if (count > 5) cudaIpcGetMemHandle(&handle, value);
#endif
  add<<<1, 1>>>(value);
  cudaMemcpy(&out, value, 4, cudaMemcpyDeviceToHost);
  std::printf("%d\\n", out + (count > 5));
}
"""


@pytest.mark.skipif(not (support.IS_GPU and shutil.which("nvcc")), reason="needs a GPU and nvcc")
@pytest.mark.parametrize("shares", [False, True])
def test_the_static_runtime_alone_shares_nothing(shares: bool, tmp_path: Path) -> None:
    """It names the functions that share memory in every program."""
    source, program = tmp_path / "program.cu", tmp_path / "program"
    source.write_text("#define SHARES\n" * shares + SHARES_IF_ASKED)
    support.compile_by_nvcc(source, program)
    done = support.record(tmp_path / "db", program)
    assert (done.returncode, done.stdout) == (0, "41\n"), done.stderr
    assert "recorded 1 instance of 1 kernel" in done.stderr
    assert ("may share device memory" in done.stderr) == shares
    for record, record_id in launches(tmp_path / "db"):
        assert support.replay(record, record_id).result["result_class"] == "exact"
