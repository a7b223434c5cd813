"""Ten steps of training a small ResNet: convolutions, normalisation, cuDNN, SGD."""

import os

import torch
from told import tell_tensors
from torch import nn

torch.manual_seed(0)
torch.backends.cudnn.deterministic = True


class Block(nn.Module):
    """Two convolutions, and a third beside them."""

    def __init__(self, narrow: int, wide: int) -> None:
        super().__init__()
        self.first = nn.Sequential(nn.Conv2d(narrow, wide, 3, 2, 1), nn.BatchNorm2d(wide))
        self.second = nn.Sequential(nn.Conv2d(wide, wide, 3, 1, 1), nn.BatchNorm2d(wide))
        self.beside = nn.Conv2d(narrow, wide, 1, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Add both ways."""
        return torch.relu(self.second(torch.relu(self.first(x))) + self.beside(x))


net = nn.Sequential(
    Block(3, 16), Block(16, 32), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(32, 10)
).cuda()
optimiser = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
x = torch.randn(16, 3, 32, 32, device="cuda")
y = torch.randint(0, 10, (16,), device="cuda")
for _step in range(10):
    optimiser.zero_grad()
    loss = nn.functional.cross_entropy(net(x), y)
    loss.backward()
    optimiser.step()
tell_tensors("loss and parameters", loss, *net.parameters())
print("segments that grow:", "expandable_segments:True" in os.environ.get("PYTORCH_ALLOC_CONF", ""))
