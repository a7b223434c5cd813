"""Programs that look functions of the CUDA driver up by name, recorded on the CPU device."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest
from conftest import BUILD, mneme, replay_all, run_command

WRAPPER = BUILD / "bin" / "mneme-cxx"
RECORDER = BUILD / "lib" / "librecord.so"
DRIVER = BUILD / "lib" / "libmneme_cuda_driver.so"
HERE = Path(__file__).resolve().parent
KERNEL = """
__device__ int offset = 30;
extern "C" __global__ void add(int* numbers, int count, int argument) {
  int at = blockIdx.x * blockDim.x + threadIdx.x;
  if (at < count)
    numbers[at] += argument + offset;
}
"""
# As PyCUDA, Triton and cuda-python do it.
PYTHON = """
import ctypes, sys
driver = ctypes.CDLL("libcuda.so.1")
context, module, kernel, numbers = (ctypes.c_void_p() for _ in range(4))
def call(name, *arguments):
    status = getattr(driver, name)(*arguments)
    assert status == 0, (name, status)
call("cuInit", 0)
call("cuDevicePrimaryCtxRetain", ctypes.byref(context), 0)
call("cuCtxSetCurrent", context)
call("cuModuleLoadData", ctypes.byref(module), open(sys.argv[1], "rb").read())
call("cuModuleGetFunction", ctypes.byref(kernel), module, b"add")
call("cuMemAlloc_v2", ctypes.byref(numbers), ctypes.c_size_t(400))
call("cuMemsetD32_v2", numbers, 5, ctypes.c_size_t(100))
values = [ctypes.c_void_p(numbers.value), ctypes.c_int(100), ctypes.c_int(2)]
pointers = (ctypes.c_void_p * 3)(*(ctypes.addressof(value) for value in values))
call("cuLaunchKernel", kernel, 4, 1, 1, 32, 1, 1, 0, None, pointers, None)
result = (ctypes.c_int * 100)()
call("cuMemcpyDtoH_v2", result, numbers, ctypes.c_size_t(400))
call("cuMemFree_v2", numbers)
print(set(result))
"""

pytestmark = [
    pytest.mark.compile,
    pytest.mark.skipif(not DRIVER.is_file(), reason="the CPU device's driver is not built"),
]


@pytest.fixture(scope="module")
def includes() -> tuple[str | Path, ...]:
    asked = run_command(BUILD / "bin" / "nvcc", "-", "__cmake_determine_cuda").stdout
    return ("-isystem", Path(re.findall(r"TOP=(.*)", asked)[0]) / "include")


@pytest.fixture(scope="module")
def folder(includes: tuple[str | Path, ...], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program that is linked with no library of the vendor's, and device code."""
    folder = tmp_path_factory.mktemp("lookups")
    program = (HERE / "looked_up_driver.cpp", *includes, "-ldl")
    (folder / "kernel.cu").write_text(KERNEL)
    device_code = ("-O2", "--offload-arch=sm_90", "--cuda-device-only", "-c", folder / "kernel.cu")
    for built, command in (("program", program), ("kernel.cubin", device_code)):
        done = run_command(WRAPPER, *command, "-o", folder / built)
        assert (done.returncode, done.stderr) == (0, "")
    return folder


@pytest.mark.parametrize("way", ["symbols", "addresses", "per-thread", "entry-points", "versions"])
def test_launches_by_functions_looked_up_are_recorded(
    folder: Path, tmp_path: Path, way: str
) -> None:
    command = (folder / "program", folder / "kernel.cubin", way)
    assert "libcuda" not in run_command("readelf", "-d", folder / "program").stdout
    alone = mneme("run", "--device", "cpu", "--", *command)
    done = mneme("record", "-rdb", tmp_path, "-mr", 9, "--device", "cpu", "--", *command)
    of_library = "41, 43, 45, 4 bytes\n"
    assert alone.stdout == done.stdout == "37, 39\n" + 2 * of_library, done.stderr
    assert "recorded 5 instances of 1 kernel (8 launches)" in done.stderr
    assert "not recorded" not in done.stderr
    assert [one.result_class for one in replay_all(tmp_path)] == ["exact"] * 5


def test_a_python_program_that_opens_the_driver_is_recorded(folder: Path, tmp_path: Path) -> None:
    command = (sys.executable, "-c", PYTHON, folder / "kernel.cubin")
    done = mneme("record", "-rdb", tmp_path, "--device", "cpu", "--", *command)
    assert (done.returncode, done.stdout) == (0, "{37}\n"), done.stderr
    assert "recorded 1 instance of 1 kernel (1 launch)" in done.stderr
    assert [one.result_class for one in replay_all(tmp_path)] == ["exact"]


# Contexts of its own, in turns, one of which is made where another one was.
CONTEXTS = """
import ctypes, sys
from ctypes import byref, c_int, c_size_t, c_void_p
driver = ctypes.CDLL("libcuda.so.1")
def call(name, *arguments):
    status = getattr(driver, name)(*arguments)
    assert status == 0, (name, status)
class Own:
    def __init__(self):
        self.context, module, self.kernel, self.numbers = (c_void_p() for _ in range(4))
        call("cuCtxCreate_v2", byref(self.context), 0, 0)
        call("cuModuleLoadData", byref(module), open(sys.argv[1], "rb").read())
        call("cuModuleGetFunction", byref(self.kernel), module, b"add")
        call("cuMemAlloc_v2", byref(self.numbers), c_size_t(400))
        call("cuMemsetD32_v2", self.numbers, 5, c_size_t(100))
    def add(self, argument):
        call("cuCtxSetCurrent", self.context)
        values = [self.numbers, c_int(100), c_int(argument)]
        pointers = (c_void_p * 3)(*(ctypes.addressof(value) for value in values))
        call("cuLaunchKernel", self.kernel, 4, 1, 1, 32, 1, 1, 0, None, pointers, None)
        result = (c_int * 100)()
        call("cuMemcpyDtoH_v2", result, self.numbers, c_size_t(400))
        print(set(result))
    def destroy(self):
        call("cuCtxDestroy_v2", self.context)
call("cuInit", 0)
first, second = Own(), Own()
first.add(2), second.add(3), first.add(4)
first.destroy()
third = Own()
third.add(6), second.add(7)
third.destroy(), second.destroy()
"""


def test_contexts_of_the_programs_own_are_recorded(folder: Path, tmp_path: Path) -> None:
    command = (sys.executable, "-c", CONTEXTS, folder / "kernel.cubin")
    alone = mneme("run", "--device", "cpu", "--", *command)
    done = mneme("record", "-rdb", tmp_path, "-mr", 9, "--device", "cpu", "--", *command)
    assert alone.stdout == done.stdout == "{37}\n{38}\n{71}\n{41}\n{75}\n", done.stderr
    assert "recorded 5 instances of 1 kernel (5 launches)" in done.stderr
    assert "not recorded" not in done.stderr
    assert [one.result_class for one in replay_all(tmp_path)] == ["exact"] * 5


# With a runtime inside of it, for which no kernel has a handle but those of its library.
PROGRAM = """
#include <cstdio>
__device__ int calls = 30;
__global__ void add(int* numbers, int count, int argument) {
  for (int at = 0; at < count; ++at)
    numbers[at] += argument + calls;
  ++calls;
}
int main() {
  int values[100] = {}, *numbers = nullptr;
  cudaMalloc(reinterpret_cast<void**>(&numbers), sizeof values);
  cudaMemcpy(numbers, values, sizeof values, cudaMemcpyDefault);
  for (int argument = 1; argument < 3; ++argument)
    add<<<1, 1>>>(numbers, 100, argument);
  cudaMemcpy(values, numbers, sizeof values, cudaMemcpyDefault);
  std::printf("%d\\n", values[99]);
}
"""


def test_a_program_with_a_runtime_inside_is_recorded(
    includes: tuple[str | Path, ...], tmp_path: Path
) -> None:
    source, program = tmp_path / "program.cu", tmp_path / "program"
    source.write_text(PROGRAM)
    flags = ("-O2", "--offload-arch=sm_90", *includes, "-Wl,--no-as-needed", "-lcuda", "-ldl")
    built = run_command(WRAPPER, source, HERE / "runtime_inside.cpp", *flags, "-o", program)
    assert built.returncode == 0, built.stderr
    assert "libcudart" not in run_command("ldd", program).stdout
    alone = mneme("run", "--device", "cpu", "--", program)
    done = mneme("record", "-rdb", tmp_path / "db", "--device", "cpu", "--", program)
    assert alone.stdout == done.stdout == "64\n", done.stderr
    assert "recorded 2 instances of 1 kernel (2 launches)" in done.stderr
    assert [one.result_class for one in replay_all(tmp_path / "db")] == ["exact"] * 2


# Preloaded, the first passes calls on to the next function of its name, the second is that.
TOOL = """
#include <cstdio>
#include <dlfcn.h>
using Say = void (*)();
extern "C" void cuSay() {
  std::printf("tool ");
  reinterpret_cast<Say>(dlsym(RTLD_NEXT, "cuSay"))();
}
extern "C" void say() {
  std::printf("tool ");
  reinterpret_cast<Say>(dlsym(RTLD_NEXT, "say"))();
}
"""
LAST = """
#include <cstdio>
extern "C" void cuSay() { std::puts("last"); }
extern "C" void say() { std::puts("last"); }
"""
ASKING = """
#include <cstdio>
#include <initializer_list>
#include <dlfcn.h>
extern "C" void own() { std::puts("own"); }
int main() {
  for (void* handle : {RTLD_DEFAULT, RTLD_NEXT, dlopen(nullptr, RTLD_NOW)})
    for (const char* name : {"cuSay", "say", "own"})
      if (void* address = dlsym(handle, name))
        reinterpret_cast<void (*)()>(address)();
      else
        std::puts("nothing");
  std::puts(dlvsym(RTLD_NEXT, "cuSay", "NO_VERSION") ? "a version" : "no version");
}
"""


def test_lookups_that_depend_on_their_caller_find_what_they_find_alone(tmp_path: Path) -> None:
    tool, last, program = (tmp_path / name for name in ("tool.so", "last.so", "asking"))
    for output, code in ((tool, TOOL), (last, LAST), (program, ASKING)):
        source = tmp_path / f"{output.stem}.cpp"
        source.write_text(code)
        kind = ("-shared", "-fPIC") if output.suffix else ("-rdynamic",)
        done = run_command(WRAPPER, "-O2", *kind, source, "-o", output, "-ldl")
        assert done.returncode == 0, done.stderr
    said = "tool last\ntool last\nown\ntool last\ntool last\nnothing\n"
    said += "tool last\ntool last\nown\nno version\n"
    for preloaded in ((tool, last), (RECORDER, tool, last), (tool, RECORDER, last)):
        names = ":".join(map(str, preloaded))
        done = run_command(program, LD_PRELOAD=names, MNEME_DATA_DIR=str(tmp_path))
        assert (done.returncode, done.stdout) == (0, said), done.stderr


# Stand in for the vendor's libraries; `drivers` looks up as the runtime does.
VENDORS_DRIVER = """
extern "C" int cuInit() { return 0; }
extern "C" int cuMemAlloc_v2() { return 2; }
extern "C" int cuMemAllocAsync() { return 2; }
extern "C" int cuMemAllocAsync_ptsz() { return 2; }
extern "C" int cuLaunchKernel() { return 2; }
extern "C" int cuSomethingNew() { return 2; }
extern "C" int cuGetProcAddress_v2(const char* name, void** address, int, unsigned long long flags) {
  *address = reinterpret_cast<void*>(name[2] == 'S'   ? &cuSomethingNew
                                     : name[10] == 0  ? &cuMemAlloc_v2
                                     : flags & 2      ? &cuMemAllocAsync_ptsz
                                                      : &cuMemAllocAsync);
  return 0;
}
"""
VENDORS_RUNTIME = """
#include <dlfcn.h>
extern "C" int cudaMalloc() { return 2; }
extern "C" void* lookUp(void* handle, const char* name) {
  void* const volatile found = dlsym(handle, name);
  return found;
}
"""
COMPARING = """
#include <cstdio>
#include <initializer_list>
#include <cstring>
#include <dlfcn.h>
using Get = int (*)(const char*, void**, int, unsigned long long, int*);
static void say(void* address) {
  Dl_info info{};
  dladdr(address, &info);
  std::printf("%s %s\\n", std::strrchr(info.dli_fname, '/') + 1, info.dli_sname);
}
int main() {
  void* const driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  void* const runtime = dlopen("libcudart.so.13", RTLD_NOW | RTLD_LOCAL);
  say(dlsym(driver, "cuMemAlloc_v2"));
  say(dlsym(driver, "cuSomethingNew"));
  say(dlsym(runtime, "cudaMalloc"));
  const auto lookUp = reinterpret_cast<void* (*)(void*, const char*)>(dlsym(runtime, "lookUp"));
  say(lookUp(driver, "cuMemAlloc_v2"));
  say(lookUp(driver, "cuLaunchKernel"));
  std::printf("%d\\n", dlsym(driver, "cuMemFree_v2") != nullptr);
  const auto get = reinterpret_cast<Get>(dlsym(driver, "cuGetProcAddress_v2"));
  void* address = nullptr;
  for (const char* name : {"cuMemAlloc", "cuMemAllocAsync", "cuSomethingNew"})
    for (const unsigned long long flags : {0, 2})
      if (get(name, &address, 12000, flags, nullptr) == 0)
        say(address);
}
"""


def test_the_recorder_stands_before_what_would_be_found(tmp_path: Path) -> None:
    libraries = (("libcuda.so.1", VENDORS_DRIVER), ("libcudart.so.13", VENDORS_RUNTIME))
    for name, code in (*libraries, ("comparing", COMPARING)):
        (tmp_path / "code.cpp").write_text(code)
        kind = ("-ldl",) if name == "comparing" else ("-shared", "-fPIC", f"-Wl,-soname,{name}")
        done = run_command(WRAPPER, tmp_path / "code.cpp", *kind, "-o", tmp_path / name)
        assert done.returncode == 0, done.stderr
    environment = {"LD_LIBRARY_PATH": str(tmp_path), "MNEME_DATA_DIR": str(tmp_path)}
    done = run_command(tmp_path / "comparing", LD_PRELOAD=str(RECORDER), **environment)
    assert done.stdout.splitlines() == [
        "librecord.so cuMemAlloc_v2",
        "libcuda.so.1 cuSomethingNew",
        "librecord.so cudaMalloc",
        "libcuda.so.1 cuMemAlloc_v2",  # the runtime's own
        "librecord.so cuLaunchKernel",
        "0",
        "librecord.so cuMemAlloc_v2",
        "librecord.so cuMemAlloc_v2",
        "librecord.so cuMemAllocAsync",
        "librecord.so cuMemAllocAsync_ptsz",
        "libcuda.so.1 cuSomethingNew",
        "libcuda.so.1 cuSomethingNew",
    ], done.stderr
