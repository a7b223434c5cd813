"""Memory handed to a kernel in every form, started on the CPU device: prints what it sees."""

import ctypes

import numpy as np
from tensors import CPU, CUDA, CUDA_MANAGED, ROCM, Exported, OldExported, Tensor, cuda_array

import proteus
from mneme import jit

SOURCE = """
extern "C" __global__ void scale(double* x, double a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= a;
}
"""
print(proteus.active_backend)
types = [proteus.ptr, proteus.f64, proteus.i32]
lax = proteus.compile(SOURCE, "cpp", target="cuda").get_kernel("scale", types)
strict = jit.compile(SOURCE, "cpp", target="cuda").get_kernel("scale", types)
cuda = ctypes.CDLL(None)
memory = ctypes.c_void_p()
cuda.cudaMallocManaged(ctypes.byref(memory), ctypes.c_size_t(8 * 32), 1)
x = np.ctypeslib.as_array(ctypes.cast(memory, ctypes.POINTER(ctypes.c_double)), (32,))
x[:] = np.arange(32)
address = memory.value

exported = Exported(x, CUDA)
for kernel in (lax, strict):
    for given in (
        *(None, address, Tensor(address, CUDA), Tensor(address, CUDA_MANAGED), cuda_array(address)),
        *(cuda_array(address, strides=(8,)), exported, OldExported(x, ROCM)),
    ):
        kernel.launch(1, 32, [given, 2.0, 0 if given is None else 32])
cuda.cudaDeviceSynchronize()
print(x[1], x[31] == 31 * 2.0**14, [asked.get("stream", "none") for asked in exported.asked])
lax.launch(1, 32, [exported, 1.0, 32], stream=2)  # the one of this thread
print(exported.asked[-1])

wrong = {
    "numpy": np.zeros(32),
    "tensor of the host": Tensor(address, CPU),
    "tensor with gaps": Tensor(address, CUDA, contiguous=False),
    "array with gaps": cuda_array(address, shape=(16,), strides=(16,)),
    "rows": cuda_array(address, shape=(4, 8), strides=(8, 32)),
    "read-only": cuda_array(address, data=(address, True)),
    "DLPack of the host": Exported(x, CPU),
    "DLPack with gaps": Exported(x[::2], CUDA),
    "ctypes": memory,
    "text": "x",
}
for what, given in wrong.items():
    for name, kernel in (("lax", lax), ("strict", strict)):
        try:
            kernel.launch(1, 1, [given, 1.0, 1])
            print(f"{what}, {name}: taken")
        except TypeError as error:
            print(f"{what}, {name}: {error}")
for args in ([address, 2.0], [address, "2", 1], [address, 2.0, 1.5], [address, 2.0, 2**31]):
    try:
        strict.launch(1, 1, args)
    except (TypeError, OverflowError) as error:
        print(f"{type(error).__name__}: {error}")
