"""Finds the one record and the one instance a user means."""

from __future__ import annotations

from pathlib import Path

from mneme.errors import InvalidArgument, NotFound
from mneme.recording.recorded_execution import KernelInstance, RecordedExecution

_MOST_LISTED = 8

__all__ = ["find_instance", "first_of_alike", "infer_record_id"]


def infer_record_id(record: RecordedExecution, record_id: str | None) -> str:
    """Return `record_id`, which scripts also give as a number, or the only id there is.

    Raises:
        NotFound: If the record has no such instance.
        InvalidArgument: If no id is given and there is not exactly one instance.
    """
    ids = list(record)
    if record_id is None:
        if len(ids) == 1:
            return ids[0]
        raise InvalidArgument(f"Cannot infer record ID from '{record.path}': {_why_not(ids)}")
    if record_id not in record:
        raise NotFound(
            f"'{record.path}' has no instance {record_id}; it has {', '.join(ids) or 'none'}"
        )
    return str(record_id)


def _why_not(ids: list[str]) -> str:
    """Say why there is no one instance that is meant, and what to do."""
    if not ids:
        return "no launch of this kernel was recorded completely; record the program again"
    listed = ", ".join(ids[:_MOST_LISTED]) + (", ..." if len(ids) > _MOST_LISTED else "")
    return f"it has {len(ids)} recorded launches ({listed}); name one with -rid"


def first_of_alike(database: str | Path) -> tuple[str | None, int]:
    """Return the first recorded of several launches that differ in scalar arguments only.

    Tools whose record id has no arguments in it keep one launch where we keep several.

    Returns:
        Its id and how many there are; None and 0 if there is nothing to choose, or the launches
        differ in more.

    Raises:
        NotFound, InvalidArgument, ArtifactCorrupt: As `find_instance`.
    """
    path = Path(database)
    if path.is_dir():
        from mneme.recording.directory import Recording  # noqa: PLC0415 - only for directories

        records = list(Recording(path).values())
        if len(records) != 1:
            return None, 0
        record = records[0]
    else:
        record = RecordedExecution.from_json(path)
    launches = list(record.values())
    if len({_shape(one) for one in launches}) != 1 or len(launches) == 1:
        return None, 0
    return min(launches, key=_age).dynamic_hash, len(launches)


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
    """Return the record file and the instance that are meant.

    Args:
        database: A `<static hash>.json` file, or a directory of them.
        record_id: Dynamic hash of the instance; None if there is only one.

    Raises:
        NotFound: If file, directory or instance do not exist.
        InvalidArgument: If more than one instance fits.
        ArtifactCorrupt: If a file is damaged.
    """
    path = Path(database)
    if not path.is_dir():
        return path, infer_record_id(RecordedExecution.from_json(path), record_id)
    from mneme.recording.directory import Recording  # noqa: PLC0415 - only for directories

    records = list(Recording(path).values())
    if record_id is not None:
        records = [record for record in records if record_id in record]
    if len(records) == 1:
        return records[0].path, infer_record_id(records[0], record_id)
    if not records:
        what = f"instance {record_id}" if record_id else "record"
        raise NotFound(f"'{path}' holds no {what}; 'mneme ls {path}' lists what it holds")
    files = ", ".join(record.path.name for record in records)
    raise InvalidArgument(f"'{path}' holds {len(records)} records that fit; name one of {files}")
