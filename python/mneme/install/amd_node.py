"""Finds what a node with AMD GPUs has and lacks, by reading files; loads nothing."""

from __future__ import annotations

import os
import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["Part", "amd_parts"]

_TOPOLOGY = "sys/class/kfd/kfd/topology/nodes"
_DRIVER = "dev/kfd"
_HEADER = "include/hip/hip_version.h"
_LIBRARIES = (
    "amdgcn/bitcode",
    "lib/llvm/lib/clang/*/lib/amdgcn/bitcode",
    "lib/*/amdgcn/bitcode",
    "lib/llvm-*/lib/clang/*/amdgcn/bitcode",
)
_PROFILERS = tuple(
    f"{folder}/librocprofiler-sdk.so{version}"
    for version in (".1", ".0")
    for folder in ("lib", "lib64", "lib/*")
)
_CLANGS = ("lib/llvm/lib/clang/[0-9]*", "llvm/lib/clang/[0-9]*")
_RUNTIMES = ("lib/libamdhip64.so*", "lib64/libamdhip64.so*", "lib/*/libamdhip64.so*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One thing that programs for AMD GPUs need."""

    name: str
    detail: str
    """What was found, or the problem."""
    remedy: str = ""
    """What to do; empty if nothing is missing."""


def amd_parts(root: Path, environment: Mapping[str, str], clang: str) -> list[Part]:
    """Return what exists and what is missing; nothing if there is neither GPU nor HIP.

    Args:
        root: Root of the file system.
        environment: ROCM_PATH and HIP_PATH name ROCm's place; otherwise /opt/rocm or /usr.
        clang: The major version that mneme's passes are for.
    """
    gpus = _gpus(root / _TOPOLOGY)
    rocm = _rocm(root, environment)
    if not gpus and rocm is None:
        return []
    return [_driver(root, gpus), *_toolkit(rocm), *_compiler(rocm, clang)]


def _gpus(topology: Path) -> Counter[str]:
    """Return architectures with their numbers, from the topology of the driver `amdkfd`."""
    found: Counter[str] = Counter()
    for properties in topology.glob("*/properties"):
        try:
            text = properties.read_text(errors="replace")
        except OSError:  # a GPU that belongs to another job
            continue
        version = re.search(r"^gfx_target_version (\d+)$", text, re.MULTILINE)
        if version and int(version[1]):
            found[_arch(int(version[1]))] += 1
    return found


def _arch(version: int) -> str:
    """Return "gfx90a" for 90010: 10000 * major + 100 * minor + stepping, the last two in hex."""
    major, rest = divmod(version, 10_000)
    minor, stepping = divmod(rest, 100)
    return f"gfx{major}{minor:x}{stepping:x}"


def _rocm(root: Path, environment: Mapping[str, str]) -> Path | None:
    named = [Path(path) for name in ("ROCM_PATH", "HIP_PATH") if (path := environment.get(name))]
    places = (*named, root / "opt/rocm", root / "usr")
    return next((place for place in places if (place / _HEADER).is_file()), None)


def _driver(root: Path, gpus: Counter[str]) -> Part:
    name = "AMD GPUs"
    told = ", ".join(f"{count} x {arch}" for arch, count in sorted(gpus.items()))
    driver = root / _DRIVER
    if not driver.exists():
        return Part(name=name, detail=f"no /{_DRIVER}", remedy="install the driver amdgpu")
    if not os.access(driver, os.R_OK | os.W_OK):
        remedy = "become a member of its group (render or video), or ask for a GPU in the job"
        return Part(
            name=name, detail=f"{told or 'none seen'}, but no right to /{_DRIVER}", remedy=remedy
        )
    if not told:
        return Part(name=name, detail="the driver shows none", remedy="ask for a GPU in the job")
    return Part(name=name, detail=told)


def _toolkit(rocm: Path | None) -> list[Part]:
    if rocm is None:
        remedy = "install ROCm, or set ROCM_PATH to it; building and running HIP programs needs it"
        return [Part(name="ROCm", detail="none found", remedy=remedy)]
    text = (rocm / _HEADER).read_text(errors="replace")
    numbers = dict(re.findall(r"#define\s+HIP_VERSION_(MAJOR|MINOR)\s+(\d+)", text))
    version = f"HIP {numbers.get('MAJOR', '?')}.{numbers.get('MINOR', '?')}"
    runtime = next((path for one in _RUNTIMES for path in sorted(rocm.glob(one))), None)
    libraries = next((path for one in _LIBRARIES for path in sorted(rocm.glob(one))), None)
    return [
        Part(name="ROCm", detail=f"{version}, {rocm}"),
        Part(name="HIP runtime", detail=str(runtime))
        if runtime
        else Part(
            name="HIP runtime",
            detail=f"no libamdhip64.so in {rocm}",
            remedy="install it; linking HIP programs needs it",
        ),
        _device_libraries(rocm, libraries),
        _profiler(rocm),
    ]


def _profiler(rocm: Path) -> Part:
    name = "times of kernels"
    found = next((path for one in _PROFILERS for path in sorted(rocm.glob(one))), None)
    if found is None:
        remedy = (
            "install rocprofiler-sdk (ROCm 6.2 or newer); `mneme optimize` measures kernels in "
            "programs by it, and goes by recordings without"
        )
        return Part(name=name, detail=f"no librocprofiler-sdk.so in {rocm}", remedy=remedy)
    return Part(name=name, detail=str(found))


def _compiler(rocm: Path | None, wanted: str) -> list[Part]:
    """Report ROCm's own clang, whose version is that of its headers, as not needed."""
    headers = (
        next((path for one in _CLANGS for path in sorted(rocm.glob(one))), None) if rocm else None
    )
    if headers is None:
        return []
    told = f"{headers.name}, not for mneme's passes: clang {wanted} compiles for this ROCm"
    return [Part(name="ROCm's clang", detail=told)]


def _device_libraries(rocm: Path, libraries: Path | None) -> Part:
    name = "device libraries"
    if libraries is None:
        remedy = "install rocm-device-libs; building HIP programs needs them"
        return Part(name=name, detail=f"none in {rocm}", remedy=remedy)
    count = len(list(libraries.glob("oclc_isa_version_*.bc")))
    return Part(name=name, detail=f"for {count} processors, {libraries}")
