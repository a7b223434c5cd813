"""Kernels of HIP programs that read what no recording holds, on the CPU device."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from test_hip import build, hip  # noqa: F401 - skips where there is no HIP
from test_unrecorded_reads import check_reads, record_reads

if TYPE_CHECKING:
    from pathlib import Path

HIP_PROGRAM = """
#include <hip/hip_runtime.h>
#include <cstdio>
__global__ void stamps(long long* out) { out[threadIdx.x] = clock64(); }
__global__ void timed(long long* out) {
  const long long begin = clock64();
  out[threadIdx.x] = threadIdx.x;
  if (clock64() < begin)
    out[threadIdx.x] = 0;
}
__global__ void places(long long* out) { out[threadIdx.x] = __smid(); }
__global__ void plain(long long* out) { out[threadIdx.x] += 1; }
int main() {
  long long* out = nullptr;
  if (hipMalloc(&out, 64 * sizeof *out) != hipSuccess)
    return 1;
  stamps<<<1, 64>>>(out);
  places<<<1, 64>>>(out);
  timed<<<1, 64>>>(out);
  plain<<<1, 64>>>(out);
  if (hipDeviceSynchronize() != hipSuccess)
    return 1;
  std::printf("ok\\n");
  return 0;
}
"""


@pytest.mark.hip
@pytest.mark.compile
def test_hip_kernels_that_read_clocks_are_named(tmp_path: Path) -> None:
    source = tmp_path / "reads.hip"
    source.write_text(HIP_PROGRAM)
    build(source, "-o", tmp_path / "reads", "-lamdhip64")
    check_reads(*record_reads(tmp_path / "reads", tmp_path / "db"))
