"""What reproducers of recorded launches have in common: memory, arguments, options."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from mneme.code_texts import assembler_words
from mneme.errors import InvalidArgument, Unsupported

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mneme._native import Snapshot
    from mneme.recording.recorded_execution import KernelInstance, RecordedExecution
    from mneme.scaffold.rendering import ScaffoldRequest

__all__ = [
    "launch_context",
    "memory_of",
    "options_of_ptxas",
    "parameter_values",
    "snapshots_of",
]

_MEBIBYTE = 1 << 20
# Numbers of CUfunc_cache.
_CACHE_CONFIGS: Final = {"PreferShared": 1, "PreferL1": 2, "PreferEqual": 3}
# Numbers of CUlimit.
_LIMITS: Final = {"Stack": 0, "Print": 1, "Heap": 2, "Launches": 4}


def parameter_values(request: ScaffoldRequest) -> dict[str, Any]:
    """Return the values of a template's parameters, by name.

    Raises:
        InvalidArgument: If one is invalid.
    """
    return {
        one.name: one.value_of(request.values[one.name])
        if one.name in request.values
        else one.default
        for one in request.template.parameters
    }


def snapshots_of(instance: KernelInstance, max_mebibytes: int) -> tuple[Snapshot, Snapshot]:
    """Return the memory before and after a launch.

    Raises:
        InvalidArgument: If there is more than allowed.
        Unsupported: If the launch sees more than memory.
    """
    from mneme import _native  # noqa: PLC0415 - loads native code

    for is_there, what in (
        (instance.textures, "reads textures"),
        (instance.device_heap, "uses the device's heap"),
    ):
        if is_there:
            raise Unsupported(f"the launch {what}, which the reproducer does not make")
    before = _native.Snapshot(Path(instance.prologue.fn))
    size = sum(region["size"] for region in before.regions())
    if size > max_mebibytes * _MEBIBYTE:
        raise InvalidArgument(
            f"the launch sees {size / _MEBIBYTE:.0f} MiB, and --max-mebibytes is {max_mebibytes}; "
            "record a smaller problem, or allow more"
        )
    return before, _native.Snapshot(Path(instance.epilogue.fn))


def memory_of(before: Snapshot, after: Snapshot) -> tuple[list[dict[str, Any]], dict[str, bytes]]:
    """Return the regions as listed in `launch.h`, and the files with their content.

    A region has "kind", "is_constant" and, for the caller to set, "is_in_image".
    """
    later = {region["address"]: index for index, region in enumerate(after.regions())}
    regions: list[dict[str, Any]] = []
    files: dict[str, bytes] = {}
    for index, region in enumerate(before.regions()):
        size = region["size"]
        old = before.read(index, 0, size)
        new = old
        if region["address"] in later:
            new = after.read(later[region["address"]], 0, size)
        stem = f"{index:03d}"
        has_content = old.count(0) != size
        if has_content:
            files[f"memory/{stem}.before"] = old
        if new != old:
            files[f"memory/{stem}.after"] = new
        regions.append(
            {
                "address": region["address"],
                "size": size,
                "name": region["name"],
                "kind": region["kind"],
                "is_constant": region["is_constant"],
                "is_in_image": False,
                "before": _quoted(f"{stem}.before" if has_content else ""),
                "after": _quoted(f"{stem}.after" if new != old else ""),
            }
        )
    return regions, files


def launch_context(
    before: Snapshot,
    recording: Mapping[str, Any],
    record: RecordedExecution,
    shared_carveout: int,
) -> dict[str, Any]:
    """Return what `launch.h` says of a launch, and "remarks" about it for people."""
    instance = record.get(recording["record_id"])
    return {
        "grid": _triple(recording["grid"]),
        "block": _triple(recording["block"]),
        "cluster": _triple(instance.cluster_dim or {"x": 1, "y": 1, "z": 1}),
        "carveout": _carveout(shared_carveout or instance.shared_carveout),
        "cache_config": 0 if shared_carveout else _CACHE_CONFIGS.get(instance.cache_config, 0),
        "limits": [(_LIMITS[name], value) for name, value in instance.limits.items()],
        "arguments": _arguments(before, recording),
        "remarks": _remarks(record, instance),
    }


def _remarks(record: RecordedExecution, instance: KernelInstance) -> list[str]:
    """Return what may make the launch differ from the recorded one, in sentences."""
    found = []
    if reads := record.unrecorded_reads:
        found.append(
            f"The recording does not hold everything that the kernel uses: {', '.join(reads)}. "
            "Memory may differ for that reason, though the code is right."
        )
    if part := instance.multiprocessors:
        found.append(
            f"The recorded launch used {part['Used']} of {part['Of']} multiprocessors; here it "
            "gets all."
        )
    return found


def options_of_ptxas(text: str) -> list[str]:
    """Return options of ptxas, each one word.

    Raises:
        InvalidArgument: If one is no option.
    """
    words = assembler_words(text)
    for one in words:
        if one.lstrip("-").startswith("ptxas-program="):
            raise InvalidArgument("the reproducer takes another ptxas as -DPTXAS=FILE of its CMake")
        if not re.fullmatch(r"--?\w[\w=,.+:/-]*", one, re.ASCII):
            raise InvalidArgument(f"--assembler-options has '{one}', which is not an option")
    return words


def _quoted(name: str) -> str:
    return f'"{name}"' if name else "nullptr"


def _triple(dims: Mapping[str, int]) -> str:
    return ", ".join(str(int(dims[axis])) for axis in "xyz")


def _carveout(counted: int) -> int:
    """Return per cent as the driver counts: -1 for its own choice, which is 0 here; 0 for 1."""
    return -1 if counted == 0 else 0 if counted == 1 else counted


def _arguments(before: Snapshot, recording: Mapping[str, Any]) -> list[dict[str, str]]:
    known = recording["args"]
    return [
        {
            "bytes": ", ".join(f"{byte:#04x}" for byte in value),
            "text": " ".join(
                f"{known[index]['name']} = {known[index]['value']}".split()
                if index < len(known)
                else ("?",)
            ),
        }
        for index, value in enumerate(before.args())
    ]
