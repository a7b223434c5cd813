"""What is compiled at run time has no addresses in it: it is right wherever the program lies the next time."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from programs import ROOT, build, run

BUILD = Path(os.environ.get("MNEME_BUILD_DIR", "build"))

pytestmark = [pytest.mark.compile]

HOST = """
#include <cstdio>
#include <proteus/JitInterface.h>
int counter = 5;
static int hidden = 7;
thread_local int own = 11;
int add(int n) { return n + counter; }
static int (*const table[])(int) = {add};
struct Base { virtual int value(int n) const { return n; } };
struct Derived : Base { int value(int n) const override { return n + hidden++; } };
int* where(int n) { proteus::jit_arg(n); return &counter + n; }
int work(int n, const Base& base) {
  proteus::jit_arg(n);
  ++counter;
  return table[0](n) + base.value(n) + ++own + (where(0) == &counter);
}
int main() {
  printf("at %p %p\\n", static_cast<void*>(&counter), reinterpret_cast<void*>(add));
  printf("%d %d %d\\n", work(1, Derived()), *where(0), hidden);
}
"""
DEVICE = """
#include <cstdio>
#include <proteus/JitInterface.h>
__device__ int counter = 5;
__constant__ int weights[4];
__device__ int twice(int n) { return 2 * n; }
typedef int (*Function)(int);
__device__ Function table[] = {twice};
__attribute__((annotate("jit", 1))) __global__ void work(int n, int* out, int** where) {
  *out = table[0](n) + weights[n] + counter++;
  *where = &counter;
}
int main() {
  int host[] = {1, 2, 3, 4}, count = 0, *out, **where, *address;
  cudaMemcpyToSymbol(weights, host, sizeof host);
  cudaMallocManaged(&out, sizeof(int));
  cudaMallocManaged(&where, sizeof(int*));
  work<<<1, 1>>>(1, out, where);
  cudaDeviceSynchronize();
  cudaMemcpyFromSymbol(&count, counter, sizeof count);
  cudaGetSymbolAddress((void**)&address, counter);
  printf("at %p %p\\n", (void*)&host, (void*)*where);
  printf("%d %d %d\\n", *out, count, address == *where);
}
"""


def host_program(folder: Path) -> Path:
    (folder / "program.cpp").write_text(HOST)
    return build(folder / "program.cpp", folder / "program", "-O2", "-fPIE", "-pie")


def device_program(folder: Path) -> Path:
    if not (BUILD / "tests" / "apps" / "api" / "driver").is_file():
        pytest.skip("no CUDA toolkit")
    (folder / "program.cu").write_text(DEVICE)
    options = ("-x", "cuda", "--offload-arch=sm_90", "-O2", f"-I{ROOT / 'include'}", "-lcudart")
    command = [BUILD / "bin" / "mneme-cxx", *options, folder / "program.cu"]
    subprocess.run([*map(str, command), "-o", str(folder / "program")], check=True)
    return folder / "program"


@pytest.mark.parametrize(
    ("make", "label", "expected", "count"),
    [
        (host_program, "JitEngineHost", "28 6 8", 2),
        (device_program, "JitEngineDevice", "9 6 1", 1),
    ],
    ids=["host", "device"],
)
def test_stored_code_is_right_at_other_addresses(
    make: Callable[[Path], Path], label: str, expected: str, count: int, tmp_path: Path
) -> None:
    program = make(tmp_path)
    places = set()
    for hits, by_copy in ((0, "0"), (count, "0"), (count, "1"), (count, "1")):
        done = run(
            program, cache=tmp_path / "cache", on_cpu_device=make is device_program,
            trace="cache-stats", PROTEUS_RELINK_GLOBALS_BY_COPY=by_copy,
        )  # fmt: skip
        places.add(done.lines[0])
        assert done.lines[1:] == [expected]
        assert done.count("StorageCache", label) == (hits, count)
    if len(places) == 1:
        pytest.skip("this system loads programs at one address")
