"""Finds the one kernel and the one launch that a user means: the same way for every verb."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from mneme.errors import InvalidArgument, NotFound
from mneme.recording.choice import Chosen, choose_among
from mneme.recording.directory import Recording
from mneme.recording.recorded_execution import RecordedExecution

if TYPE_CHECKING:
    from mneme.recording.recorded_execution import KernelInstance

_MOST_LISTED = 8

__all__ = [
    "choose",
    "choose_launch",
    "every_launch",
    "find_instance",
    "first_of_alike",
    "infer_record_id",
    "only_launch",
    "told_of_alike",
]


def choose(recording: str | Path, kernel: str | None, record_id: str | None) -> Chosen:
    """Return the kernel that is meant.

    Args:
        recording: A recording directory, or a record's `<static hash>.json`.
        kernel: As for `mneme.recording.choice.choose_among`.
        record_id: As for that.

    Raises:
        NotFound: If recording, kernel or launch do not exist.
        InvalidArgument: If several kernels fit; the message lists them.
        ArtifactCorrupt: If a file is damaged.
    """
    path = Path(recording)
    if not path.is_dir():
        records, damaged = [RecordedExecution.from_json(path)], 0
    else:
        found = Recording(path)
        records, damaged = list(found.values()), len(found.damaged)
    return choose_among(records, kernel, record_id, recording=recording, damaged=damaged)


def choose_launch(
    recording: str | Path, kernel: str | None, record_id: str | None
) -> tuple[Path, str]:
    """Return the record file and the id of the one launch that is meant.

    Raises:
        NotFound, InvalidArgument, ArtifactCorrupt: As `choose`; InvalidArgument also if several
            launches of the kernel fit.
    """
    chosen = choose(recording, kernel, record_id)
    return chosen.record.path, only_launch(chosen)


def every_launch(recording: str | Path, kernel: str | None) -> list[Chosen]:
    """Return all launches of a recording, or of one of its kernels, kernel by kernel.

    Raises:
        NotFound: If there is none.
        InvalidArgument: If several kernels fit, or the name is that of one launch.
        ArtifactCorrupt: If a file is damaged.
    """
    path = Path(recording)
    if kernel is None and path.is_dir():
        found = [
            Chosen(record=one, launches=tuple(one.values())) for one in Recording(path).values()
        ]
    else:
        found = [choose(path, kernel, None)]
    if any(len(one.launches) < len(one.record) for one in found):
        raise InvalidArgument(
            f"--all means every launch, and '{kernel}' names one; leave --all out"
        )
    if not any(one.launches for one in found):
        raise NotFound(f"'{recording}' holds no recorded launch")
    return found


def only_launch(chosen: Chosen) -> str:
    """Return the id of the only launch.

    Raises:
        InvalidArgument: If there are several, which the message lists, or none.
    """
    if len(chosen.launches) == 1:
        return chosen.launches[0].dynamic_hash
    raise InvalidArgument(f"Cannot infer record ID from '{chosen.record.path}': {_why_not(chosen)}")


def _why_not(chosen: Chosen) -> str:
    """Say why there is no one launch that is meant, and what to do."""
    if not chosen.launches:
        return "no launch of this kernel was recorded completely; record the program again"
    numbers = {one.dynamic_hash: at for at, one in enumerate(chosen.record.values(), start=1)}
    texts = [f"@{numbers[one.dynamic_hash]} {one.dynamic_hash}" for one in chosen.launches]
    more = ", ..." if len(texts) > _MOST_LISTED else ""
    return (
        f"it has {len(texts)} recorded launches ({', '.join(texts[:_MOST_LISTED])}{more}); name "
        "one with KERNEL@1 or -rid"
    )


def infer_record_id(record: RecordedExecution, record_id: str | None) -> str:
    """Return `record_id`, which scripts also give as a number, or the only id there is.

    Raises:
        NotFound: If the record has no such instance.
        InvalidArgument: If no id is given and there is not exactly one instance.
    """
    if record_id is None:
        return only_launch(Chosen(record=record, launches=tuple(record.values())))
    if record_id not in record:
        raise NotFound(
            f"'{record.path}' has no instance {record_id}; it has {', '.join(record) or 'none'}"
        )
    return str(record_id)


def first_of_alike(chosen: Chosen) -> str | None:
    """Return the first recorded of several launches that differ in scalar arguments only.

    Tools whose record id has no arguments in it keep one launch where we keep several.

    Returns:
        Its id; None if there is nothing to choose, or the launches differ in more.
    """
    if len({_shape(one) for one in chosen.launches}) != 1 or len(chosen.launches) == 1:
        return None
    return min(chosen.launches, key=_age).dynamic_hash


def told_of_alike(chosen: Chosen, record_id: str) -> str:
    """Return the sentence about one of several launches that are alike."""
    return (
        f"{len(chosen.launches)} launches of '{chosen.record.path}' differ in scalar arguments "
        f"only; this is the first recorded, {record_id} (choose with KERNEL@1, ... or -rid)"
    )


def _shape(launch: KernelInstance) -> tuple[object, ...]:
    cluster = tuple(sorted(launch.cluster_dim.items()))
    return launch.grid_dim, launch.block_dim, launch.shared_mem, launch.is_cooperative, cluster


def _age(launch: KernelInstance) -> tuple[int, str]:
    """Return when the launch was written; its id decides where that is not known."""
    try:
        written = Path(launch.prologue.fn).stat().st_mtime_ns
    except OSError:
        written = 0
    return written, launch.dynamic_hash


def find_instance(database: str | Path, record_id: str | None) -> tuple[Path, str]:
    """Return the record file and the instance that are meant, without a kernel's name.

    Raises:
        NotFound, InvalidArgument, ArtifactCorrupt: As `choose_launch`.
    """
    return choose_launch(database, None, record_id)
