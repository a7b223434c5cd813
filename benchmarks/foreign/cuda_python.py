# ruff: noqa: ANN001, ANN201 - types of the library's own
# mypy: ignore-errors
"""cuda-python: NVRTC and the driver, in a context of the program's own."""

import numpy as np
from cuda.bindings import driver, nvrtc
from told import tell

SOURCE = b"""extern "C" __global__ void saxpy(float a, float* x, float* y, float* out, size_t n) {
  size_t t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t < n)
    out[t] = a * x[t] + y[t];
}"""
COUNT = 512 * 32


def ok(result):
    """Return what a call returns beside its code."""
    assert int(result[0]) == 0, result
    return result[1] if len(result) == 2 else result[1:]


program = ok(nvrtc.nvrtcCreateProgram(SOURCE, b"saxpy.cu", 0, [], []))
ok(nvrtc.nvrtcCompileProgram(program, 1, [b"--gpu-architecture=sm_90"]))
cubin = b" " * ok(nvrtc.nvrtcGetCUBINSize(program))
ok(nvrtc.nvrtcGetCUBIN(program, cubin))
ok(driver.cuInit(0))
device = ok(driver.cuDeviceGet(0))
try:
    context = ok(driver.cuCtxCreate(None, 0, device))
except TypeError:  # before CUDA 13
    context = ok(driver.cuCtxCreate(0, device))
module = ok(driver.cuModuleLoadData(np.char.array(cubin)))
kernel = ok(driver.cuModuleGetFunction(module, b"saxpy"))
x = np.arange(COUNT, dtype=np.float32)
y, out = np.ones(COUNT, np.float32), np.zeros(COUNT, np.float32)
places = [ok(driver.cuMemAlloc(COUNT * 4)) for _ in range(3)]
stream = ok(driver.cuStreamCreate(0))
for place, values in zip(places, (x, y), strict=False):
    ok(driver.cuMemcpyHtoDAsync(place, values.ctypes.data, COUNT * 4, stream))
arguments = [
    np.array([2.0], dtype=np.float32),
    *(np.array([int(one)], np.uint64) for one in places),
    np.array(COUNT, dtype=np.uint64),
]
pointers = np.array([one.ctypes.data for one in arguments], np.uint64)
ok(driver.cuLaunchKernel(kernel, 32, 1, 1, 512, 1, 1, 0, stream, pointers.ctypes.data, 0))
ok(driver.cuMemcpyDtoHAsync(out.ctypes.data, places[2], COUNT * 4, stream))
ok(driver.cuStreamSynchronize(stream))
tell("saxpy", out)
print(np.allclose(out, 2 * x + y))
ok(driver.cuCtxDestroy(context))
