"""Whole recordings as files: copy, move, delete."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from mneme.errors import NotFound

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["clean_records", "copy_records", "move_records"]


def copy_records(databases: Iterable[str | Path], destination: str | Path) -> list[Path]:
    """Copy records with everything they refer to; all of them or none.

    Args:
        databases: Record files, or directories whose records are all meant.
        destination: Directory; made if it does not exist.

    Returns:
        The record files that were copied.

    Raises:
        NotFound: If a record does not exist.
        ArtifactCorrupt: If a file is damaged.
        IoFailed: If the operating system refuses to write.
    """
    from mneme import _native  # noqa: PLC0415 - loads native code

    records = _expand(databases)
    _native.copy_records([str(path) for path in records], str(destination))
    return records


def move_records(databases: Iterable[str | Path], destination: str | Path) -> list[Path]:
    """Move records with everything they refer to; see `copy_records`."""
    from mneme import _native  # noqa: PLC0415 - loads native code

    records = _expand(databases)
    _native.move_records([str(path) for path in records], str(destination))
    return records


def clean_records(databases: Iterable[str | Path]) -> list[Path]:
    """Delete records with the files only they refer to; returns the deleted files.

    In a directory, files that are merely named like records stay.
    """
    from mneme import _native  # noqa: PLC0415 - loads native code

    records = _expand(databases, with_strangers=False)
    deleted = _native.clean_records([str(path) for path in records])
    return [Path(name) for name in deleted]


def _expand(databases: Iterable[str | Path], *, with_strangers: bool = True) -> list[Path]:
    records: list[Path] = []
    for database in databases:
        path = Path(database)
        found = _records_in(path, with_strangers=with_strangers) if path.is_dir() else [path]
        if not found:
            raise NotFound(f"'{path}' holds no record")
        records.extend(found)
    return records


def _records_in(directory: Path, *, with_strangers: bool) -> list[Path]:
    from mneme import _native  # noqa: PLC0415 - loads native code

    listing = _native.list_directory(str(directory))
    left_out = set() if with_strangers else set(listing["strangers"])
    return [Path(name) for name in listing["records"] if name not in left_out]
