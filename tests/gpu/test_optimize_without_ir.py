"""`mneme optimize` with a program of nvcc, whose kernels have no IR."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from gpu import support
from gpu.support import mneme, run_command

NVCC = shutil.which("nvcc")
# Blocks of one thread leave 31 of 32 lanes idle: other dimensions are several times as fast.
PROGRAM = """
#include <cstdio>
__global__ void scale(float* out, const float* in, int count) {
  const int at = blockIdx.x * blockDim.x + threadIdx.x;
  if (at >= count)
    return;
  float value = in[at];
  for (int round = 0; round < 200; ++round)
    value = 0.5f * value + 1;
  out[at] = value;
}
int main() {
  const int count = 1 << 18;
  float *in = nullptr, *out = nullptr, *values = new float[count];
  for (int i = 0; i < count; ++i)
    values[i] = 1.0f * i;
  cudaMalloc(&in, count * sizeof(float));
  cudaMalloc(&out, count * sizeof(float));
  cudaMemcpy(in, values, count * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemset(out, 0, count * sizeof(float));
  for (int time = 0; time < 200; ++time)
    scale<<<count, 1>>>(out, in, count);
  cudaMemcpy(values, out, count * sizeof(float), cudaMemcpyDeviceToHost);
  double sum = 0;
  for (int i = 0; i < count; ++i)
    sum += values[i];
  std::printf("%.6f\\n", sum);
  return cudaGetLastError();
}
"""

pytestmark = [
    pytest.mark.skipif(not support.IS_GPU, reason="nvcc leaves code for GPUs only"),
    pytest.mark.skipif(not NVCC, reason="nvcc is not on PATH"),
]


@pytest.mark.parametrize("runtime", ["static", "shared"])
def test_a_program_of_nvcc_becomes_faster_by_other_dimensions(runtime: str, tmp_path: Path) -> None:
    source, program, out = tmp_path / "program.cu", tmp_path / "program", tmp_path / "out"
    source.write_text(PROGRAM)
    built = run_command(NVCC, "-O3", "-arch=native", "-cudart", runtime, source, "-o", program)
    assert built.returncode == 0, built.stderr
    options = ("--budget", "40s", "-o", out, "--device", support.DEVICE, "--no-knowledge")
    done = mneme("optimize", *options, "--", program, timeout=300)
    print(done.stderr)
    result = json.loads((out / "optimize.json").read_text())
    (kernel,) = result["kernels"]
    assert kernel["is_searched"], kernel["reason"]
    assert done.returncode == 0, (kernel["reason"], done.stderr)
    assert kernel["is_kept"]
    assert "only grid and block are searched" in " ".join(result["notes"])
    assert " mneme run -- " in result["use"]
    tuned = json.loads((out / "tuned.json").read_text())
    (variant,) = tuned[kernel["name"]]["Mneme"]["Variants"]
    assert variant["CodeForm"] in ("cubin", "fatbin")
    assert variant["Launch"]["BlockDim"]["x"] > 1
