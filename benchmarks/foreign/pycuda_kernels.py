# mypy: ignore-errors
"""PyCUDA: modules of source, arrays on the GPU, element-wise and reduction kernels, two contexts."""

import numpy as np
import pycuda.autoinit
import pycuda.driver as cuda
from pycuda import gpuarray
from pycuda.compiler import SourceModule
from pycuda.elementwise import ElementwiseKernel
from pycuda.reduction import ReductionKernel
from told import tell

SOURCE = """
__constant__ float weights[4];
__device__ int launches;
__global__ void filtered(float* out, const float* in, int n) {
  __shared__ float part[260];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  part[threadIdx.x] = i < n ? in[i] : 0;
  if (threadIdx.x < 4)
    part[256 + threadIdx.x] = i + 256 < n ? in[i + 256] : 0;
  __syncthreads();
  float sum = 0;
  for (int k = 0; k < 4; ++k)
    sum += weights[k] * part[threadIdx.x + k];
  if (i < n)
    out[i] = sum;
  if (i == 0)
    ++launches;
}
"""
N = 10000
values = np.sin(np.arange(N, dtype=np.float32))
module = SourceModule(SOURCE)
filtered = module.get_function("filtered")
cuda.memcpy_htod(module.get_global("weights")[0], np.array([1, 2, -3, 0.5], np.float32))
out = np.empty_like(values)
filtered(cuda.Out(out), cuda.In(values), np.int32(N), block=(256, 1, 1), grid=(40, 1))
filtered.prepare("PPi")
place, target = cuda.to_device(out), cuda.mem_alloc(out.nbytes)
filtered.prepared_call((40, 1), (256, 1, 1), target, place, N)
again = cuda.from_device_like(target, out)
launches = np.zeros(1, np.int32)
cuda.memcpy_dtoh(launches, module.get_global("launches")[0])
tell("SourceModule", out, again, launches)
array = gpuarray.to_gpu(values)
tell("GPUArray", (2 * array + array**2).get(), gpuarray.max(array).get(), array[::3].get())
blend = ElementwiseKernel(
    "float a, float* x, float* y, float* z", "z[i] = a * x[i] + y[i]", "blend"
)
z = gpuarray.empty_like(array)
blend(np.float32(1.5), array, array, z)
tell("ElementwiseKernel", z.get())
dot = ReductionKernel(np.float64, neutral="0", reduce_expr="a+b",
                      map_expr="(double)x[i]*y[i]", arguments="float* x, float* y")  # fmt: skip
tell("ReductionKernel", dot(array, z).get())
pycuda.autoinit.context.pop()
other = cuda.Device(0).make_context()
in_other = SourceModule(SOURCE).get_function("filtered")
in_other(cuda.Out(out), cuda.In(values), np.int32(N), block=(256, 1, 1), grid=(40, 1))
tell("second context", out)
other.pop()
pycuda.autoinit.context.push()
