"""Kernels of a script, started on the CPU device: prints what it sees."""

import ctypes
import sys
from types import SimpleNamespace

import numpy as np

import proteus

vendor, frontend = sys.argv[1:]
sources = {
    "cpp": """
#ifdef __HIP__
#include <hip/hip_runtime.h>
#endif
extern "C" __global__ void scale(double* x, double a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= a;
}
""",
    "llvmir": """
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
define ptx_kernel void @scale(ptr addrspace(1) %x, double %a, i32 %n) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %l = zext i32 %t to i64
  %p = getelementptr double, ptr addrspace(1) %x, i64 %l
  %v = load double, ptr addrspace(1) %p
  %r = fmul double %v, %a
  store double %r, ptr addrspace(1) %p
  ret void
}
""",
}
print(proteus.active_backend, proteus.has_cuda, proteus.has_hip)
module = proteus.compile(sources[frontend], frontend, target=vendor)
kernel = module.get_kernel("scale", [proteus.ptr, proteus.f64, proteus.i32])
print(kernel)

runtime = ctypes.CDLL(None)
memory = ctypes.c_void_p()
getattr(runtime, f"{vendor}MallocManaged")(ctypes.byref(memory), ctypes.c_size_t(8 * 32), 1)
x = np.ctypeslib.as_array(ctypes.cast(memory, ctypes.POINTER(ctypes.c_double)), (32,))
x[:] = np.arange(32)
array = SimpleNamespace(__cuda_array_interface__={"data": (memory.value, False)})
tensor = SimpleNamespace(data_ptr=lambda: memory.value)
for grid, block, pointer in [
    (1, 32, memory.value),
    ((1,), [32, 1], array),
    ([1, 1, 1], (32, 1, 1), tensor),
    (1, np.int64(32), np.uint64(memory.value)),
]:
    kernel.launch(grid, block, [pointer, 2.0, 32], shmem=0, stream=None)
getattr(runtime, f"{vendor}DeviceSynchronize")()
print(x[1], x[31])


def refused(what: str, *args: object, **named: object) -> None:
    try:
        kernel.launch(*args, **named)
        print(what, "accepted")
    except (TypeError, ValueError, RuntimeError) as error:
        print(f"{what}: {type(error).__name__}: {error}")


good = [memory.value, 2.0, 32]
refused("count", 1, 1, good[:2])
refused("none", (), 1, good)
refused("many", 1, (1, 1, 1, 1), good)
refused("text", "1", 1, good)
refused("float", 1, (1.5,), good)
refused("negative", -1, 1, good)
refused("too many threads", 1, 4096, good)
refused("stream", 1, 1, good, stream="0")
refused("numpy", 1, 1, [x, 2.0, 32])
refused("ctypes", 1, 1, [memory, 2.0, 32])
empty = SimpleNamespace(__cuda_array_interface__={"data": ()})
try:
    kernel.launch(1, 1, [empty, 2.0, 32])
except ValueError as error:
    print(isinstance(error, TypeError), error)
try:
    module.get_function("scale", None, [])
except ValueError as error:
    print(error)
for ask in (lambda: module.get_function_address("scale"), lambda: module.get_kernel("scal", [])):
    try:
        ask()
    except RuntimeError as error:
        print(error)
