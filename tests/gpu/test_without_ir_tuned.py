"""Tuned kernels without IR in programs that nvcc and CuPy made, whose code they load themselves.

MNEME_TEST_TORCH_PYTHON names a Python that has CuPy, too; else it is python3.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from gpu import support
from gpu.support import mneme, records, run_command, without_ir
from mneme.devices import device_limits

PYTHON = os.environ.get("MNEME_TEST_TORCH_PYTHON", "python3")
FORMS = {"cubin": ("-cubin",), "ptx": ("-ptx",), "fatbin": ("-fatbin",)}
WITHOUT_VARIABLE = without_ir.KERNEL.replace("__device__ double bias = 0.5;", "").replace(
    "+ bias", "+ 2.5"
)
PROGRAM = """
#include <cstdio>
__global__ void scale(float* out, const float* in, int count) {
  const int at = blockIdx.x * blockDim.x + threadIdx.x;
  if (at < count)
    out[at] = 2 * in[at];
}
int main() {
  const int count = 1000;
  float values[count], *in = nullptr, *out = nullptr;
  for (int i = 0; i < count; ++i)
    values[i] = i;
  cudaMalloc(&in, sizeof values);
  cudaMalloc(&out, sizeof values);
  cudaMemcpy(in, values, sizeof values, cudaMemcpyHostToDevice);
  for (int time = 0; time < 3; ++time)
    scale<<<8, 128>>>(out, in, count - time / 2);
  cudaMemcpy(values, out, sizeof values, cudaMemcpyDeviceToHost);
  double sum = 0;
  for (const float value : values)
    sum += value;
  std::printf("%.1f\\n", sum);
  return cudaGetLastError();
}
"""
GRAPH = (
    f"""
#include <cstdlib>
{PROGRAM.partition("  for (int time")[0]}"""
    """
  cudaStream_t stream;
  cudaGraph_t graph, other;
  cudaGraphExec_t exec;
  cudaGraphNode_t node;
  size_t one = 1;
  cudaStreamCreate(&stream);
  const auto captured = [&](int number) {
    cudaGraph_t made;
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
    scale<<<8, 128, 0, stream>>>(out, in, number);
    cudaStreamEndCapture(stream, &made);
    return made;
  };
  const auto run = [&](const char* what) {
    cudaMemset(out, 0, sizeof values);
    cudaGraphLaunch(exec, stream);
    cudaStreamSynchronize(stream);
    cudaMemcpy(values, out, sizeof values, cudaMemcpyDeviceToHost);
    double sum = 0;
    for (const float value : values)
      sum += value;
    cudaKernelNodeParams params{};
    cudaGraphKernelNodeGetParams(node, &params);
    std::printf("%s: %.1f by <<<%u, %u>>>(%d)\\n", what, sum, params.gridDim.x, params.blockDim.x,
                *static_cast<int*>(params.kernelParams[2]));
  };
  graph = captured(count);
  other = captured(count);
  cudaGraphGetNodes(graph, &node, &one);
  cudaGraphInstantiateWithFlags(&exec, graph, 0);
  run("made");
  cudaGraphExecUpdateResultInfo info;
  if (cudaGraphExecUpdate(exec, other, &info) != cudaSuccess)
    std::abort();
  run("updated by another graph");
  cudaKernelNodeParams params{};
  cudaGraphKernelNodeGetParams(node, &params);
  int fewer = count - 1;
  void* arguments[] = {&out, &in, &fewer};
  params.kernelParams = arguments;
  if (cudaGraphKernelNodeSetParams(node, &params) != cudaSuccess ||
      cudaGraphExecUpdate(exec, graph, &info) != cudaSuccess)
    std::abort();
  run("updated to fewer");
  --fewer;
  if (cudaGraphExecKernelNodeSetParams(exec, node, &params) != cudaSuccess)
    std::abort();
  run("set");
  return cudaDeviceSynchronize();
}
"""
)
CUPY = """
import cupy
kernel = cupy.RawKernel(r'''
extern "C" __global__ void scale(float* out, const float* in, int count) {
  const int at = blockIdx.x * blockDim.x + threadIdx.x;
  if (at < count)
    out[at] = 2 * in[at];
}''', "scale")
values, out = cupy.arange(1000, dtype=cupy.float32), cupy.zeros(1000, dtype=cupy.float32)
for count in (1000, 1000, 999):
    kernel((8,), (128,), (out, values, cupy.int32(count)))
print(float(out.sum()))
"""

pytestmark = support.BY_NVCC


def _target() -> str:
    target: str = device_limits(support.DEVICE).target
    return target


def _nvcc(*arguments: str | Path) -> None:
    done = run_command("nvcc", *arguments)
    assert done.returncode == 0, done.stderr


def _tuned(folder: Path, recording: Path, **how: Any) -> Path:
    """A file that tunes the recorded launch that was made twice."""
    (record,) = (one for one in records(recording) if "scale" in one.read_text())
    instances = json.loads(record.read_text())["instances"]
    (chosen,) = (key for key, one in instances.items() if one["Occurrences"] == 2)
    tuned: Path = without_ir.write_tuned(folder / "tuned.json", record, chosen, _target(), **how)
    return tuned


def _run(tuned: Path, program: str | Path, *arguments: str | Path) -> Any:
    traced = {"PROTEUS_TUNED_KERNELS": str(tuned), "PROTEUS_TRACE_OUTPUT": "kernel-trace"}
    return mneme("run", "--device", support.DEVICE, "--", program, *arguments, **traced)


def _traced(stderr: str) -> list[str]:
    """What became of the launches of the kernel, each kind once."""
    lines = [line for line in stderr.splitlines() if "[kernel-trace] scale" in line]
    return [line.partition("on device 0: ")[2] for line in lines]


TUNED = ["variant 0, fits this launch, launched <<<16x1x1, 64x1x1>>>", "runs as built"]


@pytest.fixture(scope="module")
def loader(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program of the driver alone, which loads what it is given."""
    program: Path = tmp_path_factory.mktemp("loader") / "loader"
    _nvcc("-cudart", "none", without_ir.LOADER, "-o", program, "-lcuda")
    return program


def _recorded(folder: Path, loader: Path, kernel: str, form: str, *more: str) -> Path:
    """Make an image, and a recording of a program that loads it; returns the image."""
    source, image = folder / "kernel.cu", folder / f"kernel.{form}"
    source.write_text(kernel)
    _nvcc("-O3", f"-arch={_target()}", *FORMS[form], source, "-o", image)
    done = support.record(folder / "db", loader, str(image), *more)
    assert (done.returncode, done.stdout) == (0, without_ir.SUMS), done.stderr
    return image


@pytest.mark.parametrize("form", list(FORMS))
def test_code_that_the_driver_loads_is_launched_as_tuned(
    form: str, loader: Path, tmp_path: Path
) -> None:
    image = _recorded(tmp_path, loader, without_ir.KERNEL, form)
    done = _run(_tuned(tmp_path, tmp_path / "db", rule="exact"), loader, image)
    assert (done.returncode, done.stdout) == (0, without_ir.SUMS), done.stderr
    assert _traced(done.stderr) == TUNED, done.stderr


def test_ptx_gets_a_limit_of_registers(loader: Path, tmp_path: Path) -> None:
    image = _recorded(tmp_path, loader, WITHOUT_VARIABLE, "ptx", "plain")
    done = _run(_tuned(tmp_path, tmp_path / "db", max_registers=24), loader, image, "plain")
    assert (done.returncode, done.stdout) == (0, without_ir.SUMS), done.stderr
    assert _traced(done.stderr) == [
        "variant 0, fits this launch",
        "variant 0, nearest to this launch",
    ], done.stderr


@pytest.mark.parametrize("form", list(FORMS))
def test_code_of_any_form_gets_another_carve_out(form: str, loader: Path, tmp_path: Path) -> None:
    image = _recorded(tmp_path, loader, WITHOUT_VARIABLE, form, "plain")
    done = _run(_tuned(tmp_path, tmp_path / "db", shared_carveout=50), loader, image, "plain")
    assert (done.returncode, done.stdout) == (0, without_ir.SUMS), done.stderr
    assert _traced(done.stderr) == [
        "variant 0, fits this launch",
        "variant 0, nearest to this launch",
    ], done.stderr


def test_ptx_gets_launch_bounds(loader: Path, tmp_path: Path) -> None:
    image = _recorded(tmp_path, loader, WITHOUT_VARIABLE, "ptx", "plain")
    how = {"set_launch_bounds": True, "max_threads": 64, "min_blocks_per_sm": 8}
    done = _run(_tuned(tmp_path, tmp_path / "db", rule="exact", **how), loader, image, "plain")
    assert (done.returncode, done.stdout) == (0, without_ir.SUMS), done.stderr
    # The other launch keeps its block of 128 threads, and so its code.
    assert _traced(done.stderr) == TUNED, done.stderr


def test_ptx_runs_as_ptxas_made_it_by_its_levels_and_options(loader: Path, tmp_path: Path) -> None:
    image = _recorded(tmp_path, loader, WITHOUT_VARIABLE, "ptx", "plain")
    how = {"codegen_opt": 1, "assembler_options": "--fmad=false", "max_registers": 24}
    tuned = _tuned(tmp_path, tmp_path / "db", rule="exact", **how)
    (variant,) = json.loads(tuned.read_text())["scale"]["Mneme"]["Variants"]
    assert bytes.fromhex(variant["Cubin"])[:4] == b"\x7fELF"
    done = _run(tuned, loader, image, "plain")
    assert (done.returncode, done.stdout) == (0, without_ir.SUMS), done.stderr
    assert _traced(done.stderr) == [
        "variant 0, fits this launch, launched <<<16x1x1, 64x1x1>>>",
        "variant 0, nearest to this launch",
    ], done.stderr


def test_options_of_the_program_for_its_driver_are_recorded_and_kept(
    loader: Path, tmp_path: Path
) -> None:
    image = _recorded(tmp_path, loader, WITHOUT_VARIABLE, "ptx", "options")
    (code,) = (tmp_path / "db").glob("RecordedCode_*.ptx")
    line, _, rest = code.read_bytes().partition(b"\n")
    assert line == b"// options of the driver's compiler: 0=24 7=1"
    assert image.read_bytes().startswith(rest.rstrip(b"\0"))
    for record, record_id in support.launches(tmp_path / "db"):
        done = support.replay(record, record_id)
        assert done.result["result_class"] == "exact", done.stderr
        assert 0 < done.result["reg_usage"] <= 24
    tuned = _tuned(tmp_path, tmp_path / "db", rule="exact", max_registers=32)
    done = _run(tuned, loader, image, "options")
    assert (done.returncode, done.stdout) == (0, without_ir.SUMS), done.stderr
    assert _traced(done.stderr)[0] == "variant 0, fits this launch, launched <<<16x1x1, 64x1x1>>>"
    done = _run(tuned, loader, image, "plain")  # other options are other code
    assert "tuned kernel 'scale' was not used" in done.stderr


def test_variables_keep_the_programs_own_code(loader: Path, tmp_path: Path) -> None:
    image = _recorded(tmp_path, loader, without_ir.KERNEL, "ptx")
    tuned = _tuned(tmp_path, tmp_path / "db", rule="exact", max_registers=24)
    done = _run(tuned, loader, image)
    assert (done.returncode, done.stdout) == (0, without_ir.SUMS), done.stderr
    assert set(_traced(done.stderr)) == {"runs as built"}
    assert "its code has device variables" in done.stderr


@pytest.mark.parametrize("runtime", ["static", "shared"])
def test_programs_of_nvcc_are_launched_as_tuned(runtime: str, tmp_path: Path) -> None:
    source, program = tmp_path / "program.cu", tmp_path / "program"
    source.write_text(PROGRAM)
    _nvcc("-O3", f"-arch={_target()}", "-cudart", runtime, source, "-o", program)
    alone = support.run(program)
    assert (alone.returncode, alone.stdout) == (0, "999000.0\n"), alone.stderr
    done = support.record(tmp_path / "db", program)
    assert (done.returncode, done.stdout) == (0, alone.stdout), done.stderr
    done = _run(_tuned(tmp_path, tmp_path / "db", rule="exact"), program)
    assert (done.returncode, done.stdout) == (0, alone.stdout), done.stderr
    assert _traced(done.stderr) == TUNED, done.stderr


@pytest.mark.parametrize("runtime", ["static", "shared"])
def test_kernels_of_nvcc_in_graphs_are_launched_as_tuned(runtime: str, tmp_path: Path) -> None:
    source, program = tmp_path / "program.cu", tmp_path / "program"
    source.write_text(GRAPH)
    _nvcc("-O3", "-std=c++17", f"-arch={_target()}", "-cudart", runtime, source, "-o", program)
    alone = support.run(program)
    assert alone.returncode == 0, alone.stderr
    assert "made: 999000.0 by <<<8, 128>>>(1000)" in alone.stdout
    done = support.record(tmp_path / "db", program)
    assert (done.returncode, done.stdout) == (0, alone.stdout), done.stderr
    done = _run(_tuned(tmp_path, tmp_path / "db", rule="exact"), program)
    assert (done.returncode, done.stdout) == (0, alone.stdout), done.stderr
    # A graph that was updated to fewer runs as built, as its kernel does that the program sets. The
    # driver takes no node of another graph, though its kernel is launched as tuned.
    assert _traced(done.stderr) == TUNED, done.stderr
    assert "does not take it into a graph" not in done.stderr


def test_what_a_search_found_is_deployed(loader: Path, tmp_path: Path) -> None:
    image = _recorded(tmp_path, loader, without_ir.KERNEL, "cubin")
    results, tuned = tmp_path / "results", tmp_path / "tuned.json"
    searched = ("--device", support.DEVICE, "--trials", "6", "--results-dir", results)
    done = mneme("tune", tmp_path / "db", "scale@1", *searched, timeout=300)
    assert done.returncode == 0, done.stderr
    assert "'mneme deploy --launch' writes" in done.stderr
    done = mneme("deploy", results, "--launch", "-o", tuned)
    assert "without IR" not in done.stderr
    if done.returncode == 0:  # something was faster
        done = _run(tuned, loader, image)
        assert (done.returncode, done.stdout) == (0, without_ir.SUMS), done.stderr
        assert "variant 0, fits this launch, launched" in done.stderr


def test_levels_of_ptxas_that_a_search_found_are_deployed(loader: Path, tmp_path: Path) -> None:
    image = _recorded(tmp_path, loader, WITHOUT_VARIABLE, "ptx", "plain")
    results, tuned = tmp_path / "results", tmp_path / "tuned.json"
    searched = ("--device", support.DEVICE, "--trials", "8", "--results-dir", results)
    level = ("--fixed-codegen-opt", "2", "--launch-dim", "none")
    done = mneme("tune", tmp_path / "db", "scale@1", *searched, *level, timeout=300)
    assert done.returncode == 0, done.stderr
    done = mneme("deploy", results, "--launch", "-o", tuned)
    assert "are not deployed" not in done.stderr
    if done.returncode == 0:  # something was faster
        (variant,) = json.loads(tuned.read_text())["scale"]["Mneme"]["Variants"]
        assert "Cubin" in variant
        done = _run(tuned, loader, image, "plain")
        assert (done.returncode, done.stdout) == (0, without_ir.SUMS), done.stderr
        assert "variant 0, fits this launch" in done.stderr


def test_a_kernel_of_cupy_is_launched_as_tuned(tmp_path: Path) -> None:
    if run_command(PYTHON, "-c", "import cupy; cupy.arange(3).sum()").returncode != 0:
        pytest.skip("CuPy is not there")
    script = tmp_path / "script.py"
    script.write_text(CUPY)
    command = (Path(PYTHON), str(script))
    alone = support.run(*command, CUPY_CACHE_DIR=str(tmp_path / "cache"))
    assert alone.returncode == 0, alone.stderr
    done = mneme(
        *("record", "-rdb", tmp_path / "db", "--kernels", "scale", "--device", support.DEVICE),
        *("--", *command),
        CUPY_CACHE_DIR=str(tmp_path / "cache"),
    )
    assert (done.returncode, done.stdout) == (0, alone.stdout), done.stderr
    done = mneme(
        *("run", "--device", support.DEVICE, "--", *command),
        CUPY_CACHE_DIR=str(tmp_path / "cache"),
        PROTEUS_TUNED_KERNELS=str(_tuned(tmp_path, tmp_path / "db", rule="exact")),
        PROTEUS_TRACE_OUTPUT="kernel-trace",
    )
    assert (done.returncode, done.stdout) == (0, alone.stdout), done.stderr
    assert _traced(done.stderr) == TUNED, done.stderr
