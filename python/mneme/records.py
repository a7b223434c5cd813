"""Finds the one record and the one instance a user means."""

from __future__ import annotations

from pathlib import Path

from mneme.errors import InvalidArgument, NotFound
from mneme.recorded_execution import RecordedExecution

__all__ = ["find_instance", "infer_record_id"]


def infer_record_id(record: RecordedExecution, record_id: str | None) -> str:
    """Return `record_id`, or the only id there is.

    Raises:
        NotFound: If the record has no such instance.
        InvalidArgument: If no id is given and there is not exactly one instance.
    """
    ids = list(record)
    if record_id is None:
        if len(ids) == 1:
            return ids[0]
        raise InvalidArgument(
            f"Cannot infer record ID from '{record.path}': it has {len(ids)} instances "
            f"({', '.join(ids[:8])}{', ...' if len(ids) > 8 else ''}); choose one with -rid"  # noqa: PLR2004
        )
    if record_id not in record:
        raise NotFound(
            f"'{record.path}' has no instance {record_id}; it has {', '.join(ids) or 'none'}"
        )
    return record_id


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
    from mneme.recording import Recording  # noqa: PLC0415 - only for directories

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
