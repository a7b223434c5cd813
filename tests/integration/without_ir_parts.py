"""A kernel and a program that loads its code, whatever that is."""

from __future__ import annotations

from pathlib import Path

LOADER = Path(__file__).resolve().with_name("image_loader.cpp")
KERNEL = """
struct Job { const double* in; double* out; long count; double factor; };
__device__ double bias = 0.5;
extern "C" __global__ void scale(Job job, unsigned long long step, int rounds) {
  const long at = blockIdx.x * blockDim.x + threadIdx.x;
  if (at >= job.count)
    return;
  double number = job.in[at * step % job.count];
  for (int round = 0; round < rounds; ++round)
    number = number * job.factor + bias;
  job.out[at] = number;
}
"""
SUMS = "183853468.75, 183853468.75, 275782703.12\n"
