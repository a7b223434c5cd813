"""Reads the device code of programs, built with mneme or not."""

from __future__ import annotations

import json
import re
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mneme.errors import InvalidArgument
from mneme.source_place import SourcePlace

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mneme._native import _BinaryKernel, _DeviceKernel

__all__ = ["CodeKernel", "CodeVariable", "DeviceCode", "device_code"]

# Where mneme keeps the IR of kernels.
_OURS = "__mneme_"
_ARCHITECTURE = re.compile(r"sm_\d{2,3}[af]?")


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeKernel:
    """A kernel, as its code describes it."""

    kernel_name: str
    """Mangled."""

    demangled_name: str
    """As in the source."""

    parameters: tuple[tuple[int, int], ...] | None
    """Offset and size of each, in bytes; None: the code does not tell."""

    registers: int | None
    """For each thread; None: PTX does not tell."""

    shared_bytes: int | None
    """Static shared memory; None: PTX does not tell."""

    max_threads: int
    """In a block, by its launch bounds; 0: it has none."""

    has_ir: bool
    """Whether the program carries its IR, so that mneme can compile it anew."""

    place: str = ""
    """Where its body is in the source: "src/advec_mom.cpp:120"; empty without IR."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeVariable:
    """A device variable."""

    name: str
    """Mangled."""

    size_bytes: int
    """Its size."""

    is_constant: bool
    """Whether it is in constant memory."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceCode:
    """What a file holds for one GPU."""

    members: tuple[str, ...]
    """What fat binaries hold, each once: `cubin sm_90`, `PTX compute_90`, `LTO-IR lto_90`."""

    code: tuple[str, ...]
    """What the driver would load of them, or what the file is."""

    kernels: tuple[CodeKernel, ...]
    """By name."""

    variables: tuple[CodeVariable, ...]
    """By name."""

    problems: tuple[str, ...]
    """Why some of it could not be read."""

    def to_dict(self) -> dict[str, Any]:
        """Return it for JSON."""
        return asdict(self)


def device_code(path: str | Path, *, arch: str = "") -> DeviceCode:
    """Return the device code of a program, library, fat binary, cubin or PTX file.

    Args:
        path: The file.
        arch: The GPU's architecture, `sm_90` say; the newest in the file if empty.

    Raises:
        NotFound: If the file does not exist.
        InvalidArgument: If `arch` is not an architecture.
        ArtifactCorrupt: If IR in it is damaged.
    """
    from mneme import _native  # noqa: PLC0415 - loads native code

    if arch and not _ARCHITECTURE.fullmatch(arch):
        msg = f"'{arch}' is not an architecture of NVIDIA GPUs: write sm_90"
        raise InvalidArgument(msg)
    found = _native.describe_device_code(Path(path), arch)
    with_ir = {one["kernel"]: one for one in _native.describe_binary(Path(path))}
    kernels: dict[str, CodeKernel] = {}
    variables: dict[str, CodeVariable] = {}
    for one in found:
        for kernel in one["kernels"]:
            kernels.setdefault(kernel["name"], _kernel(kernel, with_ir.get(kernel["name"])))
        for name, size, is_constant in one["variables"]:
            if not name.startswith(_OURS):
                variables[name] = CodeVariable(name=name, size_bytes=size, is_constant=is_constant)
    return DeviceCode(
        members=_once(member for one in found for member in one["members"]),
        code=_once(f"{one['form']} {one['architecture']}" for one in found if not one["problem"]),
        kernels=tuple(kernels[name] for name in sorted(kernels)),
        variables=tuple(variables[name] for name in sorted(variables)),
        problems=_once(one["problem"] for one in found if one["problem"]),
    )


def _once(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(texts))


def _kernel(kernel: _DeviceKernel, with_ir: _BinaryKernel | None) -> CodeKernel:
    parameters = kernel["parameters"]
    place = SourcePlace.found(json.loads(with_ir["metadata"]).get("place")) if with_ir else None
    return CodeKernel(
        kernel_name=kernel["name"],
        # With IR as recordings have it: demanglers differ about lambdas.
        demangled_name=with_ir["demangled"] if with_ir else kernel["demangled"],
        parameters=None if parameters is None else tuple(parameters),
        registers=kernel["registers"],
        shared_bytes=kernel["shared_bytes"],
        max_threads=kernel["max_threads"],
        has_ir=with_ir is not None,
        place=str(place or ""),
    )
