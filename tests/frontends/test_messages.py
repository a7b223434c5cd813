"""What modules made at run time say: of mistakes, of warnings, of times and of launches."""

from __future__ import annotations

import re
import shutil
import stat
from pathlib import Path

import pytest
from modules import build
from programs import run

pytestmark = pytest.mark.compile

COMPILER = "g++" if shutil.which("g++") else "clang++"
PLACES = """
#include <cstdio>
#include <functional>
#include <proteus/CppJitModule.h>
#include <proteus/JitFrontend.h>
using namespace proteus;
template <typename Wrong> void refused(const Wrong& wrong) {
  try {
    wrong();
  } catch (const FatalError& error) {
    std::printf("%s\\n", error.what());
  }
}
int main() {
  const char* const text = "define void @f() { ret void }";
  CppJitModule source("host", "extern \\"C\\" void f() {}");
  LLVMIRJitModule module("host", text), kernels("cuda", text);
  refused([&] { CppJitModule("toaster", ""); }); // Unsupported target toaster
  refused([&] { LLVMIRJitModule("toaster", ""); }); // Unsupported target toaster
  refused([&] { parseTargetModel("toaster"); }); // Unsupported target toaster
  refused([&] { source.getFunction<void()>("g"); }); // the module has no function 'g'
  refused([&] { module.getFunction<void()>("g"); }); // the module has no function 'g'
  refused([&] { source.getFunctionAddress("g"); }); // the module has no function 'g'
  refused([&] { source.getKernel<void()>("f"); }); // Error: getKernel() applies only to
  refused([&] { module.getKernelAddress("f"); }); // Error: getKernel() applies only to
  refused([&] { kernels.getFunction<void()>("f"); }); // Error: getFunction() applies only to
  refused([&] { source.setFuncAttribute(nullptr, JitFuncAttribute::MaxDynamicSharedMemorySize, 1);
  }); // Host launchers do not support
  Dispatcher& host = Dispatcher::getDispatcher(TargetModelType::HOST);
  refused([&] { host.compileIR("nonsense", 1); }); // module 0 is
}
"""


def test_mistakes_name_the_line_that_makes_them(tmp_path: Path) -> None:
    source = tmp_path / "places.cpp"
    source.write_text(PLACES)
    program = build(str(source), tmp_path / "program", COMPILER)
    expected = [
        # What does not fit on a line is said where the call begins.
        (number - (text.lstrip().startswith("})")), text.partition("// ")[2])
        for number, text in enumerate(PLACES.splitlines(), start=1)
        if "); // " in text
    ]
    said = run(program, cache=tmp_path / "cache").lines
    said += [line for line in run(program, cache=tmp_path / "cache").statistics if " => " in line]
    places = [line for line in said if line.startswith("[proteus][FATAL ERROR]")]
    assert len(places) == len(expected)
    for line, (number, reason) in zip(places, expected, strict=True):
        assert line.startswith(f"[proteus][FATAL ERROR] {source}:{number} => {reason}")


WARNS = """
#include <proteus/CppJitModule.h>
int main() {
  proteus::CppJitModule module("host", "extern \\"C\\" int f() {\\n  int unused;\\n  return 0;\\n}",
                               {"-Wunused-variable"});
  return module.getFunction<int()>("f").run();
}
"""


def test_warnings_of_the_compiler_come_out_once(tmp_path: Path) -> None:
    source = tmp_path / "warns.cpp"
    source.write_text(WARNS)
    program = build(str(source), tmp_path / "program", COMPILER)
    cold = run(program, cache=tmp_path / "cache")
    assert cold.errors == (
        "CppJitModule:2:7: warning: unused variable 'unused' [-Wunused-variable]\n"
        "    2 |   int unused;\n      |       ^~~~~~\n1 warning generated.\n"
    )
    assert not cold.lines
    assert run(program, cache=tmp_path / "cache").errors == ""


def test_timers_speak_of_what_is_compiled(tmp_path: Path) -> None:
    source = tmp_path / "warns.cpp"
    source.write_text(WARNS)
    program = build(str(source), tmp_path / "program", COMPILER)
    cold, warm = (
        run(program, cache=tmp_path / "cache", trace="", PROTEUS_ENABLE_TIMERS="1")
        for _ in range(2)
    )
    lines = [re.sub(r"\d+ ms$", "N ms", line) for line in cold.statistics if line.endswith(" ms")]
    name = re.escape("module ") + r"\d+"
    patterns = [
        f"Compile source {name} N ms", f"Parse IR {name} N ms",
        "optimizeIR optlevel 3 codegenopt 3 N ms",
    ]  # fmt: skip
    assert len(lines) == len(patterns)
    for line, pattern in zip(lines, patterns, strict=True):
        assert re.fullmatch(r"\[proteus\] " + pattern, line)
    assert not [line for line in warm.statistics if line.endswith(" ms")]


def test_traces_name_kernels_as_their_users_do(tmp_path: Path) -> None:
    program = build("cpp_device.cpp", tmp_path / "program", COMPILER, "-DTEST_CUDA")
    done = run(program, cache=tmp_path / "cache", trace="kernel-trace", on_cpu_device=True)
    kernels = [
        re.sub(r"^\[proteus\]\[(\w+)\]   ", r"\1: ", line)
        for line in done.statistics
        if "  launches=" in line
    ]
    ending = "rank=0  specializations=1  launches="
    assert kernels == [
        f"DispatcherHostCUDA: add<3, double>  {ending}1",
        *(f"DispatcherCUDA: {name}  {ending}{count}" for name, count in [("big", 1), ("count", 1)]),
        f"DispatcherCUDA: fill  {ending}3",
    ]


NVCC = """
#include <cstdio>
#include <proteus/CppJitModule.h>
int main() {
  proteus::CppJitModule module("host_cuda", "extern \\"C\\" int f() { return 5; }", {},
                               proteus::CppJitCompilerBackend::Nvcc);
  std::printf("%d\\n", module.getFunction<int()>("f").run());
}
"""


def test_code_of_nvcc_does_not_depend_on_how_others_are_compiled(tmp_path: Path) -> None:
    compiler = tmp_path / "nvcc"  # in its place, of what it would be told the file names only
    compiler.write_text(
        '#!/bin/sh\nwhile [ $# -gt 1 ]; do\n  case $1 in -o | -MF) eval "file${1#-}=\\$2" ;; esac\n'
        f'  shift\ndone\n: >"$fileMF"\nexec {COMPILER} -x c++ -shared -fPIC -o "$fileo" "$1"\n'
    )
    compiler.chmod(compiler.stat().st_mode | stat.S_IXUSR)
    source = tmp_path / "uses_nvcc.cpp"
    source.write_text(NVCC)
    program = build(str(source), tmp_path / "program", COMPILER)
    # What is stored is looked up at once.
    for level, accesses in ("0", 2), ("1", 1):
        done = run(
            program, cache=tmp_path / "cache", on_cpu_device=True, PROTEUS_OPT_LEVEL=level,
            PROTEUS_NVCC_BIN=str(compiler),
        )  # fmt: skip
        assert done.lines == ["5"]
        assert done.count("StorageCache", "DispatcherHostCUDA") == (1, accesses)


def test_the_compiler_that_the_environment_names_is_asked(tmp_path: Path) -> None:
    source = tmp_path / "warns.cpp"
    source.write_text(WARNS)
    program = build(str(source), tmp_path / "program", COMPILER)
    done = run(program, cache=tmp_path / "cache", fails=True, MNEME_CLANGXX="/nowhere/clang++")
    assert (
        "mneme-clang++: MNEME_CLANGXX is '/nowhere/clang++', which is not a command" in done.errors
    )
    done = run(program, cache=tmp_path / "cache", fails=True, PROTEUS_CLANGXX_BIN="/bin/false")
    assert "'/bin/false' does not compile the source" in done.errors


def test_the_toolkit_of_code_made_at_run_time_may_be_named_apart(tmp_path: Path) -> None:
    source = tmp_path / "made.cpp"
    source.write_text(
        "#include <proteus/CppJitModule.h>\n"
        'int main() { proteus::CppJitModule("cuda", "__global__ void k() {}").compile(); }\n'
    )
    program = build(str(source), tmp_path / "program", COMPILER)
    named = {"CUDA_HOME": "", "PROTEUS_CUDA_HOME": str(tmp_path / "nothing")}
    done = run(program, cache=tmp_path / "cache", on_cpu_device=True, fails=True, **named)
    assert "cannot find libdevice" in done.errors, "clang's own words of a toolkit that is none"
    run(program, cache=tmp_path / "cache", on_cpu_device=True)
