"""Launches that are sent without memory to which no pointer leads.

That memory is zero on nodes, before and after the launch; all other memory is compared. A launch
that reaches it all the same, through an address that it computes, does not replay there as
recorded, and is sent as a whole.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from mneme.errors import ArtifactCorrupt, IoFailed
from mneme.files.scratch import ScratchDirectory
from mneme.measure.sent_recordings import Package, digest_of, pack, sent_name
from mneme.recording.reached_memory import unreached_regions
from mneme.recording.recorded_execution import RecordedExecution

if TYPE_CHECKING:
    from mneme._native import Snapshot
    from mneme.recording.recorded_execution import KernelInstance

__all__ = ["pack_part"]

# Less is sent in a second, and not worth a replay.
_LEAST_BYTES = 16 << 20


def pack_part(record_file: str | Path, record_id: str) -> Package | None:
    """Find the files of a launch without memory to which no pointer leads.

    Returns:
        None if that saves too little, or if the launch may reach it in another way.

    Raises:
        InvalidArgument: If it has files in other directories.
        NotFound, ArtifactCorrupt: As `RecordedExecution.from_json`.
    """
    from mneme import _native  # noqa: PLC0415 - loads native code

    path = Path(record_file).absolute()
    instance = RecordedExecution.from_json(path).get(record_id)
    states = [Path(one.fn).absolute() for one in (instance.prologue, instance.epilogue)]
    before, after = (_native.Snapshot(str(one)) for one in states)
    if not _is_usual(instance) or _needed_bytes(before) < _LEAST_BYTES:
        return None
    zero = unreached_regions(before, _LEAST_BYTES)
    others = [Path(one) for one in _native.files_of(str(path)) if not one.endswith(".mneme")]
    if not zero or any(one.parent != path.parent for one in [*states, *others]):
        return None
    try:
        scratch = ScratchDirectory("part")
        record = Path(scratch.name) / path.name
        for one in {*before.needed_files(), *after.needed_files(), *(one.name for one in others)}:
            if one != path.name:
                (record.parent / one).symlink_to(path.parent / one)
        if not _write(record, path, instance, zero):
            return None
    except (ArtifactCorrupt, IoFailed, KeyError, OSError):  # another tool's record, a full disk
        return None
    name = sent_name(digest_of(path), record_id, is_part=True)
    return replace(pack(record, record_id), name=name, scratch=scratch)


def _is_usual(instance: KernelInstance) -> bool:
    """Return whether a launch reaches memory through pointers only, as far as known."""
    return not (instance.textures or instance.device_heap or instance.limits.get("Heap"))


def _write(record: Path, path: Path, instance: KernelInstance, zero: set[int]) -> bool:
    """Write snapshots with zeros, and a record of them; return whether they will do."""
    from mneme import _native  # noqa: PLC0415 - loads native code

    files = [Path(one.fn) for one in (instance.prologue, instance.epilogue)]
    before, after = (_native.Snapshot(str(one)) for one in files)
    numbers = {(one["address"], one["size"]): at for at, one in enumerate(after.regions())}
    regions = before.regions()
    places = {at: (regions[at]["address"], regions[at]["size"]) for at in zero}
    zero = {at for at in zero if places[at] in numbers}
    parts = [record.parent / f"{one.stem}.part{one.suffix}" for one in files]
    wholes = [record.parent / one.name for one in files]
    zero_after = {numbers[places[at]] for at in zero}
    before_part = _native.write_partial_snapshot(parts[0], wholes[0], zero)
    after_part = _native.write_partial_snapshot(parts[1], wholes[1], zero_after)
    # A launch that has changed memory to which no pointer leads has computed its address.
    if after_part.changed_bytes(before_part) != after.changed_bytes(before):
        return False
    content = json.loads(path.read_text("utf-8"))
    content.pop("Checksum", None)
    names = dict(zip(("Prologue", "Epilogue"), (one.name for one in parts), strict=True))
    launch = {**content["instances"][instance.dynamic_hash], **names}
    content["instances"] = {instance.dynamic_hash: launch}
    record.write_text(json.dumps(content))
    return _needed_bytes(before) - _needed_bytes(before_part) >= _LEAST_BYTES


def _needed_bytes(snapshot: Snapshot) -> int:
    return sum(size for ranges in snapshot.needed_ranges().values() for _, size in ranges)
