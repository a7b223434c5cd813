"""Times of kernels in programs on AMD GPUs: through a stand-in for rocprofiler-sdk."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest
from conftest import Finished, mneme, optimize, run_command
from test_hip import build, hip  # noqa: F401 - skips where there is no HIP
from test_hip_stand_in import STAND_IN, stand_in  # noqa: F401 - skips without it
from tuned_runs import TRACE, counts, kernels_of, write_tuned

from mneme.optimize.profile import read_profile
from mneme.programs.guest import profile_environment

pytestmark = [pytest.mark.hip, pytest.mark.compile]

PROGRAM = r"""
#include <hip/hip_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <cmath>
__global__ void heavy(float* data, int n, int rounds) {
  __shared__ float tile[64];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int round = 0; round < rounds; ++round) sum += data[i % n] * 0.5f + round;
  tile[threadIdx.x] = sum;
  if (i < n) data[i] = tile[threadIdx.x];
}
__global__ void light(float* data, int n) {
  extern __shared__ float more[];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  more[threadIdx.x] = 1;
  if (i < n) data[i] = data[i] + more[threadIdx.x];
}
int main(int count, char** words) {
  int times = count > 1 ? std::atoi(words[1]) : 3, rounds = count > 2 ? std::atoi(words[2]) : 400;
  float* data = nullptr;
  if (hipMalloc(&data, 4096 * sizeof(float)) != hipSuccess) return 1;
  hipMemset(data, 0, 4096 * sizeof(float));
  for (int time = 0; time < times; ++time) {
    heavy<<<64, 64>>>(data, 4096, rounds);
    light<<<dim3(32, 2), dim3(32, 2), 512>>>(data, 4096);
  }
  float first = 0;
  hipMemcpy(&first, data, 4, hipMemcpyDeviceToHost);
  hipFree(data);
  std::printf("%g %d\n", first, hipGetLastError());
}
"""
GPU = {"LD_LIBRARY_PATH": str(STAND_IN), "MNEME_HIP_LIBRARY": str(STAND_IN / "libamdhip64.so.6")}


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two kernels, one of which takes nearly all the time."""
    folder = tmp_path_factory.mktemp("profile")
    (folder / "program.hip").write_text(PROGRAM)
    build("-O0", folder / "program.hip", "-o", folder / "program", "-lamdhip64")
    return folder / "program"


def profiled(program: Path, folder: Path, *arguments: str, **environment: str) -> Finished:
    """Run a program as `mneme optimize` does to measure its kernels."""
    folder.mkdir()
    base = {**os.environ, **GPU, **environment}
    guest = profile_environment({**base, "MNEME_DEVICE": "hip:0"}, folder)
    return run_command(program, *arguments, **guest)


@pytest.mark.parametrize("version", ["0.4", "0.5", "0.6", "1.0", "1.2", "longer"])
def test_every_launch_is_measured_with_its_dimensions(
    version: str, program: Path, tmp_path: Path
) -> None:
    plain = run_command(program, **GPU)
    done = profiled(program, tmp_path / "p", MNEME_STAND_IN_ROCPROFILER=version)
    assert (done.stdout, done.returncode, done.stderr) == (plain.stdout, 0, "")
    (file,) = (tmp_path / "p").glob("*.json")
    assert json.loads(file.read_text())["timer"] == "rocprofiler"
    profile = read_profile(tmp_path / "p")
    # By name: on a busy machine the short one may wait longer than the other works.
    kernels = {one.name: one for one in profile.by_time()}
    assert kernels.keys() == {"_Z5heavyPfii", "_Z5lightPfi"}
    heavy, light = kernels["_Z5heavyPfii"], kernels["_Z5lightPfi"]
    assert (heavy.launches, light.launches) == (3, 3)
    assert list(heavy.shapes) == [((64, 1, 1), (64, 1, 1), 0)]
    assert list(light.shapes) == [((32, 2, 1), (32, 2, 1), 512)]
    assert min(heavy.total_ns, light.total_ns) > 0


def test_tuned_launches_are_measured_under_the_kernels_name(program: Path, tmp_path: Path) -> None:
    tuned = write_tuned(tmp_path / "tuned.json", kernels_of([program]))
    done = profiled(
        program,
        tmp_path / "p",
        PROTEUS_TUNED_KERNELS=str(tuned),
        PROTEUS_CACHE_DIR=str(tmp_path / "cache"),
        PROTEUS_TRACE_OUTPUT=TRACE,
        MNEME_CARRY_IR="1",
    )
    assert done.stdout == run_command(program, **GPU).stdout, done.stderr
    assert (counts(done.stderr).tuned, counts(done.stderr).failed) == (6, 0)
    launches = {one.name: one.launches for one in read_profile(tmp_path / "p").by_time()}
    assert launches == {"_Z5heavyPfii": 3, "_Z5lightPfi": 3}


def test_records_are_taken_while_the_program_runs(program: Path, tmp_path: Path) -> None:
    done = profiled(program, tmp_path / "p", "8000", "1")
    assert done.returncode == 0, done.stderr
    assert {one.launches for one in read_profile(tmp_path / "p").by_time()} == {8000}


@pytest.mark.parametrize(
    ("played", "said"),
    [
        ("locked", "another profiler has rocprofiler-sdk already"),
        ("other", "this rocprofiler-sdk has records of another form (192 bytes)"),
    ],
)
def test_what_cannot_be_measured_is_said_and_the_program_runs(
    played: str, said: str, program: Path, tmp_path: Path
) -> None:
    done = profiled(program, tmp_path / "p", MNEME_STAND_IN_ROCPROFILER=played)
    assert (done.returncode, done.stdout) == (0, run_command(program, **GPU).stdout)
    assert done.stderr.count("kernels are not measured") == 1
    assert said in done.stderr
    assert read_profile(tmp_path / "p").kernels == {}


def test_a_rocm_without_the_profiler_is_said(program: Path, tmp_path: Path) -> None:
    bare = tmp_path / "lib" / "stand_in"
    bare.mkdir(parents=True)
    shutil.copy(STAND_IN / "libamdhip64.so.5", bare)
    (bare.parent / "libmneme_hiprt.so").symlink_to(STAND_IN.parent / "libmneme_hiprt.so")
    done = profiled(program, tmp_path / "p", LD_LIBRARY_PATH=str(bare))
    assert done.returncode == 0
    assert (
        f"there is no librocprofiler-sdk.so (ROCm 6.2 or newer) beside HIP in {bare}" in done.stderr
    )
    assert read_profile(tmp_path / "p").kernels == {}


def test_programs_without_hip_are_left_alone(tmp_path: Path) -> None:
    done = profiled(Path("/bin/true"), tmp_path / "p")
    assert (done.returncode, done.stderr) == (0, "")


def test_optimize_finds_and_measures_kernels_there(program: Path, tmp_path: Path) -> None:
    line = ("--seed", "1", "--device", "hip:0", "-o", tmp_path / "o")
    done = optimize(*line, "--", program, MNEME_CARRY_IR="1", **GPU)
    assert done.returncode in {0, 1}, done.stderr
    result = json.loads((tmp_path / "o" / "optimize.json").read_text())
    assert result["status"] == "completed", done.stderr
    (kernel,) = [one for one in result["kernels"] if one["demangled_name"].startswith("heavy")]
    assert (kernel["launches"], kernel["share"] > 0.5, kernel["built_ns"] > 0) == (3, True, True)
    # Where something faster is found, times in the program decide, whatever they say.
    assert kernel["production"] is not None or not kernel["is_kept"]


def test_deploy_measures_kernels_there(program: Path, tmp_path: Path) -> None:
    where = {"MNEME_CARRY_IR": "1", **GPU}
    record = ("record", "-rdb", tmp_path / "db", "--kernels", "heavy", "-mr", "1")
    done = mneme(*record, "--device", "hip:0", "--", program, **where)
    assert done.returncode == 0, done.stderr
    tuning = ("tune", "-rdb", tmp_path / "db", "--all", "--trials", "6", "--seed", "1")
    results = ("--results-dir", tmp_path / "results", "--device", "hip:0")
    done = mneme(*tuning, *results, "--baseline", "program", timeout=300, **where)
    assert done.returncode == 0, done.stderr
    line = ("deploy", tmp_path / "results", "-o", tmp_path / "tuned.json")
    measure = ("--measure", "--pairs", "3", "--device", "hip:0", "--json", "--", program)
    done = mneme(*line, *measure, timeout=300, **where)
    assert done.returncode in {0, 1}, done.stderr
    assert "not measured" not in done.stderr
