# ruff: noqa: ANN001, ANN201, N803 - Triton's own way to write kernels
# mypy: ignore-errors
"""The kernels of the other files here, which Triton 3.9 wrote for sm_90 (BLOCK: 256)."""

import triton
import triton.language as tl


@triton.jit
def scale_kernel(x, y, n, a, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    m = i < n
    tl.store(y + i, tl.load(x + i, mask=m) * a + 1.0, mask=m)


@triton.jit
def softmax_kernel(out, inp, in_stride, out_stride, n_cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    x = tl.load(inp + row * in_stride + i, mask=i < n_cols, other=-float("inf"))
    x = x - tl.max(x, axis=0)
    e = tl.exp(x)
    tl.store(out + row * out_stride + i, e / tl.sum(e, axis=0), mask=i < n_cols)
