# ruff: noqa: ANN001, ANN201, N803 - Triton's own way to write kernels
# mypy: ignore-errors
"""Kernels of Triton, and of torch.compile, which are Triton's; prints sums of their results."""

import torch
import triton
import triton.language as tl


@triton.jit
def scale_kernel(x, y, n, a, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i, tl.load(x + i, mask=i < n) * a + 1.0, mask=i < n)


@triton.jit
def softmax_kernel(out, inp, stride, n_cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    x = tl.load(inp + row * stride + i, mask=i < n_cols, other=-float("inf"))
    e = tl.exp(x - tl.max(x, axis=0))
    tl.store(out + row * stride + i, e / tl.sum(e, axis=0), mask=i < n_cols)


@triton.jit
def layer_norm_kernel(x, y, weight, bias, stride, n, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    v = tl.load(x + row * stride + i, mask=i < n, other=0.0)
    mean = tl.sum(v, axis=0) / n
    centred = tl.where(i < n, v - mean, 0.0)
    scale = 1 / tl.sqrt(tl.sum(centred * centred, axis=0) / n + eps)
    w = tl.load(weight + i, mask=i < n)
    b = tl.load(bias + i, mask=i < n)
    tl.store(y + row * stride + i, centred * scale * w + b, mask=i < n)


@triton.jit
def matmul_kernel(a, b, c, k, stride_a, stride_b, stride_c, SIZE: tl.constexpr, STEP: tl.constexpr):
    rows = tl.program_id(0) * SIZE + tl.arange(0, SIZE)
    columns = tl.program_id(1) * SIZE + tl.arange(0, SIZE)
    at_a = a + rows[:, None] * stride_a + tl.arange(0, STEP)[None, :]
    at_b = b + tl.arange(0, STEP)[:, None] * stride_b + columns[None, :]
    total = tl.zeros((SIZE, SIZE), dtype=tl.float32)
    for _ in range(0, k, STEP):
        total = tl.dot(tl.load(at_a), tl.load(at_b), total)
        at_a += STEP
        at_b += STEP * stride_b
    tl.store(c + rows[:, None] * stride_c + columns[None, :], total.to(tl.float16))


def main() -> None:
    """Launch each of them."""
    torch.manual_seed(1)
    x = torch.randn(64, 1000, device="cuda")
    y = torch.empty_like(x)
    scale_kernel[(triton.cdiv(x.numel(), 1024),)](x, y, x.numel(), 2.5, BLOCK=1024)
    print(f"{y.double().sum().item():.6f}")
    softmax_kernel[(64,)](y, x, x.stride(0), 1000, BLOCK=1024)
    print(f"{y.double().square().sum().item():.6f}")
    weight, bias = torch.randn(1000, device="cuda"), torch.randn(1000, device="cuda")
    layer_norm_kernel[(64,)](x, y, weight, bias, x.stride(0), 1000, 1e-5, BLOCK=1024)
    print(f"{y.double().square().sum().item():.6f}")
    a = torch.randn(256, 256, device="cuda", dtype=torch.float16)
    b = torch.randn(256, 256, device="cuda", dtype=torch.float16)
    c = torch.empty_like(a)
    matmul_kernel[(4, 4)](a, b, c, 256, 256, 256, 256, SIZE=64, STEP=32)
    print(f"{c.double().square().sum().item():.6f}")
    fused = torch.compile(lambda v, w: torch.nn.functional.gelu(v * w) + v.sin())
    print(f"{fused(x, weight).double().square().sum().item():.6f}")


if __name__ == "__main__":
    main()
