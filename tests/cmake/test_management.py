"""NVIDIA's management library: programs link it without a toolkit's stub and ask it on the CPU device."""

from __future__ import annotations

from pathlib import Path

import pytest
from cmake_parts import run_command, run_here

pytest_plugins = ["cmake_fixtures"]
pytestmark = pytest.mark.compile

PROGRAM = """
#include <cstdio>
#include <cstring>
extern "C" {
int nvmlInit_v2(); int nvmlShutdown(); const char* nvmlErrorString(int);
int nvmlDeviceGetCount_v2(unsigned*); int nvmlDeviceGetHandleByPciBusId_v2(const char*, void**);
int nvmlDeviceGetName(void*, char*, unsigned); int nvmlDeviceGetClockInfo(void*, unsigned, unsigned*);
int nvmlDeviceGetTemperature(void*, int, unsigned*);
}
int main() {
  unsigned count = 0, clock = 0; void* device = nullptr; char name[96], bus[32];
  cudaDeviceProp known; cudaGetDeviceProperties(&known, 0);
  cudaDeviceGetPCIBusId(bus, sizeof bus, 0);
  bool right = nvmlInit_v2() == 0 && nvmlDeviceGetCount_v2(&count) == 0 && count == 1;
  right &= nvmlDeviceGetHandleByPciBusId_v2(bus, &device) == 0;
  right &= nvmlDeviceGetHandleByPciBusId_v2("0000:7f:00.0", &device) == 6;
  right &= nvmlDeviceGetName(device, name, sizeof name) == 0 && !strcmp(name, known.name);
  right &= nvmlDeviceGetName(device, name, 2) == 7;
  right &= nvmlDeviceGetClockInfo(device, 2, &clock) == 0;
  right &= nvmlDeviceGetTemperature(device, 0, &count) == 3;
  printf("%s, %s\\n", right ? "right" : "wrong", nvmlErrorString(0));
  return nvmlShutdown();
}
"""


@pytest.mark.parametrize("compiler", ["mneme-cxx", "mneme-nvcc"])
def test_programs_ask_the_cpu_device(compiler: str, build_tree: Path, tmp_path: Path) -> None:
    (tmp_path / "a.cu").write_text(PROGRAM)
    done = run_command(
        *(build_tree / "bin" / compiler, "a.cu", "-o", "app", "-lnvidia-ml"), cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    assert "libnvidia-ml.so.1" in run_command("ldd", tmp_path / "app").stdout
    ran = run_here(build_tree, "run", "--device", "cpu", "--", tmp_path / "app")
    assert ran.stdout == "right, The operation was successful\n"
    assert "nvmlDeviceGetTemperature is not supported on the CPU device" in ran.stderr
