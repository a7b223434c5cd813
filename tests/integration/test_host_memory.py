"""Kernels that are given ordinary memory of the host: each is named, with the argument."""

from __future__ import annotations

from pathlib import Path

from conftest import BUILD, mneme, run_command

SOURCE = """
#include <cstdio>
#include <cstdlib>
struct Body { double* x; double* y; int n; };
template <class A, class B, class C> struct Wide { double* x; };
template <class T> struct Long {};
using Deep = Long<Long<Long<Long<Long<Long<int>>>>>>;
template <class T> __global__ void framework(T t) { if (t.x) t.x[threadIdx.x] += 1; }
__global__ void plain(double* x, int n) { int i = threadIdx.x; if (i < n) x[i] += 1; }
__global__ void functor(Body b) { int i = threadIdx.x; if (i < b.n) b.y[i] = 2 * b.x[i]; }
__global__ void device(Body b, double* z) { int i = threadIdx.x; if (i < b.n) b.y[i] = 2 * z[i]; }
int main() {
  double* x = (double*)calloc(64, sizeof *x);
  double *y, *pinned;
  cudaMalloc(&y, 64 * sizeof *y);
  cudaMallocHost(&pinned, 64 * sizeof *pinned);
  plain<<<1, 64>>>(x, 64);
  functor<<<1, 64>>>(Body{x, y, 64});
  functor<<<1, 32>>>(Body{pinned, y, 32});
  framework<<<1, 64>>>(Wide<Deep, Deep, Deep>{x});
  device<<<1, 64>>>(Body{x, y, 64}, y);  // what it does not read may lie anywhere
  printf("%s\\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
"""


def test_kernels_with_memory_of_malloc_are_named(tmp_path: Path) -> None:
    (tmp_path / "a.cu").write_text(SOURCE)
    compiler = BUILD / "bin" / "mneme-cxx"
    done = run_command(compiler, "-O2", tmp_path / "a.cu", "-o", tmp_path / "app")
    assert done.returncode == 0, done.stderr
    done = mneme("record", "-rdb", tmp_path / "db", "--device", "cpu", "--", tmp_path / "app")
    assert (done.returncode, done.stdout) == (0, "no error\n"), done.stderr
    says = [line for line in done.stderr.splitlines() if "ordinary memory of the host" in line]
    assert len(says) == 3, done.stderr
    # A name that fills lines gives way to the place, which --kernels takes, too.
    place = [line for line in says if "kernel 'a.cu:8' was given ordinary memory of the" in line]
    assert len(place) == 1, done.stderr
    says.remove(place[0])
    assert "'functor(Body)' was given ordinary memory of the host (member 'x' of arg" in says[0]
    assert "'plain(double*, int)' was given ordinary memory of the host (argument 0" in says[1]
    assert all("replays fail if the kernel uses it; allocate it as pinned" in it for it in says)
