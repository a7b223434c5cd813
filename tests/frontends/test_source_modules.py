"""Modules of source: files that they include, headers that they leave out, what is not IR at all."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from modules import build
from programs import run

pytestmark = pytest.mark.compile

COMPILER = "g++" if shutil.which("g++") else "clang++"
INCLUDES = """
#include <cstdio>
#include <proteus/CppJitModule.h>
extern "C" int hipMallocManaged(void** pointer, size_t bytes, unsigned flags);
extern "C" int hipDeviceSynchronize();
int main(int, char** arguments) {
  proteus::CppJitModule module("hip", R"(
#include "factor.h"
extern "C" __global__ void known(int* x) { *x = FACTOR; }
template <int N> __global__ void times(int* x) { *x = N * FACTOR; }
)", {std::string("-I") + arguments[1]});
  int* x = nullptr;
  hipMallocManaged(reinterpret_cast<void**>(&x), sizeof(int), 1);
  module.getKernel<void(int*)>("known").launch({1}, {1}, 0, nullptr, x);
  hipDeviceSynchronize();
  std::printf("%d\\n", *x);
  module.instantiate("times", "10").launch({1}, {1}, 0, nullptr, x);
  hipDeviceSynchronize();
  std::printf("%d\\n", *x);
  auto& refused = module.instantiate("times", "11");
  refused.setFuncAttribute(proteus::JitFuncAttribute::MaxDynamicSharedMemorySize, 1 << 30);
  std::printf("%d", int(refused.launch({1}, {1}, 0, nullptr, x)) != 0);
  std::printf("%d\\n", int(module.instantiate("times", "10").launch({1}, {1}, 0, nullptr, x)));
}
"""
OTHERS = """
#include <cstdio>
#include <vector>
#include <proteus/CppJitModule.h>
#include <proteus/LLVMIRJitModule.h>
static proteus::CppJitModule made() {
  proteus::CppJitModule module("host", "#include <string>\\n"
      "template <typename T> T twice(T text) { return text + text; }\\n"
      "template <typename T> bool isNull(T pointer) { return pointer == nullptr; }\\n");
  module.instantiate("twice", "int");
  return module;
}
int main() {
  // Modules move with their instances.
  std::vector<proteus::CppJitModule> modules;
  modules.push_back(made());
  auto& four = modules[0].instantiate("twice", "int");
  modules.push_back(made());
  auto& module = modules[0];
  std::printf("%d %d\\n", four.run<int>(2), module.instantiate("isNull", "int*").run<bool>(nullptr));
  std::printf("%s\\n", module.instantiate("twice", "std::string")
                          .run<std::string>(std::string("ab")).c_str());
  try {
    proteus::LLVMIRJitModule("host", "").compile();
  } catch (const proteus::FatalError& error) {
    std::puts(error.what());
  }
}
"""


@pytest.mark.hip
def test_kernels_of_hip_follow_the_files_they_include(tmp_path: Path) -> None:
    source = tmp_path / "includes.cpp"
    source.write_text(INCLUDES)
    program = build(str(source), tmp_path / "program", COMPILER)
    # The source leaves out HIP's header, which nothing but a launch needs.
    for factor, hits in ((3, 0), (3, 1), (4, 0)):
        (tmp_path / "factor.h").write_text(f"#define FACTOR {factor}\n")
        done = run(program, str(tmp_path), cache=tmp_path / "cache", on_cpu_device=True)
        # An error is returned once.
        assert done.lines == [str(factor), str(10 * factor), "10"]
        assert done.count("StorageCache", "DispatcherHIP") == (hits, 1)
        assert done.errors == ""


def test_results_of_instances_and_no_code_at_all(tmp_path: Path) -> None:
    source = tmp_path / "others.cpp"
    source.write_text(OTHERS)
    program = build(str(source), tmp_path / "program", COMPILER)
    done = run(program, cache=tmp_path / "cache")
    assert done.lines == ["4 1", "abab"]
    assert done.errors == ""
    assert len(done.statistics) > 0
    assert done.statistics[0].endswith(
        " => LLVMIRJitModule: failed to parse LLVM IR: it is neither LLVM bitcode nor textual IR"
    )
