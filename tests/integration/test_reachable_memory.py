"""Memory a kernel reaches without naming it is recorded too."""

from __future__ import annotations

from pathlib import Path

from conftest import mneme, records, run_command

PROGRAM = """
#include <cstdio>
#include <cuda_runtime.h>
__device__ int table[100];
__global__ void read(const int* from, int* out) { out[threadIdx.x] = from[threadIdx.x] + 1; }
int main() {
  int host[100], back[100];
  for (int i = 0; i < 100; ++i)
    host[i] = i * i;
  void* address;
  int* out;
  cudaMemcpyToSymbol(table, host, sizeof host);
  cudaGetSymbolAddress(&address, table);
  cudaMalloc(&out, sizeof back);
  read<<<1, 100>>>(static_cast<const int*>(address), out);
  cudaMemcpy(back, out, sizeof back, cudaMemcpyDeviceToHost);
  std::printf("%d\\n", back[99]);
}
"""


def test_variable_behind_a_pointer_argument(tmp_path: Path) -> None:
    source = tmp_path / "app.cu"
    source.write_text(PROGRAM)
    flags = {key: mneme("config", key).stdout.split() for key in ("cxx", "cflags", "ldflags")}
    built = run_command(
        *flags["cxx"], "-O2", "--offload-arch=sm_90", *flags["cflags"], source, "-o", tmp_path / "app",
        *flags["ldflags"], "-lcudart",
    )  # fmt: skip
    assert built.returncode == 0, built.stderr
    done = mneme("record", "-rdb", tmp_path / "db", "--device", "cpu", "--", tmp_path / "app")
    assert done.stdout == f"{99 * 99 + 1}\n"
    (record,) = records(tmp_path / "db")
    replayed = mneme("replay", "-rdb", record, "--device", "cpu", "default<O1>")
    assert replayed.result["result_class"] == "exact", replayed.stderr
