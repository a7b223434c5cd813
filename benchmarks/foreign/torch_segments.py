"""PyTorch with segments that grow (cuMemMap): allocations of many sizes, some given back between."""

import os

os.environ["PYTORCH_ALLOC_CONF"] = os.environ["PYTORCH_CUDA_ALLOC_CONF"] = (
    "expandable_segments:True"
)

import torch
from told import tell_tensors

torch.manual_seed(0)
kept = []
for round_ in range(4):
    big = torch.randn(1 << (20 + round_), device="cuda")
    kept.append(torch.softmax(big.view(-1, 1024), -1)[::7].contiguous())
    del big
    if round_ == 2:
        torch.cuda.empty_cache()  # unmaps
matrix = kept[-1][:256, :256].contiguous()
tell_tensors("softmax, product and sum", matrix @ matrix, torch.cat(kept).sum(0))
segments = torch.cuda.memory_snapshot()
print("expandable segments:", any(one.get("is_expandable") for one in segments))
