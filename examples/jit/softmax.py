"""Softmax of the rows of a matrix, in C++ and CUDA compiled for its number of columns.

With a GPU and a torch that uses it, on tensors there; with the CUDA runtime alone, on memory that the
host sees too; else on the host, on tensors or arrays.

usage: softmax.py [rows] [columns]
"""

import ctypes
import sys

import numpy as np

from mneme import jit

try:
    import torch
except ImportError:
    torch = None

KERNEL = """
// A block for each row; threads take columns in turn.
extern "C" __global__ void softmax(const float* in, float* out) {
  __shared__ float part[THREADS];
  const float* row = in + blockIdx.x * COLUMNS;
  auto combine = [&](float value, auto of_two) {
    part[threadIdx.x] = value;
    for (int half = THREADS / 2; half > 0; half /= 2) {
      __syncthreads();
      if (threadIdx.x < half)
        part[threadIdx.x] = of_two(part[threadIdx.x], part[threadIdx.x + half]);
    }
    __syncthreads();
    const float result = part[0];
    __syncthreads();
    return result;
  };
  float largest = row[0], sum = 0;
  for (int i = threadIdx.x; i < COLUMNS; i += THREADS)
    largest = fmaxf(largest, row[i]);
  largest = combine(largest, [](float a, float b) { return fmaxf(a, b); });
  for (int i = threadIdx.x; i < COLUMNS; i += THREADS)
    sum += expf(row[i] - largest);
  sum = combine(sum, [](float a, float b) { return a + b; });
  for (int i = threadIdx.x; i < COLUMNS; i += THREADS)
    out[blockIdx.x * COLUMNS + i] = expf(row[i] - largest) / sum;
}
"""
FUNCTION = """
#include <algorithm>
#include <cmath>
extern "C" void softmax(const float* in, float* out, long rows) {
  for (long row = 0; row < rows; ++row, in += COLUMNS, out += COLUMNS) {
    const float largest = *std::max_element(in, in + COLUMNS);
    float sum = 0;
    for (int i = 0; i < COLUMNS; ++i)
      sum += out[i] = std::exp(in[i] - largest);
    for (int i = 0; i < COLUMNS; ++i)
      out[i] /= sum;
  }
}
"""
THREADS = 128


def gpu_kernel(columns: int) -> jit.Kernel:
    defines = [f"-DCOLUMNS={columns}", f"-DTHREADS={THREADS}"]
    module = jit.compile(KERNEL, frontend="cpp", target="cuda", extra_args=defines)
    return module.get_kernel("softmax", [jit.ptr, jit.ptr])


def with_torch_on_gpu(values: np.ndarray) -> np.ndarray:
    given = torch.from_numpy(values).cuda()
    result = torch.empty_like(given)
    rows, columns = given.shape
    stream = torch.cuda.current_stream().cuda_stream
    gpu_kernel(columns).launch(rows, THREADS, [given, result], stream=stream)
    return result.cpu().numpy()


def with_managed_memory(values: np.ndarray) -> np.ndarray:
    rows, columns = values.shape
    kernel = gpu_kernel(columns)
    cuda = ctypes.CDLL(None)  # the runtime that the module is loaded by

    def managed() -> tuple[int, np.ndarray]:
        address = ctypes.c_void_p()
        status = cuda.cudaMallocManaged(ctypes.byref(address), ctypes.c_size_t(values.nbytes), 1)
        if status:
            sys.exit(f"cudaMallocManaged: error {status}")
        floats = ctypes.cast(address, ctypes.POINTER(ctypes.c_float))
        return address.value, np.ctypeslib.as_array(floats, values.shape)

    (given_address, given), (result_address, result) = managed(), managed()
    given[:] = values
    kernel.launch(rows, THREADS, [given_address, result_address])
    if status := cuda.cudaDeviceSynchronize():
        sys.exit(f"cudaDeviceSynchronize: error {status}")
    return result


def on_host(values: np.ndarray) -> np.ndarray:
    rows, columns = values.shape
    module = jit.compile(FUNCTION, frontend="cpp", extra_args=[f"-DCOLUMNS={columns}"])
    softmax = module.get_function("softmax", None, [jit.ptr, jit.ptr, jit.i64])
    if torch is None:
        result = np.empty_like(values)
        softmax(values, result, rows)
        return result
    tensor = torch.empty(rows, columns)
    softmax(torch.from_numpy(values), tensor, rows)
    return tensor.numpy()


def main() -> int:
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 64
    columns = int(sys.argv[2]) if len(sys.argv) > 2 else 1000
    values = np.random.default_rng(7).normal(size=(rows, columns)).astype(np.float32)
    if torch is not None and torch.cuda.is_available():
        where, result = "torch, GPU", with_torch_on_gpu(values)
    elif jit.has_cuda:
        where, result = "NumPy, CUDA", with_managed_memory(values)
    else:
        where, result = f"{'NumPy' if torch is None else 'torch'}, host", on_host(values)
    exponents = np.exp(values - values.max(axis=1, keepdims=True))
    is_right = np.allclose(result, exponents / exponents.sum(axis=1, keepdims=True), rtol=1e-4)
    print(f"softmax: {rows} x {columns} ({where}), largest {result.max():.4f}")
    print("PASSED" if is_right else "FAILED")
    return 0 if is_right else 1


if __name__ == "__main__":
    sys.exit(main())
