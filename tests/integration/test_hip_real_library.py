"""AMD's own library, on a machine without a GPU: programs behave beside mneme as without it."""

from __future__ import annotations

import ctypes
from pathlib import Path

import pytest
from conftest import BUILD, run_command
from test_hip import build, hip  # noqa: F401 - skips where there is no HIP

pytestmark = [pytest.mark.hip, pytest.mark.compile]

LIBRARY = "libamdhip64.so.5"
PROGRAM = r"""
#include <hip/hip_runtime.h>
#include <cstdio>
__global__ void scale(float* data, float by, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] *= by;
}
int main() {
  int devices = -1;
  std::printf("count %d\n", hipGetDeviceCount(&devices));
  float* data = nullptr;
  std::printf("malloc %d\n", hipMalloc(&data, 1024));
  scale<<<4, 64>>>(data, 2, 256);
  std::printf("launch %d\n", hipGetLastError());
  std::printf("synchronize %d\n", hipDeviceSynchronize());
  std::printf("free %d\n", hipFree(data));
  return 3;
}
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program that says what every call returned."""
    if Path("/dev/kfd").exists():
        pytest.skip("this machine may have an AMD GPU")
    try:
        ctypes.CDLL(LIBRARY)
    except OSError:
        pytest.skip(f"there is no {LIBRARY} here")
    folder = tmp_path_factory.mktemp("real")
    (folder / "program.hip").write_text(PROGRAM)
    build(folder / "program.hip", "-o", folder / "program", "-lamdhip64")
    return folder / "program"


@pytest.mark.parametrize("preloaded", ["librecord.so", "libmneme_jit.so"])
def test_a_program_behaves_as_without_mneme(program: Path, preloaded: str, tmp_path: Path) -> None:
    plain = run_command(program)
    assert plain.returncode == 3
    assert "malloc 0" not in plain.stdout
    beside = run_command(
        program,
        LD_PRELOAD=str(BUILD / "lib" / preloaded),
        MNEME_DEVICE="hip:0",
        MNEME_DATA_DIR=str(tmp_path),
        MNEME_HIP_LIBRARY=LIBRARY,
    )
    assert (beside.stdout, beside.returncode) == (plain.stdout, 3), beside.stderr
    assert list(tmp_path.glob("*.json")) == []


def test_the_recorder_stands_between_the_program_and_the_library(program: Path) -> None:
    done = run_command(
        program,
        LD_DEBUG="bindings",
        LD_PRELOAD=str(BUILD / "lib" / "librecord.so"),
        MNEME_DEVICE="hip:0",
        MNEME_HIP_LIBRARY=LIBRARY,
    )
    bindings = [line for line in done.stderr.splitlines() if "binding file" in line]
    for name in ("hipMalloc", "hipFree", "hipLaunchKernel"):
        (of_program,) = [
            one for one in bindings if f"file {program} " in one and f"`{name}'" in one
        ]
        assert "librecord.so" in of_program
    of_recorder = [
        one for one in bindings if "librecord.so [0] to " in one and "`hipMalloc'" in one
    ]
    assert of_recorder
    assert all(LIBRARY in one for one in of_recorder)
