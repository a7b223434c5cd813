"""Code is what clang makes of it without the passes: the assembly of every function of examples, tests
and benchmarks, but for functions with a variable that may be read before it is set."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from mneme.install import paths as _paths
from native_parts import needs_native

pytestmark = [pytest.mark.compile, pytest.mark.slow, needs_native]

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("examples", "tests/apps", "tests/python", "benchmarks/programs")
INCLUDES = ("examples", "include", "tests/apps/api", "tests/apps/gpu_record", "tests/python", ".")
# The first do not compile alone. Calls that mark something are removed from marked programs.
LEFT_OUT = ("tests/apps/tuned/library.cu", "tests/apps/hip_api/", "tests/apps/jit/")
CUDA_SOURCES = sorted(
    name
    for folder in FOLDERS
    for path in (ROOT / folder).rglob("*.cu")
    if not (name := str(path.relative_to(ROOT))).startswith(LEFT_OUT)
)
HIP_SOURCES = [
    *(name for name in CUDA_SOURCES if name.startswith("examples/")),
    *("benchmarks/programs/column_physics.cu", "tests/python/unset_kernels.cu"),
    *sorted(str(path.relative_to(ROOT)) for path in (ROOT / "tests/apps/hip_api").glob("*.hip")),
]
_STEP = "step(Fields const&, int, int, int, int, int, float)"
_PHYSICS = "columnPhysics(float*, float const*, int, float)"
# "function: variable" of all that is set to zero.
_REALS = ("float", "double")
ZEROED = {
    # One array is read one element past the loop that fills it, others are set in branches.
    "benchmarks/programs/column_physics.cu": {f"{_STEP}: speed", f"{_STEP}: flux"},
    # Matrices that are set by rows, or below the diagonal.
    "benchmarks/programs/dense_kernels.cu": {
        *(
            f"void solveSmall<{real}, 8>({real}*, {real} const*, {real} const*, long): m"
            for real in _REALS
        ),
        *(f"void choleskySmall<{real}>({real}*, {real} const*, long): m" for real in _REALS),
    },
    "benchmarks/programs/unset_locals.cu": {
        f"{_PHYSICS}: {name}" for name in ("cloud", "flux", "melt")
    },
    # What is sorted as it is filled; bytes that fill up an object whose address others get.
    "tests/apps/api/local_memory.cu": {
        "sortLocally(int const*, int*, int): local",
        "areas(float*): square",
    },
    # HIP's header makes a vector of one number, and hands on all four.
    "tests/apps/hip_api/textures.hip": {
        "float vector[4] __hipMapToNativeFloat4<float, (void*)0>(float const&): tmp"
    },
    "tests/python/unset_kernels.cu": {
        "eachRound(float const*, float*, int): value",
        "oneTooMany(float const*, float*, int): some",
        "otherwiseNothing(float const*, float*, int): value",
    },
}
ZEROED_FOR_AMD = {"benchmarks/programs/column_physics.cu": {f"{_STEP}: q"}}
# All functions whose code is another.
DIFFERENT = {
    "benchmarks/programs/column_physics.cu": {"_Z10columnStep6Fieldsiiif"},
    "benchmarks/programs/dense_kernels.cu": {
        "_Z13choleskySmallIfEvPT_PKS0_l",
        "_Z13choleskySmallIdEvPT_PKS0_l",
    },
    "benchmarks/programs/unset_locals.cu": {"_Z13columnPhysicsPfPKfif"},
    "tests/apps/api/local_memory.cu": {"_Z11sortLocallyPKiPii", "_Z5areasPf"},
    "tests/python/unset_kernels.cu": {
        "_Z10oneTooManyPKfPfi",
        "_Z16otherwiseNothingPKfPfi",
        "_Z9eachRoundPKfPfi",
    },
    # A static variable that a kernel changes is found by name in the running program. It is no longer
    # known then that nobody else changes it: it is read once more, and not taken apart.
    "tests/apps/tuned/variables.cu": {"_Z7combinePiii"},
    "tests/apps/hip_api/hidden.hip": {"_Z11count_firstPii"},
}
# Static variables and functions whose addresses are data get names that can be found, and comments name
# functions: neither is code.
NAMES = (
    (r"__mneme_[0-9a-f]{16}", ""),
    (r"_\$_", "_"),
    (r"\.visible ", ""),
    (r"[ \t]*(?://|; ).*", ""),
    (r"\n+", "\n"),
)


@dataclass(frozen=True)
class Target:
    """What code is made for."""

    front_end: tuple[str, ...]
    back_end: tuple[str, ...]
    function: str
    """How functions look in assembly, their name first."""
    headers: tuple[str, ...]
    """What many sources include, which takes longer to read than the rest."""


Headers = Callable[[Target], Path]
STANDARD = ("algorithm", "cmath", "cstdio", "cstdlib", "cstring", "string", "vector")
PTX = Target(
    front_end=("-x", "cuda", "--offload-arch=sm_90", "-std=c++20"),
    back_end=("--target=nvptx64-nvidia-cuda", "-march=sm_90"),
    function=r"^(?:\.\w+ )*\.(?:entry|func)\b[^;{]*?\b([A-Za-z_$][\w$]*)\s*\([^()]*\)[^;{]*\{.*?^\}",
    headers=("cuda_runtime.h", *STANDARD),
)
GCN = Target(
    front_end=(
        "-x",
        "hip",
        "--offload-arch=gfx90a",
        "-std=c++20",
        "-Iexamples/hip",
        "-include",
        "hip/hip_runtime.h",
    ),
    back_end=("--target=amdgcn-amd-amdhsa", "-mcpu=gfx90a", "-nogpulib"),
    function=r"^([A-Za-z_$][\w$]*):.*?^\.Lfunc_end\d+:",
    headers=("hip/hip_runtime.h", *STANDARD),
)


@cache
def _plugin() -> str:
    found = sorted((_paths.prefix() / "lib").glob("*MnemePasses*"))
    if not found:
        pytest.skip("the pass plugin is not built")
    return str(found[0])


def _run(*command: str | Path) -> str:
    done = subprocess.run(
        [str(word) for word in command],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
        cwd=ROOT,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stderr


def _front_end(target: Target, *words: str | Path) -> None:
    """Run the front end for the device alone."""
    _run(
        *(_paths.prefix() / "bin" / "mneme-clang++", *target.front_end, "-w", "-O3"),
        *("-fno-discard-value-names", "-Xclang", "-disable-llvm-passes", "--offload-device-only"),
        *("-emit-llvm", "-c", *words),
    )


@pytest.fixture(scope="module")
def headers(tmp_path_factory: pytest.TempPathFactory) -> Headers:
    """Gives the headers of a target, read once for all sources."""
    folder = tmp_path_factory.mktemp("headers")

    @cache
    def read(target: Target) -> Path:
        name = target.headers[0].partition(".")[0].replace("/", "-")
        source, made = folder / f"{name}.cu", folder / f"{name}.pch"
        source.write_text("".join(f"#include <{one}>\n" for one in target.headers))
        _front_end(target, "-Xclang", "-emit-pch", source, "-o", made)
        return made

    return read


def _raw_ir(name: str, target: Target, headers: Headers, folder: Path) -> Path:
    """Return what the front end makes of the device code of a source."""
    code = folder / "device.bc"
    includes = [f"-I{place}" for place in (Path(name).parent, *INCLUDES)]
    known = [word for one in ("-include-pch", headers(target)) for word in ("-Xclang", one)]
    _front_end(target, *includes, *known, name, "-o", code)
    return code


def _assembly(code: Path, target: Target, *options: str) -> tuple[dict[str, str], str]:
    """Return the functions in the assembly of a module, and what the compiler says."""
    clang = Path(str(_paths.config()["llvmdir"])) / "bin" / "clang"
    text = code.with_suffix(".s")
    said = _run(
        *(clang, *target.back_end, "-O3", "-ffp-contract=fast", "-x", "ir", code, "-S", "-o", text),
        *("-Wno-unused-command-line-argument", *options),
    )
    code_text = text.read_text()
    for other, same in NAMES:
        code_text = re.sub(other, same, code_text)
    functions = re.finditer(target.function, code_text, re.MULTILINE | re.DOTALL)
    return {one[1]: one[0] for one in functions}, said


def _check(name: str, target: Target, headers: Headers, folder: Path) -> None:
    if shutil.which("clang++") is None and not Path(str(_paths.config()["llvmdir"])).is_dir():
        pytest.skip("there is no clang")
    code = _raw_ir(name, target, headers, folder)
    plain, _ = _assembly(code, target)
    ours, said = _assembly(code, target, f"-fpass-plugin={_plugin()}", "-Rpass=mneme")
    zeroed = set(re.findall(r"'([^\n]*?)' may read '([^\n]*?)' before", said))
    expected = ZEROED.get(name, set())
    if target is GCN:
        expected = expected | ZEROED_FOR_AMD.get(name, set())
    assert {f"{function}: {variable}" for function, variable in zeroed} == expected
    different = {function for function, text in plain.items() if ours.get(function) != text}
    assert different == DIFFERENT.get(name, set())


@pytest.mark.cuda
@pytest.mark.parametrize("name", CUDA_SOURCES)
def test_code_for_nvidia_gpus_is_clangs(name: str, headers: Headers, tmp_path: Path) -> None:
    _check(name, PTX, headers, tmp_path)


@pytest.mark.hip
@pytest.mark.parametrize("name", HIP_SOURCES)
def test_code_for_amd_gpus_is_clangs(name: str, headers: Headers, tmp_path: Path) -> None:
    _check(name, GCN, headers, tmp_path)


HOST_SOURCES = ("benchmarks/programs/column_physics.cu", "tests/apps/tuned/templates.cu")


@pytest.mark.cuda
@pytest.mark.parametrize("name", HOST_SOURCES)
def test_host_code_is_clangs_but_where_it_launches(name: str, tmp_path: Path) -> None:
    found = []
    for options in ((), (f"-fpass-plugin={_plugin()}",)):
        text = tmp_path / "host.s"
        _run(
            *(_paths.prefix() / "bin" / "mneme-clang++", *PTX.front_end, "-w", "-O3", "-Iexamples"),
            *("--offload-host-only", "-S", name, "-o", text, *options),
        )
        functions = re.finditer(
            r"^([A-Za-z_$][\w$.]*):.*?\.cfi_endproc", text.read_text(), re.MULTILINE | re.DOTALL
        )
        # Labels and constants are numbered through the unit.
        found.append({one[1]: re.sub(r"\.L[\w.]+|#.*", "", one[0]) for one in functions})
    plain, ours = found
    for function, text in plain.items():
        if "cudaLaunchKernel" in text or "device_stub" in text:  # registers differ around the call
            assert _arithmetic(text) == _arithmetic(ours[function])
        else:
            assert text == ours[function]


def _arithmetic(code: str) -> list[str]:
    """Return the operations on floating-point numbers, in order."""
    return re.findall(r"\t(v?(?:add|sub|mul|div|sqrt|fn?m)\w*[sp][sd])\t", code)


@pytest.mark.cuda
@pytest.mark.parametrize("says", ["", "uninitialized", "zero"])
def test_what_the_command_line_says_of_unset_variables_counts(says: str, tmp_path: Path) -> None:
    from mneme import _native  # noqa: PLC0415

    program = tmp_path / "unset.o"
    options = [f"-ftrivial-auto-var-init={says}"] if says else []
    said = _run(
        *(_paths.prefix() / "bin" / "mneme-clang++", *PTX.front_end, "-O2", "-w", *options),
        *(f"-fpass-plugin={_plugin()}", "-fno-discard-value-names", "-Rpass=mneme"),
        *("-c", "tests/python/unset_kernels.cu", "-o", program),
    )
    assert ("before it is set: it is set to zero" in said) == (not says)
    facts = [json.loads(one["metadata"]) for one in _native.describe_binary(program)]
    zeroed = {name for one in facts for name in one["options"].get("zeroed_locals", ())}
    assert zeroed == (set() if says else ZEROED["tests/python/unset_kernels.cu"])
    unset = [one["kernel"] for one in facts if one["options"].get("unset_locals")]
    assert bool(unset) == (says == "uninitialized")
