"""Programs of the CUDA driver API on the CPU device: linked by the wrapper, run, recorded."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest
from conftest import BUILD, Finished, mneme, records, replay_all, run_command

from mneme.install import paths as _paths

APPS = BUILD / "tests" / "apps" / "api"
DRIVER = BUILD / "lib" / "libmneme_cuda_driver.so"
WRAPPER = BUILD / "bin" / "mneme-cxx"
HERE = Path(__file__).resolve().parent
KERNEL = """
__device__ int offset = 30;
extern "C" __global__ void add(int* numbers, int count, int argument) {
  int at = blockIdx.x * blockDim.x + threadIdx.x;
  if (at < count)
    numbers[at] += argument + offset;
}
"""

pytestmark = [
    pytest.mark.compile,
    pytest.mark.skipif(
        not (APPS / "driver").is_file(), reason="tests/apps/api is not built: no CUDA toolkit"
    ),
]


def _toolkit() -> Path:
    asked = run_command(BUILD / "bin" / "nvcc", "-", "__cmake_determine_cuda").stdout
    return Path(re.findall(r"TOP=(.*)", asked)[0])


def test_program_is_recorded_and_replayed_exactly(tmp_path: Path) -> None:
    program = APPS / "driver"
    assert "libcuda.so.1" in run_command("readelf", "-d", program).stdout
    done = mneme("record", "-rdb", tmp_path, "--device", "cpu", "--", program)
    assert (done.returncode, done.stdout) == (0, "driver: ok\n"), done.stderr
    (record,) = records(tmp_path)
    assert json.loads(record.read_text())["DemangledName"].endswith("scale(int const*, int*, int)")
    replayed = replay_all(tmp_path, "default<O3>")
    # Two by the runtime, two by the kernel's handle.
    assert [one.result_class for one in replayed] == ["exact"] * 4


@pytest.fixture(scope="module")
def loader(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program that is linked with -lcuda alone."""
    program = tmp_path_factory.mktemp("loader") / "loader"
    linked = run_command(
        WRAPPER, HERE / "driver_modules.cpp", "-isystem", _toolkit() / "include", "-o", program,
        "-lcuda",
    )  # fmt: skip
    assert (linked.returncode, linked.stderr) == (0, "")
    return program


def _device_code(folder: Path, name: str, *flags: str, **environment: str) -> Path:
    source = folder / "kernel.cu"
    source.write_text(KERNEL)
    command = (WRAPPER, "-O2", "--offload-arch=sm_90", "--cuda-device-only", *flags, source)
    done = run_command(*command, "-o", folder / name, **environment)
    assert done.returncode == 0, done.stderr
    return folder / name


def _load(loader: Path, code: Path) -> Finished:
    return mneme("run", "--device", "cpu", "--", loader, code)


@pytest.mark.parametrize("flags", [("-c",), ("-S",), ("--emit-fatbin",)])
def test_device_code_that_carries_ir_is_loaded(
    loader: Path, tmp_path: Path, flags: tuple[str, ...]
) -> None:
    if flags == ("--emit-fatbin",):
        cubin = _device_code(tmp_path, "kernel.cubin", "-c")
        code = tmp_path / "kernel.fatbin"
        fatbinary = _toolkit() / "bin" / "fatbinary"
        made = run_command(
            fatbinary, "-64", f"--create={code}", f"--image3=kind=elf,sm=90,file={cubin}"
        )  # fmt: skip
        assert made.returncode == 0, made.stderr
    else:
        code = _device_code(tmp_path, "kernel", *flags)
    done = _load(loader, code)
    assert (done.returncode, done.stdout) == (0, "30 in 4 bytes, 37, 1008, 39\n"), done.stderr
    assert done.stderr == ""


def test_modules_know_nothing_of_one_another(loader: Path, tmp_path: Path) -> None:
    code = _device_code(tmp_path, "kernel.cubin", "-c")
    other = _device_code(tmp_path, "other.cubin", "-c", "-Dadd=other")
    done = mneme("run", "--device", "cpu", "--", loader, code, other)
    assert (done.returncode, done.stdout) == (0, "30 in 4 bytes, 37, 1008, 39\n"), done.stdout


def test_device_code_without_ir_is_refused_with_a_sentence(loader: Path, tmp_path: Path) -> None:
    code = _device_code(tmp_path, "kernel.ptx", "-S", MNEME_INSTRUMENT="0")
    done = _load(loader, code)
    assert done.stdout == "not loaded: 209\n"
    hint = "carries no mneme IR: compile it with mneme-cxx (or -fpass-plugin) to run it on the CPU"
    assert done.stderr.count(hint) == 2


def test_launches_of_modules_are_recorded(loader: Path, tmp_path: Path) -> None:
    code = _device_code(tmp_path, "kernel.cubin", "-c")
    folder = tmp_path / "db"
    done = mneme("record", "-rdb", folder, "--device", "cpu", "--", loader, code)
    assert (done.returncode, done.stdout) == (0, "30 in 4 bytes, 37, 1008, 39\n"), done.stderr
    assert "recorded 3 instances of 1 kernel" in done.stderr  # one of a library
    assert [one.result_class for one in replay_all(folder)] == ["exact"] * 3


def test_function_that_is_not_there_is_named_once() -> None:
    ask = "import ctypes; driver = ctypes.CDLL('libcuda.so.1'); print("
    calls = "driver.cuGreenCtxCreate(), driver.cuGreenCtxCreate())"
    done = mneme("run", "--device", "cpu", "--", sys.executable, "-c", ask + calls)
    assert done.stdout == "801 801\n"
    assert done.stderr == "mneme: cuGreenCtxCreate is not supported on the CPU device\n"


def test_it_is_no_driver_to_mneme_itself() -> None:
    ours = (sys.executable, "-m", "mneme", "devices", "--json")
    done = mneme("run", "--device", "cpu", "--", *ours)
    assert done.returncode == 0, done.stderr
    assert "no NVIDIA driver" in done.stdout
    assert "cuda:0" not in done.stdout
    profiler = "import mneme.profile; print(mneme.profile.init_profiler())"
    assert mneme("run", "--device", "cpu", "--", sys.executable, "-c", profiler).stdout == "False\n"


def test_every_name_of_the_header_is_exported() -> None:
    header = (_toolkit() / "include" / "cuda.h").read_text()
    names = {*re.findall(r"CUDAAPI\s+(cu[A-Z]\w+)\s*\(", header)}
    for function, form in re.findall(
        r"#\s*define\s+cu\w+\s+(?:__CUDA_API_)?(\w+)(\(\w+\))?", header
    ):
        if function in ("PTDS", "PTSZ"):
            names |= {form[1:-1], f"{form[1:-1]}_{function.lower()}"}
        elif function.startswith("cu"):
            names.add(function)
    assert len(names) > 500
    # In a process of its own: what tests load into this one must not answer.
    ask = (
        "import ctypes, sys; driver = ctypes.CDLL(sys.argv[1]); "
        "print([name for name in sys.argv[2:] if not hasattr(driver, name)])"
    )
    done = run_command(sys.executable, "-c", ask, DRIVER, *sorted(names))
    assert (done.returncode, done.stdout) == (0, "[]\n"), done.stderr


def test_program_takes_the_machines_driver_elsewhere(loader: Path) -> None:
    # Nothing that the program looks for by the driver's name lies where it looks.
    assert not list((Path(_paths.prefix()) / "lib").rglob("libcuda.so.1"))
    dynamic = run_command("readelf", "-d", loader).stdout
    assert "libmneme_cuda_driver" not in dynamic
    assert "[libcuda.so.1]" in dynamic


def test_kernels_in_graphs_of_the_driver_are_recorded(tmp_path: Path) -> None:
    program, source = tmp_path / "graph", tmp_path / "graph.cu"
    source.write_text("""#include <cuda.h>
__global__ void nothing() {}
int main() {
  nothing<<<1, 1>>>();
  CUdeviceptr memory = 0;
  CUstream stream = nullptr;
  CUgraph graph = nullptr;
  CUgraphExec exec = nullptr;
  int failed = cuInit(0) + cuMemAlloc(&memory, 64) + cuStreamCreate(&stream, 0);
  failed += cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED);
  failed += cuMemsetD32Async(memory, 1, 16, stream);
  nothing<<<2, 1, 0, stream>>>();
  failed += cuStreamEndCapture(stream, &graph);
  failed += cuGraphInstantiate(&exec, graph, 0) + cuGraphLaunch(exec, stream);
  return failed + cuStreamSynchronize(stream);
}
""")
    flags = ("-O2", "--offload-arch=sm_90", "-lcudart", "-lcuda")
    built = run_command(WRAPPER, source, "-o", program, *flags)
    assert built.returncode == 0, built.stderr
    done = mneme("record", "-rdb", tmp_path / "db", "--device", "cpu", "--", program)
    assert done.returncode == 0, done.stderr
    assert "recorded 2 instances of 1 kernel (2 launches)" in done.stderr
    assert "not recorded" not in done.stderr


def test_what_the_driver_lacks_is_not_in_the_recorder(tmp_path: Path) -> None:
    """A program that asks for a function of newer drivers hears what it hears alone."""
    source, driver = tmp_path / "driver.cpp", tmp_path / "driver.so"
    source.write_text(
        'extern "C" int cuInit() { return 0; }\nextern "C" int cuMemcpy() { return 0; }\n'
    )
    built = run_command(WRAPPER, "-shared", "-fPIC", source, "-o", driver)
    assert built.returncode == 0, built.stderr
    names = ("cuMemcpy", "cuMemAllocAsync", "cuMemcpyBatchAsync")
    ask = f"import ctypes; print([hasattr(ctypes.CDLL(None), name) for name in {names}])"
    preloaded = f"{BUILD / 'lib' / 'librecord.so'}:{driver}"
    done = run_command(
        sys.executable, "-c", ask, LD_PRELOAD=preloaded, MNEME_DATA_DIR=str(tmp_path)
    )
    assert done.stdout == "[True, False, False]\n", done.stderr
