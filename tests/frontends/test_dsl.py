"""Programs that write functions and kernels in the embedded language, and run what they wrote."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from modules import build, needs_mlir
from programs import run

pytestmark = pytest.mark.compile

PROGRAMS = Path(__file__).parent / "dsl"
# Those of clang know structured bindings in lambdas as an extension.
OPTIONS = {"g++": ["-pthread"], "clang++": ["-pthread", "-Wno-c++20-extensions"]}


BACKENDS = ["llvm", pytest.param("mlir", marks=needs_mlir)]
IS_MLIR = {"llvm": [], "mlir": ["-DTEST_MLIR"]}


def written(name: str, folder: Path, compiler: str = "clang++", *options: str) -> Path:
    """The program `name`, built."""
    return build(f"dsl/{name}.cpp", folder / name, compiler, *OPTIONS[compiler], *options)


@pytest.mark.parametrize(
    ("compiler", "backend"),
    [("g++", "llvm"), ("clang++", "llvm"), pytest.param("g++", "mlir", marks=needs_mlir)],
)
@pytest.mark.parametrize(
    ("name", "modules", "functions", "equal"),
    [("types", 32, 60, 1), ("flow", 1, 8, 0), ("nests", 1, 5, 0), ("memory", 9, 11, 0),
     ("functions", 5, 11, 0), ("variables", 6, 6, 2)],
)  # fmt: skip
def test_functions_of_the_host(
    tmp_path: Path,
    compiler: str,
    backend: str,
    name: str,
    modules: int,
    functions: int,
    equal: int,
) -> None:
    program = written(name, tmp_path, compiler, *IS_MLIR[backend])
    for hits in (equal, modules):
        done = run(program, cache=tmp_path / "cache")
        assert done.lines[-1] == "all as expected"
        assert done.count("StorageCache", "DispatcherHost") == (hits, modules)
        assert done.count("MemoryCache", "DispatcherHost") == (equal, functions)


def test_code_says_what_the_user_named(tmp_path: Path) -> None:
    program = written("variables", tmp_path)
    code = run(program, cache=tmp_path / "cache").lines
    for slot in (
        "%early = alloca double", "%a = alloca i32", "%b = alloca double", "%c = alloca i64",
        "%d = alloca float", "%g = alloca double", "%known = alloca i32", "%flag = alloca i1",
        '%"a name with \\22quotes\\22" = alloca i32',
    ):  # fmt: skip
        assert any(line.strip().startswith(slot) for line in code), slot
    assert "  store i32 10, ptr %known, align 4" in code


@needs_mlir
def test_code_of_mlir_and_what_becomes_of_it(tmp_path: Path) -> None:
    program = written("variables", tmp_path, "clang++", "-DTEST_MLIR")
    code = run(program, cache=tmp_path / "cache").lines
    assert code[:2] == ["module {", "  func.func @forms(%arg: f64) -> f64 {"]
    for slot in ("%early = memref.alloca() {alignment = 8 : i64} : memref<f64>",
                 "%known = memref.alloca() {alignment = 4 : i64} : memref<i32>",
                 "%a_name_with__quotes_ = memref.alloca() {alignment = 4 : i64} : memref<i32>"):  # fmt: skip
        assert f"    {slot}" in code
    assert "define double @forms(double %0) {" in code
    program = written("nests", tmp_path, "clang++", "-DTEST_MLIR")
    code = run(program, cache=tmp_path / "cache").lines
    assert any(re.fullmatch(r" +scf.for %i\d* = %begin\d* to .*", line) for line in code)


def test_code_of_arrays_and_unrolled_loops(tmp_path: Path) -> None:
    code = run(written("memory", tmp_path), cache=tmp_path / "cache").lines
    assert "@g = internal addrspace(1) global [16 x double] undef, align 8" in code
    assert "@g = internal addrspace(3) global [16 x i32] undef, align 4" in code
    code = run(written("nests", tmp_path), cache=tmp_path / "cache").lines
    assert sum(", !llvm.loop !" in line for line in code) == 2
    # What clang says of indices, and what loops over arrays are vectorised by.
    assert any("= add nsw i32" in line for line in code)
    assert any("= mul nsw i32" in line for line in code)
    assert any("= add i64" in line for line in code)
    assert code.count('!1 = !{!"llvm.loop.unroll.enable"}') == 1
    assert any(re.fullmatch(r'!\d = !\{!"llvm.loop.unroll.count", i32 2\}', line) for line in code)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("vendor", ["CUDA", "HIP"])
def test_kernels(tmp_path: Path, vendor: str, backend: str) -> None:
    program = written("kernels", tmp_path, "clang++", f"-DTEST_{vendor}", *IS_MLIR[backend])
    for hits in (0, 3):
        done = run(program, cache=tmp_path / "cache", trace="kernel-trace", on_cpu_device=True)
        assert done.lines[-1] == "all as expected"
        assert done.count("StorageCache", f"Dispatcher{vendor}") == (hits, 3)
        assert done.count("MemoryCache", f"Dispatcher{vendor}") == (0, 4)
        assert any(
            re.search(
                r"   axpb(\$jit\$\d+\$|\.jit\.\d+)  rank=0  specializations=1  launches=2$", line
            )
            for line in done.statistics
        )
    code = "\n".join(done.lines)
    if backend == "mlir":
        check_mlir(code, vendor)
        return
    assert "@partial = internal addrspace(3) global [128 x float] undef, align 4" in code
    if vendor == "CUDA":
        assert re.search(
            r'define ptx_kernel void @"?block_sum\$jit\$\d+\$.* "nvvm.maxntid"="128"', code
        )
    else:
        assert re.search(
            r'define amdgpu_kernel void @block_sum.* "amdgpu-flat-work-group-size"="1,128"', code
        )


def check_mlir(code: str, vendor: str) -> None:
    """Check the MLIR of the program `kernels`."""
    assert "  gpu.module @kernels {\n" in code
    assert "@partial() {addr_space = 3 : i32} : !llvm.array<128 x f32>" in code
    bounds = {
        "CUDA": "nvvm.maxntid = array<i32: 128>, nvvm.minctasm = 2 : i32",
        "HIP": 'rocdl.flat_work_group_size = "1,128", rocdl.waves_per_eu = 2 : i32',
    }[vendor]
    kernel = re.search(r"    gpu.func @block_sum\S+\(.*\) kernel attributes \{(.*)\} \{\n", code)
    assert kernel
    assert kernel[1] == bounds
    helper = code.index("    func.func private @weight")
    assert helper < kernel.start()


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("vendor", ["CUDA", "HIP"])
def test_applications(tmp_path: Path, vendor: str, backend: str) -> None:
    program = written("applications", tmp_path, "clang++", f"-DTEST_{vendor}", *IS_MLIR[backend])
    # Two of eight modules are equal.
    for hits in (1, 8):
        done = run(program, cache=tmp_path / "cache", on_cpu_device=True)
        assert done.lines[-1] == "all as expected"
        assert done.count("StorageCache", f"Dispatcher{vendor}") == (hits, 8)
        assert done.count("MemoryCache", f"Dispatcher{vendor}") == (1, 9)


@pytest.mark.parametrize("backend", BACKENDS)
def test_kernels_are_recorded_and_replayed(tmp_path: Path, backend: str) -> None:
    program = written("kernels", tmp_path, "clang++", "-DTEST_CUDA", *IS_MLIR[backend])
    database = tmp_path / "db"
    mneme = [sys.executable, "-m", "mneme"]
    recorded = subprocess.run(
        [*mneme, "record", "--device", "cpu", "-rdb", database, "--", program],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
    )
    assert recorded.returncode == 0, recorded.stderr
    assert "all as expected" in recorded.stdout
    recordings = list(database.glob("[0-9]*.json"))
    assert len(recordings) == 4
    (places,) = (path for path in recordings if "places$jit$" in path.read_text())
    replayed = subprocess.run(
        [*mneme, "replay", "-rdb", places], capture_output=True, text=True, check=False
    )
    assert replayed.returncode == 0, replayed.stderr
    assert "verified: exact" in replayed.stderr


ERRORS = {
    1: "Unsupported target toaster",
    3: "Unsupported backend gcc",
    4: "Unsupported target host_cuda",
    5: "Expected a device module for addKernel",
    6: "The module has a f already",
    7: "Expected FOR scope",
    8: "Function f has no code",
    9: "Function f has been begun before",
    10: "Function f returns a value",
    11: "Function f does not end with ret()",
    12: "Function f is begun but not ended",
    13: "Syntax error, expected IF end scope but found unterminated scope FUNCTION @ ",
    14: "Syntax error, expected FOR end scope but found unterminated scope IF @ ",
    15: "Syntax error, expected WHILE end scope but found unterminated scope IF @ ",
    16: "Syntax error, expected IF end scope but found unterminated scope FOR @ ",
    17: "Syntax error, expected FUNCTION end scope but found unterminated scope WHILE @ ",
    18: "Threads and blocks are of GPUs, this module is for the host",
    19: "Threads and blocks are of GPUs, this module is for the host",
    20: "Arrays in the constant address space are not supported",
    21: "Cannot unroll a loop that is tiled",
    22: "Cannot tile a loop that is unrolled",
    23: "The call does not fit the signature of function f",
    24: "Function f is ended, no further code can be added",
    26: "Functions of a GPU module cannot be called from the host: d",
    27: "Launch bounds must be positive",
    28: "The module is compiled, no further code can be added",
    29: "The module is compiled, no further code can be added",
    30: "the module refers to 'nowhere', which the program does not export",
    31: "Broken module found, JIT compilation aborted! ",
    **dict.fromkeys(range(32, 36), "The variable belongs to another function"),
    36: "Cannot tile a loop whose range depends on the counter of an outer loop",
}


@pytest.mark.parametrize("backend", BACKENDS)
def test_mistakes_end_the_program_with_their_line(tmp_path: Path, backend: str) -> None:
    source = PROGRAMS / "errors.cpp"
    lines = {
        int(found[1]): number
        for number, text in enumerate(source.read_text().splitlines(), start=1)
        if (found := re.match(r" *if \(Which == (\d+)\)", text))
    }
    # These are found later than they are made.
    lines[8] = lines[7] - 1
    lines[12] = next(
        number
        for number, text in enumerate(source.read_text().splitlines(), start=1)
        if "F.beginFunction();" in text and "if" not in text
    )
    # A call of a function has no line, nor has what the compiler finds.
    unknown = {26, 31}
    # Operators have no line either: it is that of the last statement.
    lines |= {32: lines[32] - 1, 33: lines[32] - 1}
    program = written("errors", tmp_path, "clang++", *IS_MLIR[backend])
    for which, reason in ERRORS.items():
        done = subprocess.run(
            [program, str(which)], capture_output=True, text=True, check=False, timeout=60
        )
        assert done.returncode == -6, which
        begin = "[proteus][FATAL ERROR] " + (
            "" if which in unknown else f"{source}:{lines[which]} => "
        )
        assert done.stderr.startswith(begin), which
        assert reason in done.stderr, which
