"""Small programs on the GPU: recording changes nothing, and what was recorded replays."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

import pytest

from gpu import support
from gpu.support import BUILD, launches

APPS = BUILD / "tests" / "apps"
FAULTS = ("assert", "trap", "address")
# Replays cannot be exact where results depend on the order of threads.
TOLERANCE = ("--tolerance", "rel:1e-4:f32")

NVCC_PROGRAM = """
#include <cstdio>
__global__ void twice(int* values) { values[threadIdx.x] *= 2; }
int main() {
  int host[32], *device = nullptr;
  for (int i = 0; i < 32; ++i) host[i] = i;
  cudaMalloc(&device, sizeof host);
  cudaMemcpy(device, host, sizeof host, cudaMemcpyHostToDevice);
  twice<<<1, 32>>>(device);
  cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost);
  std::printf("%d %s\\n", host[31], cudaGetErrorString(cudaGetLastError()));
  return host[31] == 62 ? 0 : 1;
}
"""


# These want all of the device's memory: scripts/gpu-node/check runs them once more by themselves.
WHOLE_MEMORY = ("exhaust", "free_memory")
# One fails on purpose; two have kernels that wait for the thread that launches them, which takes half a minute; memory
# of the last is recorded on some devices only (test_pageable_memory.py).
NOT_RECORDED = ("faults", "host_waits", "waiting", "pageable")
WAYS = (
    "copy",
    "fill",
    "managed",
    "pinned",
    "other-stream",
    "cooperative",
    "freed",
    "by-handle",
    "leave",
)


def programs(folder: str) -> list[Path]:
    found = sorted(path for path in (APPS / folder).glob("*") if path.is_file())
    return [
        path
        for path in found
        if ".so" not in path.name
        and path.name not in NOT_RECORDED
        and path.read_bytes()[:4] == b"\x7fELF"
    ]


def named(program: Path) -> str:
    return program.name


def check_recording_changes_nothing(program: Path, directory: Path) -> str:
    plain = support.run(program)
    recorded = support.record(directory, program)
    assert recorded.returncode == plain.returncode, plain.stderr + recorded.stderr
    assert sorted(recorded.stdout.splitlines()) == sorted(plain.stdout.splitlines())
    return str(recorded.stderr)


@pytest.mark.parametrize("program", programs("api"), ids=named)
def test_recording_changes_nothing(program: Path, tmp_path: Path) -> None:
    if support.IS_GPU and program.name == "in_step":
        pytest.skip("GPUs promise nothing of lanes in step: it does not print the same twice")
    check_recording_changes_nothing(program, tmp_path)


@pytest.mark.parametrize("kind", FAULTS)
def test_a_program_whose_kernel_fails_ends_on_its_own(kind: str, tmp_path: Path) -> None:
    # Recording waits for the kernel, so that its failure is reported earlier than without.
    done = support.record(tmp_path, APPS / "api" / "faults", kind)
    assert done.returncode in (0, 1, 2, 3, 4), done.stderr
    assert "was not recorded" in done.stderr


@pytest.mark.parametrize("failure", ["trap", "address"])
def test_what_a_kernel_prints_before_it_fails_comes_out(failure: str, tmp_path: Path) -> None:
    program = APPS / "gpu_record" / "prints"
    plain = support.run(program, failure)
    assert plain.stdout.count("the last line") == 2
    recorded = support.record(tmp_path, program, failure)
    assert (recorded.stdout, recorded.returncode) == (plain.stdout, plain.returncode)
    assert "was not recorded: it failed" in recorded.stderr


@pytest.mark.parametrize("program", programs("gpu_record"), ids=named)
def test_recorded_launches_replay(program: Path, tmp_path: Path) -> None:
    if program.name in WHOLE_MEMORY and "PYTEST_XDIST_WORKER" in os.environ:
        pytest.skip("other workers take memory of this device meanwhile")
    said = check_recording_changes_nothing(program, tmp_path)
    for one in support.replay_all(tmp_path, "default<O3>", device=support.DEVICE):
        if not one.is_verified:
            done = support.replay(one.record, one.launch, *TOLERANCE, "default<O3>")
            assert done.returncode == 0, f"{one}: {done.stderr}\n{said}"


def record_with_patience(directory: Path, program: Path, *arguments: str) -> str:
    plain = support.run(program, *arguments)
    options = ("--kernel-patience", "1", "--kernels", "^(?!.*Unseen)")
    place = ("record", "-rdb", directory, "-mr", "20", "--device", support.DEVICE)
    done = support.mneme(*place, *options, "--", program, *arguments)
    assert plain.returncode == 0, plain.stdout
    assert (done.returncode, done.stdout) == (plain.returncode, plain.stdout), done.stderr
    replayed = support.replay_all(directory, "default<O3>", device=support.DEVICE)
    assert [one for one in replayed if not one.is_verified] == []
    return str(done.stderr)


@pytest.mark.parametrize("way", WAYS)
def test_a_kernel_that_waits_for_the_program_is_given_up(way: str, tmp_path: Path) -> None:
    said = record_with_patience(tmp_path, APPS / "gpu_record" / "waiting", way)
    # A second, or ten times the longest kernel, which is longer on a busy machine.
    given_up = (
        r"'waitFor\(int volatile\*, int, int\*\)' was not recorded: after \d+ s it had not ended"
    )
    assert re.search(given_up, said), said
    assert len(list(launches(tmp_path))) == (1 if way == "leave" else 2), said


def test_a_launch_behind_a_kernel_that_waits_is_made_unrecorded(tmp_path: Path) -> None:
    said = record_with_patience(tmp_path, APPS / "gpu_record" / "waiting", "earlier")
    assert "earlier work on the device had not ended" in said
    # It may be known a moment too late that the device is idle again.
    assert len(list(launches(tmp_path))) in (1, 2), said


@pytest.mark.skipif(
    support.IS_GPU, reason="it allocates while a kernel waits: on a GPU that waits, too"
)
def test_kernels_that_wait_for_the_host_end_as_they_do_alone(tmp_path: Path) -> None:
    said = record_with_patience(tmp_path, APPS / "api" / "host_waits")
    assert "it had not ended" in said


def test_code_that_a_program_loads_by_the_driver_is_recorded(tmp_path: Path) -> None:
    said = check_recording_changes_nothing(APPS / "gpu_record" / "loaded_code", tmp_path)
    recorded = launches(tmp_path)
    assert recorded, said
    for path, record_id in recorded:
        done = support.replay(path, record_id, "default<O3>")
        assert done.returncode == 0, f"{path.name} {record_id}: {done.stderr}"


@pytest.mark.parametrize("runtime", ["static", "shared"])
def test_a_plain_nvcc_program_is_recorded(only_gpu: None, runtime: str, tmp_path: Path) -> None:
    compiler = shutil.which("nvcc")
    if compiler is None:
        pytest.skip("nvcc is not on PATH")
    source = tmp_path / "twice.cu"
    source.write_text(NVCC_PROGRAM)
    program = tmp_path / "twice"
    built = support.run_command(
        compiler, "-arch=native", f"-cudart={runtime}", source, "-o", program
    )
    assert built.returncode == 0, built.stderr
    plain = support.run_command(program)
    if plain.returncode == 127:
        pytest.skip(f"the program does not start: {plain.stderr.strip()}")
    done = support.record(tmp_path / "db", program)
    assert (done.stdout, done.returncode) == ("62 no error\n", 0), done.stderr
    assert len(support.records(tmp_path / "db")) == 1
    assert "recorded 1 instance of 1 kernel (1 launch)" in done.stderr
