"""mneme-nvcc: builds for nvcc, made by clang; and what is built for where nothing is chosen."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

import pytest
from cmake_parts import (
    HERE,
    ROOT,
    Finished,
    added,
    build,
    recorded_kernels,
    run_command,
    run_here,
)

pytest_plugins = ["cmake_fixtures"]
pytestmark = pytest.mark.compile

SOURCES = HERE / "for_nvcc"
KERNELS = {"fill", "doubledKernel"}


def _nvcc(prefix: Path, *words: str | Path, cwd: Path, **environment: str) -> Finished:
    return run_command(prefix / "bin" / "mneme-nvcc", *words, cwd=cwd, **environment)


def _runs(prefix: Path, program: Path) -> str:
    done = run_here(prefix, "run", "--device", "cpu", "--", program)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_version_is_what_build_systems_look_for(build_tree: Path, tmp_path: Path) -> None:
    done = _nvcc(build_tree, "--version", cwd=tmp_path)
    assert done.stdout.startswith("nvcc: NVIDIA (R) Cuda compiler driver")
    assert re.search(r"release \d+\.\d+, V\d+\.\d+\.\d+", done.stdout)
    assert "sm_80" in _nvcc(build_tree, "--list-gpu-code", cwd=tmp_path).stdout.split()


def test_documents_show_the_table_of_options(build_tree: Path, tmp_path: Path) -> None:
    said = _nvcc(build_tree, "--help", cwd=tmp_path).stdout
    found = re.findall(r"^(-\S+|@file)(?: +\((-\S+)\))?\n {8}(\w+): (.*)$", said, re.MULTILINE)
    assert len(found) > 100
    rows = [
        f"| {', '.join(f'`{name}`' for name in (long, brief) if name)} | {fate} | {text} |"
        for long, brief, fate, text in found
    ]
    page = (ROOT / "docs" / "nvcc.md").read_text()
    assert [line for line in page.splitlines() if line.startswith(("| `-", "| `@"))] == rows


def test_environment_puts_options_before_and_behind(build_tree: Path, tmp_path: Path) -> None:
    done = _nvcc(
        *(build_tree, "-c", "a.cpp"),
        cwd=tmp_path,
        NVCC_PREPEND_FLAGS="--dryrun -DA='b c'",
        NVCC_APPEND_FLAGS="-DD",
    )
    assert done.returncode == 0
    assert "'-DA=b c' -DD" in done.stderr
    assert not (tmp_path / "a.o").exists()


def test_host_code_finds_what_nvcc_declares(build_tree: Path, tmp_path: Path) -> None:
    # No header is included; plain clang knows neither the host's min() nor printf().
    (tmp_path / "a.cu").write_text(
        "__global__ void least(unsigned* out, int n) { *out = min(*out, n); }\n"
        "static __host__ __device__ double most(double a, float b) { return max(a, b); }\n"
        "int main(int argc, char** argv) {\n"
        "  unsigned* out; cudaMallocManaged(&out, 4); *out = 7;\n"
        "  least<<<1, 1>>>(out, 5); cudaDeviceSynchronize();\n"
        '  printf("%u %d %.1f %zu\\n", *out, min(argc, 3), most(1, 2.5f), strlen("four"));\n'
        "}\n"
    )
    done = _nvcc(build_tree, "a.cu", "-o", "app", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert _runs(build_tree, tmp_path / "app") == "5 1 2.5 4\n"


HINTED = """
struct Pair { double a, b; };
template <class T> __global__ void through(const T* from, T* to) {
  const unsigned i = threadIdx.x;
  T value = __ldca(from + i);
  __stcs(to + 4 * i, value); __stcg(to + 4 * i + 1, __ldlu(from + i));
  __stwb(to + 4 * i + 2, value); __stwt(to + 4 * i + 3, value);
}
__global__ void widened(double* to, unsigned long* bits) {
  __stcs(to, 2.5f);
  bits[0] = __ldcg(bits + 1) + __ldcs(bits + 1) + __ldcv(bits + 1);
  to[1] = __tanhf(0.0f) + isnan(to[0]);
}
template <class T> int wrong(T given) {
  T *from, *to; int count = 0;
  cudaMallocManaged(&from, 2 * sizeof(T)); cudaMallocManaged(&to, 8 * sizeof(T));
  memcpy(from, &given, sizeof(T)); memcpy(from + 1, &given, sizeof(T));
  through<<<1, 2>>>(from, to);
  if (cudaDeviceSynchronize() != cudaSuccess) return 8;
  for (int i = 0; i < 8; ++i) count += memcmp(to + i, &given, sizeof(T)) != 0;
  return count;
}
int main() {
  double* to; unsigned long* bits;
  cudaMallocManaged(&to, 16); cudaMallocManaged(&bits, 16); bits[1] = 7;
  widened<<<1, 1>>>(to, bits); cudaDeviceSynchronize();
  float sine, cosine, whole; sincos(0.0f, &sine, &cosine);
  printf("%d %.1f %.1f %lu ", wrong('c') + wrong(short(-3)) + wrong(-3.5f) + wrong(1e300)
      + wrong(make_char4(1, -2, 3, -4)) + wrong(make_float4(1, 2, 3, 4)) + wrong(Pair{1, 2}),
      to[0], to[1], bits[0]);
  printf("%d%d%d%d %.1f %.1f\\n", isnan(sine), isfinite(to[0]), isinf(cosine), signbit(-1.0f),
         modf(cosine, &whole), whole);
}
"""


@pytest.mark.parametrize("language", ["c++11", "c++20"])
def test_functions_that_clang_lacks_are_there(
    language: str, build_tree: Path, tmp_path: Path
) -> None:
    # C++20's headers of the host include <new> before all else.
    (tmp_path / "a.cu").write_text(HINTED)
    done = _nvcc(build_tree, f"-std={language}", "-arch=sm_90", "a.cu", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert _runs(build_tree, tmp_path / "a.out") == "0 2.5 0.0 21 0101 0.0 1.0\n"


@pytest.mark.parametrize("relocatable", ["true", "false"])
def test_device_code_allocates_and_names_nan(
    relocatable: str, build_tree: Path, tmp_path: Path
) -> None:
    # With extended lambdas CUDA's headers include <new> before clang declares malloc() of devices.
    (tmp_path / "a.cu").write_text(
        "__global__ void make(int* out, double* none) {\n"
        '  int* made = new int[2]; made[1] = 7; *out = made[1]; delete[] made; *none = nan("");\n'
        "}\n"
        "int main() {\n"
        "  int* out; double* none; cudaMallocManaged(&out, 4); cudaMallocManaged(&none, 8);\n"
        "  make<<<1, 1>>>(out, none); cudaDeviceSynchronize();\n"
        '  printf("%d %d\\n", *out, *none != *none);\n'
        "}\n"
    )
    done = _nvcc(
        *(build_tree, "--extended-lambda", f"-rdc={relocatable}", "-arch=sm_90", "a.cu"),
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    assert _runs(build_tree, tmp_path / "a.out") == "7 1\n"


def test_nothing_is_said_of_loops_that_stay_loops(build_tree: Path, tmp_path: Path) -> None:
    (tmp_path / "a.cu").write_text(
        "__device__ int some(int);\n"
        "__global__ void sum(int* out, int n) {\n#pragma unroll\n"
        "  for (int i = 0; i < n; ++i) { out[i] = some(i); if (out[i] > 3) return; }\n}\n"
    )
    done = _nvcc(build_tree, "-c", "-rdc=true", "-arch=sm_90", "a.cu", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")


def test_kernels_that_launch_kernels_are_linked(build_tree: Path, tmp_path: Path) -> None:
    (tmp_path / "a.cu").write_text(
        "__global__ void inner() {}\n__global__ void outer() { inner<<<1, 1>>>(); }\n"
        "int main() { outer<<<1, 1>>>(); return cudaGetLastError() != cudaErrorNotSupported; }\n"
    )
    done = _nvcc(build_tree, "-rdc=true", "-arch=sm_90", "a.cu", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    ran = run_here(build_tree, "run", "--device", "cpu", "--", tmp_path / "a.out")
    assert ran.returncode == 0
    assert "launches kernels by itself, which the CPU device cannot do" in ran.stderr


def test_makefile_for_nvcc(build_tree: Path, tmp_path: Path) -> None:
    command = ("make", "-f", SOURCES / "Makefile", f"SOURCE={SOURCES}")
    compiler = build_tree / "bin" / "mneme-nvcc"
    done = run_command(*command, f"NVCC={compiler}", cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    for program in ("whole", "relocatable", "archived"):
        assert _runs(build_tree, tmp_path / program) == "42 PASSED\n"
    assert recorded_kernels(build_tree, tmp_path / "whole", tmp_path / "db") == KERNELS


@pytest.mark.parametrize("separable", ["ON", "OFF"])
def test_cmake_takes_it_for_nvcc(separable: str, build_tree: Path, tmp_path: Path) -> None:
    compiler = build_tree / "bin" / "mneme-nvcc"
    for name in ("main.cu", "doubled.cu", "said.c"):
        shutil.copy(SOURCES / name, tmp_path)
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.25)\nproject(app LANGUAGES C CUDA)\n"
        "if(NOT CMAKE_CUDA_COMPILER_ID STREQUAL NVIDIA)\n"
        '  message(FATAL_ERROR "${CMAKE_CUDA_COMPILER_ID}")\nendif()\n'
        "find_package(CUDAToolkit REQUIRED)\n"
        "add_executable(app main.cu doubled.cu said.c)\n"
        "target_compile_options(app PRIVATE\n"
        '  "$<$<COMPILE_LANG_AND_ID:CUDA,NVIDIA>:--extended-lambda;-Xcudafe=--display_error_number>")\n'
        f"set_target_properties(app PROPERTIES CUDA_SEPARABLE_COMPILATION {separable}\n"
        "  CUDA_STANDARD 17)\n"
        f"target_compile_definitions(app PRIVATE WHOLE_{separable})\n"
        "target_link_libraries(app PRIVATE CUDA::cudart)\n"
    )
    configured = run_command(
        *("cmake", "-S", tmp_path, "-B", tmp_path / "b", "-G", "Ninja"),
        CUDACXX=str(compiler),
        MNEME_BUILD_DIR="",
    )
    assert configured.returncode == 0, configured.words
    build(tmp_path / "b")
    assert _runs(build_tree, tmp_path / "b" / "app") == "42 PASSED\n"
    assert recorded_kernels(build_tree, tmp_path / "b" / "app", tmp_path / "db") == KERNELS


def test_images_alone(build_tree: Path, tmp_path: Path) -> None:
    unit = SOURCES / "doubled.cu"
    for form, begins in (("ptx", b"//"), ("cubin", b"\x7fELF"), ("fatbin", b"\x50\xed\x55\xba")):
        done = _nvcc(build_tree, f"-{form}", "-arch=sm_90", unit, cwd=tmp_path)
        assert (done.returncode, done.stderr) == (0, "")
        assert (tmp_path / f"doubled.{form}").read_bytes().startswith(begins)
    done = _nvcc(build_tree, "-cubin", "-arch=sm_90", "doubled.ptx", "-o", "2.cubin", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / "2.cubin").stat().st_size > 0


def test_what_clang_cannot_do_names_clang(build_tree: Path, tmp_path: Path) -> None:
    done = _nvcc(build_tree, "-optix-ir", "a.cu", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (
        1,
        "mneme-nvcc: clang writes no OptiX IR: '-optix-ir'\n",
    )


@pytest.mark.parametrize("is_in_bytes", [False, True])
def test_objects_in_shared_memory_live_in_bytes(
    build_tree: Path, tmp_path: Path, *, is_in_bytes: bool
) -> None:
    """As docs/nvcc.md says: clang refuses a variable that has a constructor."""
    declared = "__shared__ Total total;"
    if is_in_bytes:
        declared = (
            "__shared__ alignas(Total) unsigned char bytes[sizeof(Total)];\n"
            "  Total& total = *reinterpret_cast<Total*>(bytes);"
        )
    (tmp_path / "a.cu").write_text(
        "#include <cstdio>\nstruct Total { int value; __device__ Total() : value(9) {} };\n"
        f"__global__ void sum(int* out) {{\n  {declared}\n"
        "  if (threadIdx.x == 0) total.value = 0;\n  __syncthreads();\n"
        "  atomicAdd(&total.value, 1);\n  __syncthreads();\n  *out = total.value;\n}\n"
        "int main() { int* p; cudaMallocManaged(&p, 4); sum<<<1, 64>>>(p);\n"
        '  cudaDeviceSynchronize(); printf("%d\\n", *p); }\n'
    )
    done = _nvcc(build_tree, "-arch=sm_90", "a.cu", cwd=tmp_path)
    if is_in_bytes:
        assert done.returncode == 0, done.stderr
        assert _runs(build_tree, tmp_path / "a.out") == "64\n"
    else:
        assert done.returncode != 0
        assert "initialization is not supported for __shared__ variables" in done.stderr


@pytest.mark.skipif(not shutil.which("mpicxx"), reason="MPI is not installed")
def test_mpi_compiler_for_the_host_lends_its_directories(build_tree: Path, tmp_path: Path) -> None:
    done = _nvcc(build_tree, "--dryrun", "-ccbin=mpicxx", "-c", "a.cu", cwd=tmp_path)
    assert re.search(r" -I\S*(mpi|/usr)", done.stderr)


# What is built for where nothing is chosen.


def _management_library(folder: Path, *capabilities: int) -> dict[str, str]:
    """A stand-in for NVIDIA's management library, which has GPUs of these compute capabilities."""
    numbers = ", ".join(map(str, capabilities)) or "0"
    (folder / "nvml.c").write_text(
        f"static int gpus[] = {{{numbers}}};\n"
        "int nvmlInit_v2(void) { return 0; }\nint nvmlShutdown(void) { return 0; }\n"
        f"int nvmlDeviceGetCount_v2(unsigned* n) {{ *n = {len(capabilities)}; return 0; }}\n"
        "int nvmlDeviceGetHandleByIndex_v2(unsigned i, void** h) { *h = gpus + i; return 0; }\n"
        "int nvmlDeviceGetCudaComputeCapability(void* h, int* a, int* b) {\n"
        "  *a = *(int*)h / 10; *b = *(int*)h % 10; return 0;\n}\n"
    )
    done = run_command(
        *("cc", "-shared", "-fPIC", folder / "nvml.c", "-o", folder / "libnvidia-ml.so.1")
    )
    assert done.returncode == 0, done.stderr
    before = os.environ.get("LD_LIBRARY_PATH", "")
    return {"LD_LIBRARY_PATH": f"{folder}:{before}".rstrip(":"), "CUDAARCHS": ""}


def test_the_gpus_at_hand_are_built_for(
    build_tree: Path, told: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in _management_library(tmp_path, 90, 80, 90).items():
        monkeypatch.setenv(name, value)
    options = [
        one for one in added(build_tree, told, "-c", "a.cu") if "arch" in one or "ptx" in one
    ]
    assert options == [
        *("--offload-arch=sm_80", "--offload-arch=sm_90", "--no-cuda-include-ptx=all"),
    ]
    native = _nvcc(build_tree, "--dryrun", "-arch=native", "-c", "a.cu", cwd=tmp_path)
    assert "--offload-arch=sm_80 --offload-arch=sm_90 --no-cuda" in native.stderr
    arguments = run_here(build_tree, "config", "cmake-args").stdout
    assert "-DCMAKE_CUDA_ARCHITECTURES=80-real;90-real " in arguments
    monkeypatch.setenv("CUDAARCHS", "86")
    assert "--offload-arch=sm_86" in added(build_tree, told, "-c", "a.cu")


def test_without_a_gpu_every_recent_one_is_served(
    build_tree: Path, tmp_path: Path, told: Path
) -> None:
    nothing = _management_library(tmp_path)
    done = run_command(build_tree / "bin" / "mneme-offload-arch", "--tell", **nothing)
    assert re.fullmatch(
        r"built with --offload-arch=sm_80 --offload-arch=sm_90 .*--cuda-include-ptx=sm_90.*, "
        r"as no GPU is at hand\n",
        done.stdout,
    )
    said = run_command(
        *(build_tree / "bin" / "mneme-cxx", "-v", "-c", "a.cu"), MNEME_CLANGXX=str(told), **nothing
    )
    assert said.stderr.startswith("mneme-cxx: built with --offload-arch=sm_80 ")


def test_a_list_that_is_none_is_named(build_tree: Path, tmp_path: Path) -> None:
    done = run_command(build_tree / "bin" / "mneme-cxx", "-c", "a.cu", CUDAARCHS="ampere")
    assert done.returncode == 1
    assert done.stderr.startswith("mneme-offload-arch: CUDAARCHS: 'ampere' is not a list of")


# The runtime, which nvcc links without being asked.


@pytest.mark.parametrize("steps", [1, 2])
def test_runtime_is_linked_without_being_named(
    steps: int, build_tree: Path, tmp_path: Path
) -> None:
    compiler = build_tree / "bin" / "mneme-cxx"
    shutil.copy(HERE / "wrapped" / "first.cu", tmp_path / "a.cu")
    (tmp_path / "main.cpp").write_text("int main() {}\n")
    inputs = ["a.cu"]
    if steps == 2:
        done = run_command(compiler, f"-I{HERE}", "-fPIC", "-c", "a.cu", "-o", "a.o", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        inputs = ["a.o"]
    done = run_command(
        compiler, f"-I{HERE}", "-shared", "-fPIC", *inputs, "-o", "a.so", cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    assert "libcudart.so" in run_command("ldd", tmp_path / "a.so").stdout
    done = run_command(compiler, "main.cpp", "-o", "plain", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "cudart" not in run_command("ldd", tmp_path / "plain").stdout


@pytest.mark.parametrize("given", [["-lcudart_static"], ["-l", "cudart"], ["/x/libcudart.so"]])
def test_runtime_that_is_named_is_the_only_one(
    given: list[str], build_tree: Path, told: Path
) -> None:
    assert "-lcudart" not in added(build_tree, told, "a.cu", *given)
