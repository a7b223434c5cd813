# ruff: noqa: ANN001, ANN201, D103, N803 - Triton's own way to write kernels
# mypy: ignore-errors
"""A softmax in Triton that chooses its number of warps by trying, and a sum of vectors."""

import torch
import triton
import triton.language as tl
from told import tell_tensors


@triton.autotune([triton.Config({}, num_warps=n) for n in (2, 4, 8)], key=["n"])
@triton.jit
def softmax(out, x, stride, n, B: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, B)
    v = tl.load(x + row * stride + i, mask=i < n, other=-float("inf"))
    e = tl.exp(v - tl.max(v, 0))
    tl.store(out + row * stride + i, e / tl.sum(e, 0), mask=i < n)


@triton.jit
def add(a, b, c, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(c + i, tl.load(a + i, mask=i < n) + tl.load(b + i, mask=i < n), mask=i < n)


torch.manual_seed(0)
x = torch.randn(512, 1000, device="cuda")
y, z = torch.empty_like(x), torch.empty_like(x)
softmax[(512,)](y, x, 1000, 1000, B=1024)
add[(triton.cdiv(x.numel(), 256),)](x, x, z, x.numel(), B=256)
# Another number of warps adds up in another order: not all bits are the same each time.
tell_tensors("sum", z)
print(torch.allclose(y, torch.softmax(x, 1), atol=1e-6))
