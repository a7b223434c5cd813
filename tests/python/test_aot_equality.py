"""A replay of the unmodified kernel must give the bits the application got: the machine code made
from embedded IR is that of the ahead-of-time compiler."""

from __future__ import annotations

import json
import os
import re
import shutil
import struct
import subprocess
from pathlib import Path

import pytest

from mneme.install import paths as _paths
from native_parts import needs_native

ROOT = Path(__file__).resolve().parents[2]
KERNELS = Path(__file__).with_name("float_kernels.cu")
# Collective softmax and reductions; pragmas and attributes of single functions; device math.
TEXT_SOURCES = ("attention_kernels.cu", "pragma_kernels.cu", "math_kernels.cu")
TOOLKIT = os.environ.get("CUDA_HOME", "")

pytestmark = [pytest.mark.compile, pytest.mark.cuda, pytest.mark.slow, needs_native]

CASES = [
    "-O3",
    "-O2",
    "-O1",
    "-O3 -g",
    "-O3 -ffp-contract=off",
    "-O3 -ffp-contract=on",
    "-O3 -fgpu-flush-denormals-to-zero",
    "-O3 -ffast-math",
    "-O2 -ffast-math -fgpu-flush-denormals-to-zero",
    "-O3 -fgpu-approx-transcendentals",
    "-Og",
    "-O3 -Xcuda-ptxas --fmad=false",
    "-O2 -Xcuda-ptxas -O1 -Xcuda-ptxas -maxrregcount -Xcuda-ptxas 24",
]
# What -mllvm gives LLVM, in text.
OPTION_CASES = [
    "-O3 -mllvm -unroll-count=3",
    "-O3 -mllvm -nvptx-prec-divf32=0",
    "-O2 -mllvm -inline-threshold=0",
]
# With these the text the assembler gets is compared: tables of the device library lie elsewhere in a
# module of one kernel, which only machine code shows.
TEXT_CASES = [
    *("-O0", "-O3", "-O2", "-O1", "-Os", "-Oz", "-Og", "-O0 -ffast-math"),
    *(f"-O3 -ffp-contract={mode}" for mode in ("off", "on", "fast", "fast-honor-pragmas")),
    *(f"-O3 -ffast-math -ffp-contract={mode}" for mode in ("off", "on", "fast-honor-pragmas")),
    *(f"-O3 -ffp-model={model}" for model in ("precise", "strict", "fast", "aggressive")),
    *("-O3 -ffast-math", "-O2 -ffast-math", "-O1 -ffast-math", "-Os -ffast-math"),
    "-Ofast",
    "-O3 -fgpu-flush-denormals-to-zero",
    "-O2 -ffast-math -fgpu-flush-denormals-to-zero -fgpu-approx-transcendentals",
    "-O3 -fgpu-approx-transcendentals",
    "-O3 -fassociative-math -fno-signed-zeros -fno-trapping-math",
    "-O3 -freciprocal-math -fapprox-func",
    "-O3 -ffinite-math-only -fno-math-errno",
    "-O3 -fdenormal-fp-math=preserve-sign",
    "-O3 -fno-unroll-loops",
    "-O2 -fno-slp-vectorize -fno-vectorize",
    "-O1 -funroll-loops -fvectorize -fslp-vectorize",
    "-O3 -fno-inline",
    "-O3 -ftrivial-auto-var-init=zero",
    "-O3 -ffast-math -ftrivial-auto-var-init=zero",
]
TEXT_PAIRS = [(flags, source) for flags in TEXT_CASES for source in TEXT_SOURCES]
# Without being asked every third of these flags, each with another source, and every second of the
# others: all of them take ten minutes.
if not os.environ.get("MNEME_TEST_EVERY_FLAG"):
    TEXT_PAIRS = TEXT_PAIRS[:: 3 * len(TEXT_SOURCES) + 1]
    CASES = CASES[::2]


def _compiler() -> list[str]:
    name = os.environ.get("MNEME_CLANGXX") or f"{_paths.config()['llvmdir']}/bin/clang++"
    if shutil.which(name) is None or not (Path(TOOLKIT) / "bin" / "ptxas").is_file():
        pytest.skip(f"CUDA_HOME names no toolkit with ptxas, or there is no {name}")
    return [
        *(name, "-x", "cuda", "--offload-arch=sm_90", f"--cuda-path={TOOLKIT}"),
        *("-isystem", f"{TOOLKIT}/include/cccl", "-Wno-unknown-cuda-version"),
        *(f"-I{ROOT / 'examples'}", f"-I{_paths.prefix() / 'include'}"),
    ]


def _code(cubin: bytes, kernel: str) -> bytes:
    """Return the instructions of a kernel."""
    (table,) = struct.unpack_from("<Q", cubin, 40)
    entry, count, names = struct.unpack_from("<HHH", cubin, 58)
    sections = [struct.unpack_from("<IIQQQQIIQQ", cubin, table + i * entry) for i in range(count)]
    for name, _, _, _, offset, size, *_ in sections:
        start = sections[names][4] + name
        if cubin[start : cubin.index(b"\0", start)].decode() == f".text.{kernel}":
            return cubin[offset : offset + size]
    raise AssertionError(f"the image has no code of {kernel}")


def _plugin() -> Path:
    found = sorted((_paths.prefix() / "lib").glob("*MnemePasses*"))
    if not found:
        pytest.skip("the pass plugin is not built")
    return found[0]


def _differing(source: Path, flags: list[str], tmp_path: Path) -> tuple[list[str], int]:
    from mneme import _native  # noqa: PLC0415

    # The code of the host carries nothing.
    compiler = [*_compiler(), *flags, "--cuda-device-only"]
    image, embedded = tmp_path / "aot.cubin", tmp_path / "embedded.cubin"
    plain = [*compiler, "-o", image, source]
    subprocess.run(plain, check=True, timeout=300)
    carrying = [*compiler, f"-fpass-plugin={_plugin()}", "-o", embedded, source]
    subprocess.run(carrying, check=True, timeout=300)
    ahead = image.read_bytes()
    kernels = _native.describe_binary(embedded)
    different = []
    for kernel in kernels:
        options = json.loads(kernel["metadata"])["options"]
        compiled = _native.compile_ir(
            [kernel["bitcode"]],
            kernel["kernel"],
            target="sm_90",
            passes=f"default<O{options['opt_level']}>",
            codegen_opt=_level(options),
            options_json=json.dumps(options),
            use_cache=False,
        )
        if _code(compiled["image"], kernel["kernel"]) != _code(ahead, kernel["kernel"]):
            different.append(kernel["kernel"])
    return different, len(kernels)


def _level(options: dict[str, str]) -> int:
    """Return clang's own level of code generation."""
    return int(options["opt_level"]) if options["opt_level"].isdigit() else 2


def _text(ptx: str, name: str, *, hides_stack: bool) -> str:
    """Return the text of a function, whatever its registers and labels are called and, if wanted,
    wherever its variables lie."""
    head = rf"(?:\.entry|\.func) [^{{;]*\b{re.escape(name)}\s*\([^)]*\)[^{{;]*"
    found = re.search(head + r"\{.*?\n}\n", ptx, re.DOTALL)
    assert found, f"the assembly has no {name}"
    body = re.sub(r"//.*|^\s*\.(?:loc|file) .*", "", found[0], flags=re.MULTILINE)
    body = re.sub(r"__local_depot\d+", "__local_depot", body)
    body = re.sub(r"\$L__\w+?(?:\d+_)?(\d+)\b", r"$L\1", body)
    names: dict[str, str] = {}
    if hides_stack:
        body = re.sub(r"(__local_depot)\[\d+\]", r"\1", body)
        body = re.sub(r"(%SPL?)(?:\+|, )(\d+)", r"%stack\2", body).replace("[%SP]", "[%stack0]")
    body = re.sub(r"%[a-z]+\d+", lambda match: names.setdefault(match[0], f"%{len(names)}"), body)
    return "\n".join(line.strip() for line in body.splitlines() if line.strip())


def _differing_texts(source: Path, flags: list[str], tmp_path: Path) -> tuple[list[str], int]:
    from mneme import _native  # noqa: PLC0415

    embedded, text = tmp_path / "embedded.cubin", tmp_path / "aot.s"
    # What the program itself gets, made by a compiler that embeds.
    compiler = [*_compiler(), "-w", *flags, f"-fpass-plugin={_plugin()}", "--cuda-device-only"]
    subprocess.run([*compiler, "-S", "-o", text, source], check=True, timeout=300)
    assembler = [f"{TOOLKIT}/bin/ptxas", "-arch=sm_90", "-O0", "-o", embedded, text]
    subprocess.run(assembler, check=True, timeout=300)
    ahead = text.read_text()
    kernels = [one for one in _native.describe_binary(embedded) if one["kernel"]]
    different = []
    for kernel in kernels:
        options = json.loads(kernel["metadata"])["options"]
        ptx = _native.compile_ir(
            [kernel["bitcode"]],
            kernel["kernel"],
            target="sm_90",
            passes=f"default<O{options['opt_level']}>",
            codegen_opt=_level(options),
            options_json=json.dumps(options),
            use_cache=False,
            want_assembly=True,
        )["assembly"]
        functions = [kernel["kernel"], *re.findall(r"\bcall\.uni (?:\(\w+\), )?(_Z\w+)", ptx)]
        # Always inlined functions are inlined in an order of the whole unit.
        hides = options["opt_level"] == "0"
        if any(
            _text(ptx, name, hides_stack=hides) != _text(ahead, name, hides_stack=hides)
            for name in functions
        ):
            different.append(kernel["kernel"])
    return different, len(kernels)


@pytest.mark.parametrize(("flags", "source"), TEXT_PAIRS)
def test_the_assembly_is_that_of_the_program(flags: str, source: str, tmp_path: Path) -> None:
    different, count = _differing_texts(KERNELS.with_name(source), flags.split(), tmp_path)
    assert count >= 7
    assert different == []


@pytest.mark.parametrize("flags", ["-O3", "-O1", "-Os", "-O3 -ffast-math"])
def test_helpers_of_several_kernels_are_inlined_as_in_the_program(
    flags: str, tmp_path: Path
) -> None:
    source = KERNELS.with_name("shared_kernels.cu")
    different, count = _differing_texts(source, flags.split(), tmp_path)
    assert count == 4
    assert different == []


@pytest.mark.parametrize("flags", OPTION_CASES)
def test_options_of_llvm_are_those_of_the_program(flags: str, tmp_path: Path) -> None:
    source = KERNELS.with_name("pragma_kernels.cu")
    different, count = _differing_texts(source, flags.split(), tmp_path)
    assert count >= 7
    assert different == []


@pytest.mark.parametrize("flags", CASES)
def test_the_machine_code_is_that_of_the_ahead_of_time_compiler(flags: str, tmp_path: Path) -> None:
    different, count = _differing(KERNELS, flags.split(), tmp_path)
    assert count >= 12
    assert different == []


@pytest.mark.parametrize("example", ["vector_add", "nbody", "stencil2d", "reduction"])
def test_the_machine_code_of_examples_is_that_of_the_application(
    example: str, tmp_path: Path
) -> None:
    for source in sorted((ROOT / "examples" / example).glob("*.cu")):
        different, count = _differing(source, ["-O3"], tmp_path)
        assert count >= 1
        assert different == []


def test_a_kernel_compiled_with_other_options_is_not_the_same(tmp_path: Path) -> None:
    """The comparison sees what it should."""
    first, second = tmp_path / "a.cubin", tmp_path / "b.cubin"
    for path, flags in ((first, []), (second, ["-ffp-contract=off"])):
        line = [*_compiler(), "-O3", *flags, "--cuda-device-only", "-o", path, KERNELS]
        subprocess.run(line, check=True, timeout=300)
    kernel = "_Z5saxpyPfPKffi"
    assert _code(first.read_bytes(), kernel) != _code(second.read_bytes(), kernel)
    with pytest.raises(AssertionError, match="no code of"):
        _code(first.read_bytes(), "nothing")
