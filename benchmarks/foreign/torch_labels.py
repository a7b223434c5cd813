"""PyTorch with labels: NVTX ranges, torch.profiler.record_function, and mneme's own."""

import torch
from told import tell_tensors

try:
    import mneme
except ImportError:  # alone, it need not be there
    mneme = None

if mneme:
    mneme.labels_from_torch()
torch.manual_seed(0)
x = torch.randn(512, 512, device="cuda")
with torch.cuda.nvtx.range("scores"):
    scores = torch.softmax(x, 1)
with torch.profiler.record_function("mixing"):
    mixed = scores * 2 + x
    with torch.profiler.record_function("inner"):
        mixed = torch.relu(mixed)
tell_tensors("labels", scores, mixed, mixed.cumsum(0))
