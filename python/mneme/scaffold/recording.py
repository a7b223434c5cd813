"""The description of a recorded launch for templates."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mneme.recording.inventory import describe_record
from mneme.recording.launch_facts import launch_facts
from mneme.recording.recorded_execution import RecordedExecution
from mneme.recording.records import every_launch, find_instance

if TYPE_CHECKING:
    from mneme.recording.inventory import InstanceDetails

__all__ = ["describe_recording", "describe_whole", "short_name"]

_LONGEST_NAME = 64
_SEVERAL = 2


def describe_recording(
    database: str | Path, record_id: str | None, *, needs_ir: bool = False
) -> dict[str, Any]:
    """Return a recorded launch as plain values, under the names that templates use.

    `record_database` (absolute path), `record_id`, `kernel_name`, `demangled_name`, `short_name`
    (an identifier), `static_hash`, `arch`, `device`, `grid`, `block` (`{"x", "y", "z"}`),
    `code_form` (what the code is without IR; else empty), `shared_mem`, `is_cooperative`,
    `occurrences`, `recorded_ns`, `modules` (absolute paths), `args` (each with `name`, `type`,
    `kind`, `value`, `is_specializable`), `scalars` (from `launch_facts`), `regions`.

    Raises:
        Unsupported: If there is no IR and it is needed.
        NotFound, InvalidArgument, ArtifactCorrupt: As for `mneme.recording.records.find_instance`.
    """
    path, chosen = find_instance(database, record_id)
    record = RecordedExecution.from_json(path)
    if needs_ir:
        record.require_ir("a generated project")
    details = describe_record(record, [chosen])
    (instance,) = details.instances
    facts = launch_facts(path, chosen)
    return {
        "record_database": str(path.resolve()),
        "record_id": chosen,
        "kernel_name": details.kernel_name,
        "demangled_name": details.demangled_name,
        "short_name": short_name(details.demangled_name),
        "static_hash": facts["static_hash"],
        "arch": details.arch,
        "device": details.device,
        "code_form": record.code_form,
        "modules": [str(Path(name).resolve()) for name in record.llvm_files],
        "scalars": facts["args"],
        **_launch(instance),
    }


def describe_whole(database: str | Path) -> dict[str, Any] | None:
    """Return a recording of several kernels as plain values; None if it has one kernel only.

    `record_database` (absolute path), `record_id` (empty), `demangled_name` (what the user reads),
    `short_name`.

    Raises:
        NotFound, ArtifactCorrupt: As for `mneme.recording.records.every_launch`.
    """
    path = Path(database).resolve()
    launches = every_launch(path, None) if path.is_dir() else []
    if len(launches) < _SEVERAL:
        return None
    return {
        "record_database": str(path),
        "record_id": "",
        "demangled_name": f"the {len(launches)} kernels of {path.name}",
        "short_name": short_name(path.name),
    }


def _launch(instance: InstanceDetails) -> dict[str, Any]:
    return {
        "grid": instance.grid,
        "block": instance.block,
        "shared_mem": instance.shared_mem,
        "is_cooperative": instance.is_cooperative,
        "occurrences": instance.occurrences,
        "recorded_ns": instance.recorded_ns,
        "args": [one.to_dict() for one in instance.args],
        "regions": [
            {
                "address": one.address,
                "size_bytes": one.size_bytes,
                "kind": one.kind,
                "name": one.name,
            }
            for one in instance.regions
        ],
    }


def short_name(demangled: str) -> str:
    """Return the kernel's own name: "void ns::axpby<double>(int)" gives "axpby"."""
    named = demangled.replace("(anonymous namespace)::", "")
    plain = named.split("(", 1)[0].split("<", 1)[0].split()[-1:]
    name = plain[0].rsplit("::", 1)[-1] if plain else ""
    word = re.sub(r"\W", "_", name, flags=re.ASCII)[:_LONGEST_NAME] or "kernel"
    return f"k{word}" if word[0].isdigit() else word
