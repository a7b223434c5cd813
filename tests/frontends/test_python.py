"""The package `proteus`: what a script compiles while it runs, on the host and on the CPU device."""

from __future__ import annotations

import ctypes
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import proteus
from mneme import __version__ as mneme_version

HERE = Path(__file__).parent
pytestmark = pytest.mark.compile

IR = """
define i32 @twice(i32 %n) {
  %r = shl i32 %n, 1
  ret i32 %r
}
"""
CPP = """
#include <cstdint>
extern "C" {
int8_t of_i8(int8_t x) { return x; }
int32_t of_i32(int32_t x) { return x; }
int64_t of_i64(int64_t x) { return x; }
uint32_t of_u32(uint32_t x) { return x; }
uint64_t of_u64(uint64_t x) { return x; }
float of_f32(float x) { return x; }
double of_f64(double x) { return x; }
void* of_ptr(void* x) { return x; }
double sum(const double* x, int64_t n, float scale) {
  double result = 0;
  for (int64_t i = 0; i < n; ++i)
    result += x[i] * scale;
  return result;
}
void increase(int32_t* x) { ++*x; }
int factor() { return FACTOR; }
}
"""


@pytest.fixture(scope="module")
def module() -> proteus.Module:
    return proteus.compile(CPP, "cpp", extra_args=["-DFACTOR=7"])


@pytest.fixture(autouse=True, scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """The cache is where the process is when it first compiles."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("python"))
        proteus.compile(IR, "llvmir")
        yield


def script(tmp_path: Path, text: str, **variables: str) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", text],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        env={**os.environ, **variables},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_llvm_ir(tmp_path: Path) -> None:
    file = tmp_path / "twice.ll"
    file.write_text(IR)
    for source in (IR, str(file), file, IR.encode()):
        twice = proteus.compile(source, "llvmir", verify=True).get_function(
            "twice", proteus.i32, [proteus.i32]
        )
        assert twice(21) == 42
    assert repr(twice) == (
        "<proteus.Function name='twice' restype=proteus.i32 argtypes=[proteus.i32]>"
    )


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("i8", [-128, 127]),
        ("i32", [-(2**31), 2**31 - 1]),
        ("i64", [-(2**63), 2**63 - 1]),
        ("u32", [0, 2**32 - 1]),
        ("u64", [0, 2**64 - 1]),
        ("f32", [0.5, 3]),
        ("f64", [0.1, 3]),
        ("ptr", [0, 2**48]),
    ],
)
def test_types(module: proteus.Module, name: str, values: list[float]) -> None:
    kind = getattr(proteus, name)
    assert repr(kind) == f"proteus.{name}"
    same = module.get_function(f"of_{name}", kind, [kind])
    assert [same(value) for value in values] == values
    if name[0] in "iu":
        for value in (values[0] - 1, values[1] + 1):
            with pytest.raises(OverflowError, match=f"proteus.{name} cannot hold {value}"):
                same(value)
        with pytest.raises(TypeError):
            same(1.5)


def test_pointers_of_the_host(module: proteus.Module) -> None:
    total = module.get_function("sum", proteus.f64, [proteus.ptr, proteus.i64, proteus.f32])
    assert total(np.arange(5.0), 5, 2.0) == 20
    assert total((ctypes.c_double * 3)(1, 2, 3), np.int64(3), np.float32(1)) == 6
    assert total(None, 0, 1) == 0
    increase = module.get_function("increase", None, [proteus.ptr])
    number = ctypes.c_int32(0)
    pointer = ctypes.pointer(number)
    address = ctypes.addressof(number)

    class Tensor:
        def data_ptr(self) -> int:
            return address

    for given in (number, pointer, ctypes.byref(number), ctypes.c_void_p(address), Tensor(),
                  address, np.uint64(address)):  # fmt: skip
        assert increase(given) is None
    assert number.value == 7
    same = module.get_function("of_ptr", proteus.ptr, [proteus.ptr])
    assert same(None) == 0
    sentence = "pointer argument must be an int, None, data_ptr() object, __array_interface__ object, or ctypes object"
    for wrong in (1.5, "text", [1]):
        with pytest.raises(TypeError, match=f"^{re.escape(sentence)}$"):
            same(wrong)


def test_a_module_is_kept_by_its_functions() -> None:
    twice = proteus.compile(IR, "llvmir").get_function("twice", proteus.i32, [proteus.i32])
    assert twice(2) == 4


def test_extra_arguments_and_addresses(module: proteus.Module) -> None:
    assert module.get_function("factor", proteus.i32, [])() == 7
    address = module.get_function_address("factor")
    assert ctypes.CFUNCTYPE(ctypes.c_int)(address)() == 7


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"frontend": "c"}, "frontend must be 'cpp', 'llvmir', or 'mlir'"),
        ({"frontend": "cpp", "compiler": "gcc"}, "compiler must be 'clang' or 'nvcc'"),
        (
            {"frontend": "llvmir", "compiler": "nvcc"},
            "LLVMIR frontend does not support compiler='nvcc'",
        ),
        (
            {"frontend": "llvmir", "extra_args": ["-g"]},
            "LLVMIR frontend does not support extra_args",
        ),
        (
            {"frontend": "mlir", "compiler": "nvcc"},
            "MLIR frontend does not support compiler='nvcc'",
        ),
        ({"frontend": "mlir", "extra_args": ["-g"]}, "MLIR frontend does not support extra_args"),
    ],
)
def test_wrong_use(arguments: dict[str, object], sentence: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(sentence)}$"):
        proteus.compile("", **arguments)


def test_errors_are_the_compilers_words(module: proteus.Module, tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match=r"CppJitModule:1:\d+: error: expected"):
        proteus.compile("int f( {", "cpp")
    with pytest.raises(RuntimeError, match="^LLVMIRJitModule: failed to parse LLVM IR: line 1"):
        proteus.compile("define i32 @f( {", "llvmir")
    with pytest.raises(RuntimeError, match="^Unsupported target gpu$"):
        proteus.compile(IR, "llvmir", target="gpu")
    with pytest.raises(RuntimeError, match="^the module has no function 'f'"):
        module.get_function("f", None, [])
    with pytest.raises(RuntimeError, match=r"^Error: getKernel\(\) applies only to device modules"):
        module.get_kernel("factor", [])
    with pytest.raises(TypeError, match="^function argument count does not match argtypes$"):
        module.get_function("factor", proteus.i32, [])(1)
    with pytest.raises(TypeError, match="is not a type of proteus"):
        module.get_function("factor", int, [])
    with pytest.raises(FileNotFoundError):
        proteus.compile(tmp_path / "none.cpp", "cpp")


@pytest.mark.parametrize(
    ("vendor", "frontend"), [("cuda", "llvmir"), ("cuda", "cpp"), ("hip", "cpp")]
)
def test_kernels(tmp_path: Path, vendor: str, frontend: str) -> None:
    kind = {"cuda": "cuda", "hip": "rocm"}[vendor]
    done = subprocess.run(
        [
            *(sys.executable, "-m", "mneme", "run", "--device", "cpu", "--", sys.executable),
            *(HERE / "python_kernels.py", vendor, frontend),
        ],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        env={**os.environ, "PROTEUS_BACKEND_KIND": kind},
    )
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    code = next(line for line in lines if line.startswith("too many threads"))
    assert re.fullmatch(
        r"too many threads: RuntimeError: Proteus kernel launch failed with error code [1-9]\d*",
        code,
    )
    dims = "must be an int or a tuple/list of 1 to 3 ints"
    device = "pointer argument must be an int, None, data_ptr() object, or __cuda_array_interface__ object"
    assert [line for line in lines if line != code] == [
        f"{kind} {kind == 'cuda'} {kind == 'rocm'}",
        "<proteus.Kernel name='scale' restype=None argtypes=[proteus.ptr, proteus.f64, proteus.i32]>",
        "16.0 496.0",
        "count: TypeError: kernel argument count does not match argtypes",
        "none: TypeError: grid must contain between 1 and 3 dimensions",
        "many: TypeError: block must contain between 1 and 3 dimensions",
        f"text: TypeError: grid {dims}",
        f"float: TypeError: block {dims}",
        "negative: ValueError: grid has a dimension that is negative or above 4294967295",
        "stream: TypeError: 'str' object cannot be interpreted as an integer",
        f"numpy: TypeError: {device}",
        f"ctypes: TypeError: {device}",
        "True __cuda_array_interface__ data tuple is empty",
        "Target is a GPU model, cannot directly run functions, use launch()",
        "Error: getFunction() applies only to host modules",
        "the module has no kernel 'scal'; it has 'scale'",
    ]


def test_backends(tmp_path: Path) -> None:
    assert proteus.__version__ == mneme_version
    assert {"host", "cuda", "rocm"} <= set(proteus.available_backends())
    variants = proteus.available_backend_variants()
    assert "host_llvm22" in variants
    alias = """
import os, mneme.jit
from mneme.jit import *
os.environ["PROTEUS_BACKEND_KIND"] = "rocm"
print(mneme.jit.active_backend, mneme.jit.has_hip, mneme.jit.compile is compile, f64)
"""
    assert script(tmp_path, alias) == ["rocm True True proteus.f64"]
    show = "import proteus; print(proteus.active_backend, proteus.active_backend_variant)"
    for kind in ("host", "cuda", "rocm"):
        assert script(tmp_path, show, PROTEUS_BACKEND_KIND=kind) == [f"{kind} {kind}_llvm22"]
        variant = f"{kind}_llvm22"
        assert script(tmp_path, show, PROTEUS_BACKEND_VARIANT=variant) == [f"{kind} {variant}"]


def test_a_star_imports_what_is_known_of_the_backend(tmp_path: Path) -> None:
    star = """
from proteus import *
print(active_backend, active_backend_variant, has_cuda, has_hip, {type(has_cuda), type(has_mlir)})
"""
    assert script(tmp_path, star, PROTEUS_BACKEND_KIND="rocm") == [
        "rocm rocm_llvm22 False True {<class 'bool'>}"
    ]


def test_a_backend_is_locked_or_none_is_there(tmp_path: Path) -> None:
    locked = """
import os, proteus
proteus.active_backend
os.environ["PROTEUS_BACKEND_KIND"] = "cuda"
try:
    proteus.compile("", "cpp")
except RuntimeError as error:
    print(error)
"""
    assert script(tmp_path, locked, PROTEUS_BACKEND_VARIANT="host_llvm22") == [
        (
            "the Proteus backend of this process is locked to 'host_llvm22'; "
            "PROTEUS_BACKEND_KIND='cuda' has to be set before its first use"
        )
    ]
    missing = """
import proteus
try:
    proteus.has_cuda
except ImportError as error:
    print(error)
"""
    (line,) = script(tmp_path, missing, PROTEUS_BACKEND_VARIANT="host_llvm9")
    assert line.startswith(
        "No Proteus backend is installed for PROTEUS_BACKEND_VARIANT='host_llvm9'; there are host_llvm22"
    )


def test_backends_of_others_are_entry_points(tmp_path: Path) -> None:
    (tmp_path / "other.py").write_text(
        "from proteus.backends import Backend\nONE = Backend('host', 'host_other')\n"
    )
    info = tmp_path / "other-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: other\nVersion: 1\n")
    (info / "entry_points.txt").write_text(
        "[proteus.backends]\nhost_other = other:ONE\ngone = nothing.there:ONE\n"
    )
    show = "import proteus; print(proteus.active_backend_variant)"
    path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    named = {"PYTHONPATH": path, "PROTEUS_BACKEND_VARIANT": "host_other"}
    assert script(tmp_path, show, **named) == ["host_other"]


def test_mlir(tmp_path: Path) -> None:
    if not proteus.has_mlir:
        pytest.skip("mlir-opt is not installed (mlir-22-tools)")
    text = tmp_path / "square.mlir"
    text.write_text(
        "func.func @square(%x: f64) -> f64 {\n  %r = arith.mulf %x, %x : f64\n  return %r : f64\n}\n"
    )
    module = proteus.compile(text, frontend="mlir", verify=True)
    assert module.get_function("square", proteus.f64, [proteus.f64])(1.5) == 2.25
    with pytest.raises(RuntimeError, match="^MLIRJitModule: line 1:10: error: "):
        proteus.compile("func.func", frontend="mlir")


def test_mlir_without_its_programs(tmp_path: Path) -> None:
    code = """
import proteus
try:
    proteus.compile("func.func @f() {return}", frontend="mlir")
except ValueError as error:
    print(proteus.has_mlir, error)
"""
    (said,) = script(tmp_path, code, PROTEUS_MLIR_OPT_BIN="/nothing")
    assert said == (
        "False MLIR frontend requires PROTEUS_ENABLE_MLIR: MLIRJitModule: PROTEUS_MLIR_OPT_BIN='/nothing' is not a "
        "program that can be run"
    )
