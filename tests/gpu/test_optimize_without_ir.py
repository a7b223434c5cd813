"""`mneme optimize` with a program of nvcc, whose kernels have no IR."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from gpu import support
from gpu.support import mneme, run_command

# Blocks of one thread leave 31 of 32 lanes idle: other dimensions are several times as fast. Each
# launch changes memory, without which no replay could tell right dimensions from wrong ones. So many
# launches are most of the time of the program, which tuned kernels make slower otherwise.
PROGRAM = """
#include <cstdio>
__global__ void scale(float* out, const float* in, int count) {
  const int at = blockIdx.x * blockDim.x + threadIdx.x;
  if (at >= count)
    return;
  float value = in[at];
  for (int round = 0; round < 200; ++round)
    value = 0.5f * value + 1;
  out[at] += value;
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
  for (int time = 0; time < 5000; ++time)
    scale<<<count, 1>>>(out, in, count);
  cudaMemcpy(values, out, count * sizeof(float), cudaMemcpyDeviceToHost);
  double sum = 0;
  for (int i = 0; i < count; ++i)
    sum += values[i];
  std::printf("%.6f\\n", sum);
  return cudaGetLastError();
}
"""
# The same kernel, as PTX that the program loads by the driver with a level of its own.
KERNEL = PROGRAM[PROGRAM.index("__global__") : PROGRAM.index("int main")]
LOADER = """
#include <cstdio>
#include <fstream>
#include <iterator>
#include <vector>
#include <cuda.h>
int main(int, char** argv) {
  std::ifstream file(argv[1], std::ios::binary);
  std::vector<char> ptx{std::istreambuf_iterator<char>(file), {}};
  ptx.push_back(0);
  int count = 1 << 18, failures = 0;
  CUcontext context = nullptr;
  CUmodule module = nullptr;
  CUfunction scale = nullptr;
  CUdeviceptr in = 0, out = 0;
  std::vector<float> values(count);
  for (int i = 0; i < count; ++i)
    values[i] = 1.0f * i;
  CUjit_option options[] = {CU_JIT_OPTIMIZATION_LEVEL};
  void* levels[] = {reinterpret_cast<void*>(2)};
  failures += cuInit(0) != CUDA_SUCCESS;
  failures += cuDevicePrimaryCtxRetain(&context, 0) != CUDA_SUCCESS;
  failures += cuCtxSetCurrent(context) != CUDA_SUCCESS;
  failures += cuModuleLoadDataEx(&module, ptx.data(), 1, options, levels) != CUDA_SUCCESS;
  failures += cuModuleGetFunction(&scale, module, "scale") != CUDA_SUCCESS;
  failures += cuMemAlloc(&in, 4ull * count) != CUDA_SUCCESS;
  failures += cuMemAlloc(&out, 4ull * count) != CUDA_SUCCESS;
  failures += cuMemcpyHtoD(in, values.data(), 4ull * count) != CUDA_SUCCESS;
  failures += cuMemsetD32(out, 0, count) != CUDA_SUCCESS;
  void* args[] = {&out, &in, &count};
  for (int time = 0; time < 5000; ++time)
    failures += cuLaunchKernel(scale, count, 1, 1, 1, 1, 1, 0, nullptr, args, nullptr) != 0;
  failures += cuMemcpyDtoH(values.data(), out, 4ull * count) != CUDA_SUCCESS;
  double sum = 0;
  for (const float value : values)
    sum += value;
  std::printf("%.6f\\n", sum);
  return failures;
}
"""

pytestmark = support.BY_NVCC


def _nvcc(*arguments: str | Path) -> None:
    done = run_command("nvcc", *arguments)
    assert done.returncode == 0, done.stderr


def _optimized(out: Path, *command: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """Optimize a program of one kernel; return the result, and what is deployed."""
    options = ("--budget", "40s", "-o", out, "--device", support.DEVICE, "--no-knowledge")
    done = mneme("optimize", *options, "--", *command, timeout=300)
    print(done.stderr)
    result = json.loads((out / "optimize.json").read_text())
    (kernel,) = result["kernels"]
    assert kernel["is_searched"], kernel["reason"]
    assert done.returncode == 0, (kernel["reason"], done.stderr)
    assert kernel["is_kept"]
    assert " mneme run -- " in result["use"]
    tuned = json.loads((out / "tuned.json").read_text())
    (variant,) = tuned[kernel["name"]]["Mneme"]["Variants"]
    return result, variant


@pytest.mark.parametrize("runtime", ["static", "shared"])
def test_a_program_of_nvcc_becomes_faster_by_other_dimensions(runtime: str, tmp_path: Path) -> None:
    source, program = tmp_path / "program.cu", tmp_path / "program"
    source.write_text(PROGRAM)
    _nvcc("-O3", "-arch=native", "-cudart", runtime, source, "-o", program)
    result, variant = _optimized(tmp_path / "out", program)
    assert "only grid and block are searched" in " ".join(result["notes"])
    assert variant["CodeForm"] in ("cubin", "fatbin")
    assert variant["Launch"]["BlockDim"]["x"] > 1


def test_ptx_becomes_faster_by_what_it_allows(tmp_path: Path) -> None:
    sources = {"kernel.cu": f'extern "C" {KERNEL}', "loader.cpp": LOADER}
    for name, text in sources.items():
        (tmp_path / name).write_text(text)
    kernel, loader = tmp_path / "kernel.ptx", tmp_path / "loader"
    _nvcc("-O3", "-arch=native", "-ptx", tmp_path / "kernel.cu", "-o", kernel)
    _nvcc("-cudart", "none", tmp_path / "loader.cpp", "-o", loader, "-lcuda")
    result, variant = _optimized(tmp_path / "out", loader, kernel)
    assert "only grid, block, limits of registers and what ptxas" in " ".join(result["notes"])
    assert variant["CodeForm"] == "ptx"
    assert variant["Launch"]["BlockDim"]["x"] > 1
    (code,) = (tmp_path / "out" / "recording").glob("RecordedCode_*.ptx")
    assert code.read_text().startswith("// options of the driver's compiler: 7=2\n")
