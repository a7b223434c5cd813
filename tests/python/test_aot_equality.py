"""A replay of the unmodified kernel must give the bits the application got: the machine code made
from embedded IR is that of the ahead-of-time compiler."""

from __future__ import annotations

import json
import os
import shutil
import struct
import subprocess
from pathlib import Path

import pytest

from mneme import _paths
from native_parts import needs_native

ROOT = Path(__file__).resolve().parents[2]
KERNELS = Path(__file__).with_name("float_kernels.cu")
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
]


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

    compiler = [*_compiler(), *flags]
    image, embedded = tmp_path / "aot.cubin", tmp_path / "embedded.o"
    plain = [*compiler, "--cuda-device-only", "-o", image, source]
    subprocess.run(plain, check=True, timeout=300)
    carrying = [*compiler, f"-fpass-plugin={_plugin()}", "-c", "-o", embedded, source]
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
            codegen_opt=int(options["opt_level"]),
            options_json=json.dumps(options),
            use_cache=False,
        )
        if _code(compiled["image"], kernel["kernel"]) != _code(ahead, kernel["kernel"]):
            different.append(kernel["kernel"])
    return different, len(kernels)


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
