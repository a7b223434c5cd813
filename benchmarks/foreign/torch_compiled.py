"""torch.compile: gelu, softmax and sums, forwards and backwards."""

import torch
from told import tell_tensors

torch.manual_seed(0)


@torch.compile
def fused(x: torch.Tensor, weight: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Return two sums."""
    y = torch.nn.functional.gelu(x * weight)
    return torch.softmax(y, -1).sum(0), y.sum()


x = torch.randn(512, 1024, device="cuda")
weight = torch.randn(1024, device="cuda", requires_grad=True)
first, second = fused(x, weight)
(first.square().sum() + second).backward()
tell_tensors("results and gradient", first, second, weight.grad)
