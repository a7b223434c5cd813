"""What people see who look into compilations of marked code: timers, time traces, IR."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest
from conftest import BUILD, Finished, run_command

from mneme import _native
from mneme.programs.kernels import embedded_kernels

SOURCE = """
#include <proteus/JitInterface.h>
__attribute__((annotate("jit", 1))) int times(int n, int m) { return n * m; }
__attribute__((annotate("jit", 1))) __global__ void kernel(int n, int* out) { *out = n; }
int main() {
  int* out;
  cudaMallocManaged(&out, sizeof(int));
  kernel<<<1, 1>>>(5, out);
  cudaDeviceSynchronize();
  return times(2, *out) - 10;
}
"""

pytestmark = [
    pytest.mark.compile,
    pytest.mark.skipif(
        not (BUILD / "tests" / "apps" / "api" / "driver").is_file(), reason="no CUDA toolkit"
    ),
]


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("developers")
    (folder / "p.cu").write_text(SOURCE)
    options = ("-x", "cuda", "--offload-arch=sm_90", "-lcudart")
    done = run_command(
        BUILD / "bin" / "mneme-cxx", *options, folder / "p.cu", "-o", folder / "program"
    )
    assert (done.returncode, done.stderr) == (0, "")
    return folder / "program"


def run(program: Path, folder: Path, monkeypatch: pytest.MonkeyPatch, **wanted: str) -> Finished:
    """Run in a folder, where files are left."""
    monkeypatch.chdir(folder)
    done = run_command(
        sys.executable, "-m", "mneme", "run", "--device", "cpu", "--", program, **wanted
    )
    assert done.returncode == 0, done.stderr
    return done


def test_timers_tell_the_parts_of_each_compilation(
    program: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cold = run(program, tmp_path, monkeypatch, PROTEUS_ENABLE_TIMERS="1")
    lines = cold.stdout.splitlines()
    assert all(re.fullmatch(r"\[proteus\] .+ \d+ ms", line) for line in lines)
    assert [re.sub(r"\[proteus\] (.*) \d+ ms", r"\1", line) for line in lines] == [
        "Parse IR _Z6kerneliPi",
        "getLinkedModule",
        "Cloning cross-clone",
        "Extract kernel module",
        "specializeIR",
        "optimizeIR optlevel 3 codegenopt 3",
        "Codegen ptx",
        "Codegen CUDA RTC",
        "Parse IR _Z5timesii",
        "specializeIR",
        "optimizeIR optlevel 3 codegenopt 3",
    ]
    assert run(program, tmp_path, monkeypatch, PROTEUS_ENABLE_TIMERS="1").stdout == ""


@pytest.mark.parametrize("target", ["cpu", "sm_90"])
def test_each_part_of_a_compilation_has_a_time_of_its_own(program: Path, target: str) -> None:
    ((kernel,),) = embedded_kernels([program]).values()
    compiled = _native.compile_ir(
        [kernel.bitcode], kernel.kernel_name, target=target, use_cache=False
    )
    told = json.loads(compiled["statistics"])
    parts = [told[f"{part}_time"] for part in ("parse", "link", "clone", "extract", "specialize")]
    emitted, assembled = (part["time"] for part in told["codegen_parts"])
    assert min(*parts, emitted) > 0
    assert len({*parts, emitted, assembled}) > len(parts)  # two may take as long by chance
    assert sum(parts) <= told["preprocess_ir_time"]
    assert emitted + assembled <= told["codegen_time"]


def test_time_trace_has_passes_of_all_compilations(
    program: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    switches = {"PROTEUS_ENABLE_TIME_TRACE": "1", "PROTEUS_TIME_TRACE_GRAIN": "1"}
    run(program, tmp_path, monkeypatch, **switches)
    events = json.loads((tmp_path / "out.time-trace").read_text())["traceEvents"]
    names = [event["name"] for event in events]
    assert names.count("optimizeIR") == names.count("specializeIR") == 2
    assert any("InstCombinePass" in name for name in names)
    run(program, tmp_path, monkeypatch, **switches, PROTEUS_TIME_TRACE_FILE="warm.json")
    assert json.loads((tmp_path / "warm.json").read_text())["traceEvents"] == []


def test_debug_output_leaves_ir_of_each_compilation(
    program: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = run(program, tmp_path, monkeypatch, PROTEUS_DEBUG_OUTPUT="1")
    assert done.stdout == ""
    logs = tmp_path / ".proteus-logs"
    assert len(list(logs.glob("proteus.*.log"))) == 1
    inputs, specialized = sorted(logs.glob("*.input.ll")), sorted(logs.glob("*.specialized.ll"))
    assert len(inputs) == len(specialized) == 2
    assert all(
        before.read_text() != after.read_text()
        for before, after in zip(inputs, specialized, strict=True)
    )


def test_what_cannot_be_written_is_said(
    program: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".proteus-logs").touch()
    switches = {"PROTEUS_ENABLE_TIME_TRACE": "1", "PROTEUS_TIME_TRACE_FILE": "nowhere/trace"}
    done = run(program, tmp_path, monkeypatch, PROTEUS_DEBUG_OUTPUT="1", **switches)
    logs, trace = done.stderr.splitlines()
    assert logs.startswith("mneme: what PROTEUS_DEBUG_OUTPUT asks for is not written: ")
    assert ".proteus-logs" in logs
    assert trace.startswith("mneme: the time trace is not written: ")
    assert "nowhere/trace" in trace


def test_unknown_way_to_clone_is_the_default(
    program: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = run(program, tmp_path, monkeypatch, PROTEUS_KERNEL_CLONE="x", PROTEUS_ENABLE_TIMERS="1")
    assert "PROTEUS_KERNEL_CLONE='x' is unknown; cross-clone is used" in done.stderr
    assert "Cloning cross-clone" in done.stdout
