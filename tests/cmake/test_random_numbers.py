"""cuRAND's host functions on the CPU device, and other libraries of NVIDIA's that bring kernels of their own."""

from __future__ import annotations

from pathlib import Path

import pytest
from cmake_parts import run_command, run_here

pytest_plugins = ["cmake_fixtures"]
pytestmark = pytest.mark.compile

PROGRAM = """
#include <cmath>
#include <cstdio>
#include <vector>
#include <curand.h>
__global__ void scale(double* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= 2;
}
double sums[2];
void moments(const std::vector<double>& of) {
  sums[0] = sums[1] = 0;
  for (double x : of) sums[0] += x, sums[1] += x * x;
  for (double& sum : sums) sum /= of.size();
}
bool near(double a, double b) { return std::fabs(a - b) < 0.02; }
int main() {
  const int n = 1 << 16;
  double* x; cudaMalloc(&x, n * sizeof *x);
  std::vector<double> first(n), second(n), counts(n); std::vector<unsigned> whole(n);
  auto fetch = [&](std::vector<double>& to) { cudaMemcpy(to.data(), x, n * sizeof *x, cudaMemcpyDefault); };
  curandGenerator_t g = nullptr; int version = 0, status = curandCreateGenerator(&g, CURAND_RNG_PSEUDO_DEFAULT);
  bool right = status == 0 && curandGetVersion(&version) == 0 && version >= 10000;
  right &= curandSetPseudoRandomGeneratorSeed(g, 1234) == 0;
  right &= curandGenerateUniformDouble(g, x, n) == 0;
  scale<<<n / 256, 256>>>(x, n);
  fetch(first); moments(first);
  right &= near(sums[0], 1) && near(sums[1], 4. / 3);
  right &= curandGenerateUniformDouble(g, x, n) == 0;
  fetch(second); right &= first[0] != 2 * second[0];
  right &= curandSetPseudoRandomGeneratorSeed(g, 1234) == 0 && curandGenerateUniformDouble(g, x, n) == 0;
  fetch(second); right &= first[5] == 2 * second[5];
  right &= curandSetGeneratorOffset(g, 5) == 0 && curandGenerateUniformDouble(g, x, n) == 0;
  fetch(counts); right &= counts[0] == second[5];
  right &= curandGenerateNormalDouble(g, x, n, 3, 2) == 0;
  fetch(first); moments(first); right &= std::fabs(sums[0] - 3) < 0.1 && std::fabs(sums[1] - 13) < 0.5;
  right &= curandGenerateNormalDouble(g, x, 3, 3, 2) == CURAND_STATUS_LENGTH_NOT_MULTIPLE;
  curandGenerator_t host = nullptr;
  right &= curandCreateGeneratorHost(&host, CURAND_RNG_PSEUDO_PHILOX4_32_10) == 0;
  right &= curandGeneratePoisson(host, whole.data(), n, 4) == 0;
  for (int i = 0; i < n; ++i) counts[i] = whole[i];
  moments(counts); right &= std::fabs(sums[0] - 4) < 0.1 && std::fabs(sums[1] - 20) < 0.5;
  right &= curandGenerate(g, whole.data(), n) == CURAND_STATUS_LAUNCH_FAILURE;
  right &= curandGenerate(host, whole.data(), n) == 0;
  right &= curandCreateGenerator(&host, CURAND_RNG_QUASI_SOBOL32) == CURAND_STATUS_TYPE_ERROR;
  printf("%s\\n", right ? "right" : "wrong");
  return curandDestroyGenerator(g);
}
"""

# What CUDA's static runtime does first in each library that contains it.
LIBRARY = """
#include <dlfcn.h>
int makeHandle(void) {
  void* driver = dlopen("libcuda.so.1", RTLD_NOW);
  int (*ask)(const void**, const void*) = (int (*)(const void**, const void*))dlsym(driver, "cuGetExportTable");
  const void* table;
  return ask(&table, 0);
}
"""


def test_programs_get_random_numbers(build_tree: Path, tmp_path: Path) -> None:
    (tmp_path / "a.cu").write_text(PROGRAM)
    done = run_command(
        build_tree / "bin" / "mneme-cxx", "a.cu", "-o", "app", "-lcurand", cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    assert "libcurand.so.10" in run_command("readelf", "-d", tmp_path / "app").stdout
    ran = run_here(build_tree, "run", "--device", "cpu", "--", tmp_path / "app")
    assert (ran.returncode, ran.stdout) == (0, "right\n"), ran.stderr
    assert (
        ran.stderr.count("cuRAND's kernels have no mneme IR: on the CPU device the processor fills")
        == 1
    )
    assert "quasirandom generators are not supported on the CPU device" in ran.stderr

    # A library of the program's may be the one that is linked with cuRAND.
    (tmp_path / "b.cu").write_text(PROGRAM.replace("int main", 'extern "C" int all'))
    (tmp_path / "main.cpp").write_text('extern "C" int all(); int main() { return all(); }')
    compiler = build_tree / "bin" / "mneme-cxx"
    for command in (
        (compiler, "-shared", "-fPIC", "b.cu", "-o", "libb.so", "-lcurand"),
        ("c++", "main.cpp", "-o", "through", "-L.", "-lb", "-Wl,-rpath,$ORIGIN"),
    ):
        done = run_command(*command, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
    db = tmp_path / "db"
    ran = run_here(build_tree, "record", "-rdb", db, "--device", "cpu", "--", tmp_path / "through")
    assert (ran.returncode, ran.stdout) == (0, "right\n"), ran.stderr
    assert "recorded 1 instance of 1 kernel" in ran.stderr


def test_other_libraries_are_named(build_tree: Path, tmp_path: Path) -> None:
    (tmp_path / "library.c").write_text(LIBRARY)
    (tmp_path / "a.cu").write_text(
        '#include <cstdio>\nextern "C" int makeHandle();\n'
        'int main() { cudaFree(nullptr); makeHandle(); printf("%d\\n", makeHandle()); }\n'
    )
    for command in (
        (
            "cc",
            "-shared",
            "-fPIC",
            "library.c",
            "-o",
            "libcublas.so.13",
            "-Wl,-soname,libcublas.so.13",
        ),
        (
            build_tree / "bin" / "mneme-cxx",
            "a.cu",
            "libcublas.so.13",
            "-o",
            "app",
            f"-Wl,-rpath,{tmp_path}",
        ),
    ):
        done = run_command(*command, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
    ran = run_here(build_tree, "run", "--device", "cpu", "--", tmp_path / "app")
    assert (ran.returncode, ran.stdout) == (0, "100\n"), ran.stderr
    assert ran.stderr.count("'libcublas.so.13' contains a CUDA runtime of its own") == 1
