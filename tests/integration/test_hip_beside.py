"""HIP programs under the recorder beside other tools, and in the ways they reach the runtime."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import pytest
from conftest import BUILD, ROOT, mneme, records, run_command
from test_hip import APPS, SOURCES, build, hip  # noqa: F401 - skips where there is no HIP
from test_hip_record import ENVIRONMENT, record, replay_all
from test_hip_stand_in import STAND_IN, on_stand_in, stand_in  # noqa: F401 - skips without it

pytestmark = [pytest.mark.hip, pytest.mark.compile]

WRAPPED = """
#include <hip/hip_runtime.h>
#include <dlfcn.h>
#include <cstdio>
static int calls;
extern "C" hipError_t hipMalloc(void** pointer, size_t bytes) {
  ++calls;
  return reinterpret_cast<hipError_t (*)(void**, size_t)>(dlsym(RTLD_NEXT, "hipMalloc"))(pointer, bytes);
}
__global__ void fill(int* values, int by) { values[threadIdx.x] += by * threadIdx.x; }
int main() {
  int *values = nullptr, host[64];
  if (hipMalloc((void**)&values, sizeof host) || hipMemset(values, 0, sizeof host)) return 1;
  fill<<<1, 64>>>(values, 3);
  if (hipMemcpy(host, values, sizeof host, hipMemcpyDeviceToHost)) return 2;
  std::printf("%d %d\\n", calls, host[63]);
}
"""


def _compile(*arguments: str | Path) -> None:
    done = run_command(BUILD / "bin" / "mneme-cxx", "-O1", *arguments, "-ldl")
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def parts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tool, programs that open things, and what they open."""
    folder = tmp_path_factory.mktemp("parts")
    _compile("-shared", "-fPIC", APPS / "tool.cpp", "-o", folder / "libtool.so")
    _compile(APPS / "opener.cpp", "-o", folder / "opener")
    _compile(APPS / "host.cpp", "-o", folder / "host")
    (folder / "wrapped.hip").write_text(WRAPPED)
    build(folder / "wrapped.hip", "-o", folder / "wrapped", "-lamdhip64", "-ldl")
    build(APPS / "launches.hip", "-o", folder / "launches", "-lamdhip64")
    build("-shared", "-fPIC", APPS / "plugin.hip", "-o", folder / "libplugin.so", "-lamdhip64")
    build("--cuda-device-only", APPS / "module_code.hip", "-o", folder / "one.co")
    return folder


@pytest.mark.parametrize("place", ["in front", "behind"])
def test_a_tool_sees_what_the_program_launches(place: str, parts: Path, tmp_path: Path) -> None:
    tool, program = parts / "libtool.so", parts / "launches"
    plain = on_stand_in(program, LD_PRELOAD=str(tool))
    line = ("record", "-rdb", tmp_path, "-mr", "8", "--device", "hip:0", "--")
    if place == "behind":
        recorded = mneme(*line, program, **ENVIRONMENT, LD_PRELOAD=str(tool))
    else:
        shell = ("sh", "-c", f'LD_PRELOAD="{tool}:$LD_PRELOAD" exec {program}')
        recorded = mneme(*line, *shell, **ENVIRONMENT)
    assert (recorded.stdout, recorded.returncode) == (plain.stdout, 0), recorded.stderr
    assert "tool: 1 launches, 1 of modules" in plain.stderr
    assert "tool: 1 launches, 1 of modules" in recorded.stderr
    assert "recorded 6 instances of 1 kernel" in recorded.stderr
    assert replay_all(tmp_path, "hip:0") == ["exact"] * 6


@pytest.mark.parametrize("how", ["local", "global", "deep"])
@pytest.mark.parametrize(
    "name", ["libamdhip64.so.6", "libamdhip64.so.7", STAND_IN / "libamdhip64.so.5"]
)
def test_a_runtime_that_is_opened_by_name_is_seen(
    how: str, name: str | Path, parts: Path, tmp_path: Path
) -> None:
    program = (parts / "opener", name, how, parts / "one.co")
    recorded = record(tmp_path, *program)
    assert recorded.stdout == on_stand_in(*program).stdout == "0: 33686021 33686021\n"
    assert "recorded 1 instance of 1 kernel" in recorded.stderr
    assert replay_all(tmp_path, "hip:0") == ["exact"]


def test_a_runtime_that_is_not_there_is_not_found(parts: Path, tmp_path: Path) -> None:
    program = (parts / "opener", "/none/libamdhip64.so.6", "local", parts / "one.co")
    recorded = record(tmp_path, *program)
    assert (recorded.stdout, recorded.returncode) == (on_stand_in(*program).stdout, 1)
    assert "/none/libamdhip64.so.6: cannot open" in recorded.stdout


def test_python_that_opens_it_gets_the_recorders(tmp_path: Path) -> None:
    code = (
        "import ctypes; hip = ctypes.CDLL('libamdhip64.so.6'); place = ctypes.c_void_p();"
        "print(hip.hipMalloc(ctypes.byref(place), ctypes.c_size_t(64)), hex(place.value))"
    )
    recorded = record(tmp_path, sys.executable, "-c", code)
    assert recorded.stdout == "0 0x600000000000\n", recorded.stderr


def test_what_the_runtime_lacks_is_not_there(tmp_path: Path, parts: Path) -> None:
    """A program that asks for a function of newer releases hears what it hears alone."""
    fault = "missing:hipDrvLaunchKernelEx,missing:hipModuleLaunchCooperativeKernel"
    ask = (
        "import ctypes; hip = ctypes.CDLL(None); names = ('hipMalloc', 'hipModuleLaunchKernel',"
        " 'hipDrvLaunchKernelEx', 'hipModuleLaunchCooperativeKernel', 'cudaLaunchKernel');"
        "print([hasattr(hip, name) for name in names])"
    )
    preloaded = f"{STAND_IN / 'libamdhip64.so.6'}"
    plain = on_stand_in(sys.executable, "-c", ask, LD_PRELOAD=preloaded, MNEME_STAND_IN_FAULT=fault)
    line = ("record", "-rdb", tmp_path, "--device", "hip:0", "--", sys.executable, "-c", ask)
    environment = {**ENVIRONMENT, "MNEME_STAND_IN_FAULT": fault, "LD_PRELOAD": preloaded}
    recorded = mneme(*line, **environment)
    assert plain.stdout == "[True, True, False, False, False]\n", plain.stderr
    assert recorded.stdout == "[True, True, False, False, True]\n", recorded.stderr


def test_a_library_that_comes_and_goes_is_recorded_again(parts: Path, tmp_path: Path) -> None:
    program = (parts / "host", parts / "libplugin.so", "plain")
    recorded = record(tmp_path, *program)
    assert recorded.stdout == on_stand_in(*program).stdout
    assert "recorded 2 instances of 1 kernel" in recorded.stderr
    assert "cannot be found" not in recorded.stderr
    assert replay_all(tmp_path, "hip:0") == ["exact"] * 2


def test_children_and_successors_are_recorded_for_themselves(parts: Path, tmp_path: Path) -> None:
    program = (parts / "host", parts / "libplugin.so", "plain", "more")
    recorded = record(tmp_path, *program)
    assert recorded.stdout == on_stand_in(*program).stdout
    assert recorded.stdout.count("child: 0") == 1
    assert recorded.stderr.count("recorded 2 instances of 1 kernel") == 3


def test_a_library_that_goes_past_the_recorder_is_named(parts: Path, tmp_path: Path) -> None:
    program = (parts / "host", parts / "libplugin.so", "deep")
    recorded = record(tmp_path, *program)
    assert (recorded.stdout, recorded.returncode) == (on_stand_in(*program).stdout, 0)
    assert (
        "a library opened with RTLD_DEEPBIND calls the vendor's runtime past it" in recorded.stderr
    )


def test_a_program_may_wrap_functions_itself(parts: Path, tmp_path: Path) -> None:
    recorded = record(tmp_path, parts / "wrapped")
    assert recorded.stdout == on_stand_in(parts / "wrapped").stdout == "1 189\n"
    assert replay_all(tmp_path, "hip:0") == ["exact"]


@pytest.mark.parametrize(("options", "recording"), [((), 1), (("-rr", "all"), 2)])
def test_ranks_record_as_asked(
    options: tuple[str, ...], recording: int, parts: Path, tmp_path: Path
) -> None:
    mpiexec = shutil.which("mpiexec")
    assert mpiexec, "mpiexec is missing: scripts/test installs mpich"
    line = ("record", "-rdb", tmp_path, *options, "--device", "hip:0", "--", parts / "wrapped")
    done = run_command(mpiexec, "-n", "2", sys.executable, "-m", "mneme", *line, **ENVIRONMENT)
    assert (done.returncode, done.stdout) == (0, "1 189\n" * 2), done.stderr
    assert done.stderr.count("recorded 1 instance of 1 kernel") == recording
    assert len(records(tmp_path)) == 1


@pytest.mark.parametrize(
    "steps",
    [
        "launch close-loop open launch launch launch check",
        "close-from=3 launch open=5 launch check",
        "closer launch launch launch launch",
        "launch error-closed open=3 launch check",
        "files=16 exhaust launch launch open=5 check exhaust",
    ],
)
def test_the_programs_descriptors_are_its_own(steps: str, tmp_path: Path) -> None:
    program, source = tmp_path / "descriptors", ROOT / "tests" / "apps" / "gpu_record"
    names = ("-DcudaMemcpyDefault=hipMemcpyDefault", "-I", SOURCES)
    build("-x", "hip", *names, source / "descriptors.cu", "-pthread", "-o", program, "-lamdhip64")
    for folder in ("alone", "recorded"):
        os.mkdir(tmp_path / folder)
    plain = on_stand_in(program, tmp_path / "alone", *steps.split())
    recorded = record(tmp_path / "db", program, tmp_path / "recorded", *steps.split())
    assert (recorded.stdout, recorded.returncode) == (plain.stdout, plain.returncode)
    assert f"recorded {steps.count('launch')} instances of 1 kernel" in recorded.stderr
