"""Memory a kernel reaches without naming it is recorded too."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from conftest import BUILD, ROOT, instances, mneme, records, run_command

from mneme import _native

PROGRAMS = ROOT / "tests" / "apps" / "gpu_record"
UNITS = ("reach_units", "reach_units_table")
HIP_NAMES = ROOT / "tests" / "apps" / "hip_api"
CUDA = ("--offload-arch=sm_90",)
HIP = ("-x", "hip", "--offload-arch=gfx90a", f"-I{HIP_NAMES}")

MAIN = """
#include <cstdio>
#include <cuda_runtime.h>
{code}
static int* out;
static int result() {{
  int first = -1;
  cudaMemcpy(&first, out, sizeof first, cudaMemcpyDefault);
  return first;
}}
int main() {{
  cudaMalloc(&out, 4096);
  cudaMemset(out, 0, 4096);
  {body}
  std::printf("%d %s\\n", result(), cudaGetErrorName(cudaGetLastError()));
}}
"""

# What is declared, what main() does, and what the program prints.
CASES = {
    "a variable behind a pointer argument": (
        """__device__ int table[100];
        __global__ void read(const int* from, int* out) { out[0] = from[99] + 1; }""",
        """int host[100] = {};
        host[99] = 41;
        void* address;
        cudaMemcpyToSymbol(table, host, sizeof host);
        cudaGetSymbolAddress(&address, table);
        read<<<1, 1>>>(static_cast<const int*>(address), out);""",
        42,
    ),
    "a variable behind a pointer with an initial value": (
        """static __device__ int table[8] = {1, 2, 3, 4};
        __device__ int* place = table + 2;
        static __device__ int** top = &place;
        __global__ void step(int* out) { (*top)[1] += 5; out[0] = (*top)[1]; }""",
        "step<<<1, 1>>>(out);",
        9,
    ),
    "a static variable of a function, behind a pointer that another kernel left": (
        """__device__ int* place;
        __global__ void leave() { static __device__ int count; place = &count; count = 10; }
        __global__ void take(int* out) { *place += 3; out[0] = *place; }""",
        "leave<<<1, 1>>>(); take<<<1, 1>>>(out);",
        13,
    ),
    "variables behind a constant structure": (
        """struct Params { int* table; const int* weights; };
        __constant__ Params params;
        __constant__ int weights[4];
        namespace { __device__ int hidden[40]; }
        template <typename T> struct Holder { static __device__ T values[8]; };
        template <typename T> __device__ T Holder<T>::values[8];
        __global__ void where(int** out) { hidden[3] = 5; out[0] = hidden; }
        __global__ void use(int* out) { params.table[3] += params.weights[2]; out[0] = params.table[3]; }""",
        """int few[4] = {1, 2, 30, 4};
        Params host;
        void* address;
        cudaMemcpyToSymbol(weights, few, sizeof few);
        cudaGetSymbolAddress(&address, weights);
        host.weights = static_cast<const int*>(address);
        where<<<1, 1>>>(reinterpret_cast<int**>(out));
        cudaMemcpy(&host.table, out, sizeof host.table, cudaMemcpyDefault);
        cudaMemcpyToSymbol(params, &host, sizeof host);
        use<<<1, 1>>>(out);""",
        35,
    ),
    "memory on the stack behind pinned memory behind managed memory": (
        """__global__ void use(int*** table, int* out) { out[0] = table[0][1][2]++ + 1; }""",
        """alignas(64) int row[1000];
        for (int i = 0; i < 1000; ++i) row[i] = i;
        cudaHostRegister(row, sizeof row, 0);
        int*** managed;
        int** pinned;
        cudaMallocManaged(&managed, 64);
        cudaHostAlloc(&pinned, 64, cudaHostAllocPortable);
        pinned[1] = row + 7;
        managed[0] = pinned;
        use<<<1, 1>>>(managed, out);
        cudaDeviceSynchronize();
        cudaHostUnregister(row);""",
        10,
    ),
}


def compile_program(output: Path, *arguments: str | Path) -> None:
    flags = {key: mneme("config", key).stdout.split() for key in ("cxx", "cflags", "ldflags")}
    done = run_command(
        *flags["cxx"], "-O2", "-w", "-std=c++20", *flags["cflags"], *arguments, "-o", output,
        *([] if "-c" in arguments else flags["ldflags"]),
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


def check_replays(program: Path, tmp_path: Path) -> str:
    """Every launch of a program replays exactly, optimised or not; returns what it printed."""
    alone = mneme("run", "--device", "cpu", "--", program)
    done = mneme("record", "-rdb", tmp_path / "db", "--device", "cpu", "--", program)
    assert (done.returncode, done.stdout) == (alone.returncode, alone.stdout), done.stderr
    launches = [(path, launch) for path in records(tmp_path / "db") for launch in instances(path)]
    assert launches
    for record, launch in launches:
        with closing(_native.ReplaySession(str(record), launch, "cpu")) as session:
            recorded: dict[str, Any] = json.loads(session.recorded())
            for passes in ("default<O3>", "default<O0>"):
                configuration = json.dumps({**recorded, "passes": passes})
                text, _, _ = session.run(configuration, '{"iterations": 1, "warmup": 0}')
                result = json.loads(text)
                assert result["result_class"] == "exact", (record.name, passes, result)
    return done.stdout


@pytest.mark.parametrize("case", CASES)
def test_what_pointers_lead_to_is_there_at_replay(case: str, tmp_path: Path) -> None:
    code, body, expected = CASES[case]
    (tmp_path / "app.cu").write_text(MAIN.format(code=code, body=body))
    compile_program(tmp_path / "app", *CUDA, tmp_path / "app.cu", "-lcudart")
    assert check_replays(tmp_path / "app", tmp_path) == f"{expected} cudaSuccess\n"


def test_scans_lists_and_tables_of_any_memory(tmp_path: Path) -> None:
    compile_program(tmp_path / "app", *CUDA, PROGRAMS / "reach.cu", "-lcudart")
    assert check_replays(tmp_path / "app", tmp_path).endswith("reach: ok\n")


def test_memory_of_graphs_is_there_at_replay(tmp_path: Path) -> None:
    compile_program(tmp_path / "app", *CUDA, PROGRAMS / "graph_memory.cu", "-lcudart")
    assert check_replays(tmp_path / "app", tmp_path).endswith("graph_memory: ok\n")


def test_variables_of_other_units(tmp_path: Path) -> None:
    for unit in UNITS:
        source = PROGRAMS / f"{unit}.cu"
        compile_program(tmp_path / f"{unit}.o", *CUDA, "-fgpu-rdc", "-c", source)
    objects = [tmp_path / f"{unit}.o" for unit in UNITS]
    linking = (*CUDA, "-fgpu-rdc", "--offload-link")
    compile_program(tmp_path / "app", *linking, *objects, "-lcudart")
    assert check_replays(tmp_path / "app", tmp_path).endswith("reach_units: ok\n")


LIBRARY = """
extern "C" {
__device__ int table[4] = {7, 8, 9, 10};
}
__global__ void fill() { table[3] = 11; }
int* find() {
  fill<<<1, 1>>>();
  void* address = nullptr;
  cudaGetSymbolAddress(&address, table);
  return static_cast<int*>(address);
}
"""


def test_a_library_may_have_a_variable_of_the_same_name(tmp_path: Path) -> None:
    """The program's kernel uses its own, and the library's through a pointer."""
    (tmp_path / "library.cu").write_text("#include <cuda_runtime.h>\n" + LIBRARY)
    code = """extern "C" { __device__ int table[4] = {100, 200, 300, 400}; }
    int* find();
    __global__ void use(int** other, int* out) { out[0] = table[1]++ + (*other)[2]; (*other)[2] += 5; }"""
    body = """int* theirs = find();
    int** other;
    cudaMalloc(&other, sizeof theirs);
    cudaMemcpy(other, &theirs, sizeof theirs, cudaMemcpyDefault);
    use<<<1, 1>>>(other, out);"""
    (tmp_path / "app.cu").write_text(MAIN.format(code=code, body=body))
    library = tmp_path / "libtheirs.so"
    compile_program(
        library, *CUDA, "-fPIC", "-shared", "-Wl,-Bsymbolic", tmp_path / "library.cu", "-lcudart"
    )
    app = ("-lcudart", library, f"-Wl,-rpath,{tmp_path}")
    compile_program(tmp_path / "app", *CUDA, tmp_path / "app.cu", *app)
    assert check_replays(tmp_path / "app", tmp_path) == "209 cudaSuccess\n"


def compile_hip(*arguments: str | Path) -> None:
    """Skip where no HIP is installed."""
    compiler = (BUILD / "bin" / "mneme-cxx", "-O2", "-w", "-std=c++20")
    done = run_command(*compiler, *arguments)
    if "hip/hip_runtime.h' file not found" in done.stderr:
        pytest.skip("no HIP headers: install libamdhip64-dev and rocm-device-libs, or ROCm")
    assert done.returncode == 0, done.stderr


@pytest.mark.hip
def test_hip_scans_lists_and_tables_of_any_memory(tmp_path: Path) -> None:
    compile_hip(*HIP, PROGRAMS / "reach.cu", "-o", tmp_path / "app", "-lamdhip64")
    assert check_replays(tmp_path / "app", tmp_path).endswith("reach: ok\n")


@pytest.mark.hip
def test_hip_memory_of_graphs_is_there_at_replay(tmp_path: Path) -> None:
    compile_hip(*HIP, PROGRAMS / "graph_memory.cu", "-o", tmp_path / "app", "-lamdhip64")
    assert check_replays(tmp_path / "app", tmp_path).endswith("graph_memory: ok\n")


@pytest.mark.hip
def test_hip_variables_of_other_units(tmp_path: Path) -> None:
    objects = [tmp_path / f"{unit}.o" for unit in UNITS]
    for unit, output in zip(UNITS, objects, strict=True):
        compile_hip(*HIP, "-fgpu-rdc", "-c", PROGRAMS / f"{unit}.cu", "-o", output)
    linking = ("--offload-arch=gfx90a", "--hip-link", "-fgpu-rdc")
    compile_hip(*linking, *objects, "-o", tmp_path / "app", "-lamdhip64")
    assert check_replays(tmp_path / "app", tmp_path).endswith("reach_units: ok\n")
