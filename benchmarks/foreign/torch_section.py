"""PyTorch of which one section is recorded: `mneme record -- python torch_section.py`."""

import torch
from told import tell_tensors

import mneme

torch.manual_seed(0)
x = torch.randn(512, 512, device="cuda")
before = torch.relu(x) + 1
with mneme.recording("section", kernels=".*[sS]oft[mM]ax.*", required=False):
    inside = torch.softmax(before, 1) * 3
tell_tensors("section", before, inside, torch.sigmoid(inside))
