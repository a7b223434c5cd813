"""CuPy with its pool: raw kernels and modules, element-wise kernels, reductions, and FFTs."""

import cupy
from told import tell

SOURCE = r"""
template <typename T> __global__ void scale(T* y, const T* x, T a, int n) {
  const int i = blockDim.x * blockIdx.x + threadIdx.x;
  if (i < n)
    y[i] = a * x[i];
}
extern "C" __global__ void twice(const float* x, float* y, int n) {
  const int i = blockDim.x * blockIdx.x + threadIdx.x;
  if (i < n)
    y[i] = 2 * x[i];
}
"""
x = cupy.arange(100000, dtype=cupy.float32) / 1000
y = cupy.empty_like(x)
cupy.RawKernel(SOURCE, "twice")((391,), (256,), (x, y, 100000))
tell("RawKernel", y.get())
names = ("scale<float>", "scale<double>")
module = cupy.RawModule(code=SOURCE, options=("-std=c++17",), name_expressions=names)
wide = x.astype(cupy.float64)
module.get_function(names[0])((391,), (256,), (y, x, cupy.float32(3), 100000))
tell("RawModule", y.get())
out = cupy.empty_like(wide)
module.get_function(names[1])((391,), (256,), (out, wide, 0.5, 100000))
tell("RawModule, double", out.get())
norm = cupy.ElementwiseKernel("T x, T y", "T z", "z = sqrt(x * x + y * y)", "norm_of")
tell("ElementwiseKernel", norm(x, y).get())
total = cupy.ReductionKernel("T x", "T y", "x * x", "a + b", "y = a", "0", "sum_of_squares")
tell("ReductionKernel", total(wide).get())
del out
for size in (1000, 4096, 3 * 5 * 7 * 11):
    tell(f"fft {size}", cupy.fft.ifft(cupy.fft.fft(x[:size])).get())
tell("sort and scan", cupy.cumsum(cupy.sort(cupy.sin(x * 77)).astype(cupy.float64)).get())
print("pool:", cupy.get_default_memory_pool().n_free_blocks() > 0)
