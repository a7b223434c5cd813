"""A recorded kernel with the values of a launch, in the form that kernels of programs have."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from mneme.arguments import ArgKind, Argument
from mneme.programs.kernels import EmbeddedKernel
from mneme.recording.inventory import format_value
from mneme.recording.launch_facts import static_hash_text
from mneme.recording.recorded_execution import RecordedExecution

if TYPE_CHECKING:
    from mneme.recording.recorded_execution import KernelInstance

__all__ = ["RecordedKernel", "recorded_kernel"]

_NUMBERS = (ArgKind.INTEGER, ArgKind.FLOAT)
_GLOBAL = "global"


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedKernel:
    """A kernel and one of its launches."""

    kernel: EmbeddedKernel
    values: tuple[str, ...]
    """Numbers that the launch was given, as "1=4096", or "2+8=7" for a member of a structure."""
    block: tuple[int, int, int]
    grid: tuple[int, int, int]


def recorded_kernel(record_file: Path, record_id: str) -> RecordedKernel:
    """Return the kernel of a record, and what one of its launches was given.

    Raises:
        NotFound: If the launch or one of its files does not exist.
        ArtifactCorrupt: If a file is damaged.
        Unsupported: If there is no IR.
    """
    from mneme import _native  # noqa: PLC0415 - loads native code

    record = RecordedExecution.from_json(record_file)
    record.require_ir("mneme explain")
    launch = record.get(record_id)
    snapshot = launch.prologue.snapshot
    args = Argument.all_of(_native.record_arguments(record.path))
    code, *linked = (Path(name).read_bytes() for name in record.llvm_files)
    regions = snapshot.regions()
    kernel = EmbeddedKernel(
        kernel_name=record.kernel_name,
        demangled_name=record.demangled_name,
        static_hash=static_hash_text(record.static_hash),
        file=record.path,
        args=tuple(args),
        bitcode=code,
        arch=record.arch,
        place=record.place,
        code_hash=record.code_hash,
        options=json.dumps(record.extras.get("Options", {})),
        variables=tuple(str(one["name"]) for one in regions if one["kind"] == _GLOBAL),
        linked=tuple(linked),
    )
    return RecordedKernel(
        kernel=kernel,
        values=tuple(_values(args, snapshot.args())),
        block=_extent(launch, "block_dim"),
        grid=_extent(launch, "grid_dim"),
    )


def _is_finite(value: bytes, kind: ArgKind) -> bool:
    return kind is ArgKind.INTEGER or math.isfinite(float(format_value(value, kind)))


def _values(args: tuple[Argument, ...], values: list[bytes]) -> list[str]:
    told = []
    for position, (argument, value) in enumerate(zip(args, values, strict=False), start=1):
        is_number = argument.is_specializable and argument.kind in _NUMBERS
        if is_number and _is_finite(value, argument.kind):
            told.append(f"{position}={format_value(value, argument.kind)}")
        told += [
            f"{position}+{one.offset}={format_value(one.of(value), one.kind)}"
            for one in argument.members or ()
            if one.is_specializable and one.kind in _NUMBERS and _is_finite(one.of(value), one.kind)
        ]
    return told


def _extent(launch: KernelInstance, name: str) -> tuple[int, int, int]:
    dims = getattr(launch, name)
    return dims.x, dims.y, dims.z
