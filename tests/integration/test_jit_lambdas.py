"""Lambdas in kernels: each place that calls one has the constants of the closure it calls there."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import BUILD, Finished, mneme, run_command

SOURCES = Path(__file__).resolve().parents[1] / "apps" / "jit"
WRAPPER = BUILD / "bin" / "mneme-cxx"
BEGIN = "[LambdaSpec] Replacing slot "

pytestmark = [
    pytest.mark.compile,
    pytest.mark.skipif(
        not (BUILD / "tests" / "apps" / "api" / "driver").is_file(), reason="no CUDA toolkit"
    ),
]


def compiled(*words: str | Path) -> None:
    done = run_command(WRAPPER, "--offload-arch=sm_90", *words)
    assert (done.returncode, done.stderr) == (0, "")


def run(program: Path, folder: Path) -> Finished:
    done = mneme(
        "run", "--device", "cpu", "--", program,
        PROTEUS_CACHE_DIR=str(folder / "cache"), PROTEUS_TRACE_OUTPUT="specialization;cache-stats",
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    return done


def sections(done: Finished) -> dict[str, list[str]]:
    """What became constant, by the section of the program."""
    found: dict[str, list[str]] = {}
    for line in done.stdout.splitlines():
        if line.startswith("= "):
            values = found[line.removeprefix("= ")] = []
        elif line.startswith(BEGIN):
            values.append(line.removeprefix(BEGIN))
    return found


@pytest.mark.parametrize("form", ["", "-DPROTEUS_LAMBDAS_BY_REFERENCE"])
def test_each_call_has_the_constants_of_its_closure(form: str, tmp_path: Path) -> None:
    program = tmp_path / "sites"
    compiled("-x", "cuda", SOURCES / "lambda_sites.cu", "-o", program, "-lcudart", *form.split())
    cold = run(program, tmp_path)
    assert sections(cold) == {
        "two lambdas": ["0 with i32 1", "0 with i32 2"],
        "one lambda twice": [
            "0 with i32 24",
            "0 with i32 42",
            "0 with i32 42",
            "0 with i32 24",
        ],
        "struct of three": ["0 with i32 5", "0 with i32 6", "0 with i32 7"],
        "privatized": ["2 with i8 0", "1 with i32 3"],
        "through memory": ["0 with i32 11", "0 with i32 12"],
        "same on both paths": ["0 with i32 77"],
        "either one": [],
        "from memory": [],
        "changes itself": [],
        # By reference the kernel is the one before: it takes the lambdas themselves.
        "as it was registered before": [] if form else ["0 with i32 1", "0 with i32 2"],
        "end": [],
    }
    assert "x 952 0" in cold.stdout
    warm = run(program, tmp_path)
    assert "x 952 0" in warm.stdout
    assert not any(sections(warm).values())


FACTORY = """
#pragma once
#include <cuda_runtime.h>
#include <proteus/JitInterface.h>
inline auto makeSum(int a, int b, int* out) {
  return proteus::register_lambda(
      [a = proteus::jit_variable(a), b = proteus::jit_variable(b), out] __device__() { *out += a + b; });
}
"""

PART = """
#include "factory.h"
namespace {
template <typename F> __attribute__((annotate("jit"))) __global__ void apply(F f) { f(); }
}
void run%(n)s(int* out) {
  apply<<<1, 1>>>(makeSum(%(n)s0, %(n)s1, out));
  apply<<<1, 1>>>(makeSum(%(n)s2, %(n)s0, out));
  (void)cudaDeviceSynchronize();
}
"""

MAIN = """
#include <cstdio>
#include <cuda_runtime.h>
void run1(int* out);
void run2(int* out);
int main() {
  int* out;
  (void)cudaMallocManaged(&out, sizeof(int));
  *out = 0;
  run1(out);
  run2(out);
  std::printf("= end\\nsum %d\\n", *out);
}
"""


@pytest.mark.parametrize("relocatable", [[], ["-fgpu-rdc"]], ids=["plain", "relocatable"])
def test_libraries_with_one_lambda_have_their_own_values(
    relocatable: list[str], tmp_path: Path
) -> None:
    (tmp_path / "factory.h").write_text(FACTORY)
    for number in "12":
        part = tmp_path / f"part{number}.cu"
        part.write_text(PART % {"n": number})
        compiled(
            *("-x", "cuda", part, "-shared", "-fPIC", *relocatable),
            *("-o", tmp_path / f"libpart{number}.so", "-lcudart"),
        )
    (tmp_path / "main.cu").write_text(MAIN)
    compiled(
        *("-x", "cuda", tmp_path / "main.cu", "-o", tmp_path / "main", f"-L{tmp_path}"),
        *("-lpart1", "-lpart2", f"-Wl,-rpath,{tmp_path}", "-lcudart"),
    )
    done = run(tmp_path / "main", tmp_path)
    assert "sum 126" in done.stdout
    values = [
        line.removeprefix(BEGIN) for line in done.stdout.splitlines() if line.startswith(BEGIN)
    ]
    pairs = [(11, 10), (10, 12), (21, 20), (20, 22)]
    assert values == [f"{slot} with i32 {pair[1 - slot]}" for pair in pairs for slot in (1, 0)]
    assert "StorageCache rank 0 hits 0 accesses 4" in done.stdout


def test_bodies_that_are_made_first_and_launched_in_turn(tmp_path: Path) -> None:
    source = tmp_path / "bodies.cu"
    source.write_text(
        """
        #include <cstdio>
        #include <cuda_runtime.h>
        #include <proteus/JitInterface.h>
        template <typename F> __attribute__((annotate("jit"))) __global__ void each(int n, F f) {
          if (threadIdx.x < n) f(threadIdx.x);
        }
        template <typename F> void forAll(int n, F&& f) {
          proteus::register_lambda(f);
          each<<<1, 32>>>(n, f);
          cudaDeviceSynchronize();
        }
        int main(int count, char**) {
          double* x;
          cudaMallocManaged(&x, 32 * sizeof(double));
          for (int i = 0; i < 32; ++i) x[i] = i;
          double step = 0.5 * count;
          int rounds = 3 * count;
          auto add = [=, step = proteus::jit_variable(step)] __device__(int i) { x[i] += step; };
          auto repeat = [=, rounds = proteus::jit_variable(rounds)] __device__(int i) {
            for (int r = 0; r < rounds; ++r) x[i] += r;
          };
          for (int time = 0; time < 2; ++time) { forAll(32, add); forAll(32, repeat); }
          std::printf("= end\\nx %g\\n", x[10]);
        }
        """
    )
    compiled("-x", "cuda", source, "-o", tmp_path / "bodies", "-lcudart")
    done = run(tmp_path / "bodies", tmp_path)
    values = [line for line in done.stdout.splitlines() if line.startswith(BEGIN)]
    assert values == [f"{BEGIN}0 with double 5.000000e-01", f"{BEGIN}0 with i32 3"]
    assert "x 17" in done.stdout
    assert "MemoryCache rank 0 hits 2 accesses 4" in done.stdout
