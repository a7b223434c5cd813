# ruff: noqa: ANN001, ANN201, D103, NPY201 - Numba's own way to write kernels
# mypy: ignore-errors
"""Numba: kernels with shared memory, a barrier, atomic operations, and device functions."""

import numpy as np

np.row_stack = np.vstack  # which NumPy no longer has and Numba asks for

from numba import cuda, float32, int32  # noqa: E402
from told import tell  # noqa: E402

TILE = 16


@cuda.jit(device=True)
def clipped(value):
    return min(max(value, -0.5), 0.5)


@cuda.jit
def product(a, b, c):
    left = cuda.shared.array((TILE, TILE), float32)
    right = cuda.shared.array((TILE, TILE), float32)
    row, column = cuda.grid(2)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    total = float32(0)
    for step in range(a.shape[1] // TILE):
        left[x, y] = a[row, step * TILE + y]
        right[x, y] = b[step * TILE + x, column]
        cuda.syncthreads()
        for k in range(TILE):
            total += left[x, k] * right[k, y]
        cuda.syncthreads()
    c[row, column] = clipped(total)


@cuda.jit
def histogram(values, counts):
    i = cuda.grid(1)
    if i < values.size:
        cuda.atomic.add(counts, int32(values[i] * 16) % 16, 1)


rng = np.random.default_rng(0)
a, b = (rng.random((128, 128), dtype=np.float32) - 0.5 for _ in range(2))
c = cuda.device_array((128, 128), dtype=np.float32)
product[(8, 8), (TILE, TILE)](cuda.to_device(a), cuda.to_device(b), c)
tell("product", c.copy_to_host())
counts = cuda.to_device(np.zeros(16, dtype=np.int32))
histogram[64, 256](cuda.to_device(rng.random(16384, dtype=np.float32)), counts)
tell("histogram", counts.copy_to_host())
