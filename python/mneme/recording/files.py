"""Whole recordings as files: copy, move, delete."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from mneme.errors import NotFound
from mneme.recording.graphs import read_graphs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

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
    for graph in _graphs_of(records):
        shutil.copyfile(graph, Path(destination) / graph.name)
    return records


def move_records(databases: Iterable[str | Path], destination: str | Path) -> list[Path]:
    """Move records with everything they refer to; see `copy_records`."""
    from mneme import _native  # noqa: PLC0415 - loads native code

    records = _expand(databases)
    graphs = _graphs_of(records)
    _native.move_records([str(path) for path in records], str(destination))
    for graph in graphs:
        shutil.move(graph, Path(destination) / graph.name)
    return records


def clean_records(databases: Iterable[str | Path]) -> list[Path]:
    """Delete records with the files only they refer to; returns the deleted files.

    In a directory, files that are merely named like records stay.
    """
    from mneme import _native  # noqa: PLC0415 - loads native code

    records = _expand(databases, with_strangers=False)
    graphs = _graphs_of(records, any)
    deleted = [Path(name) for name in _native.clean_records([str(path) for path in records])]
    for graph in graphs:
        graph.unlink(missing_ok=True)
    return [*deleted, *graphs]


def _graphs_of(
    records: Iterable[Path], whether: Callable[[Iterable[bool]], bool] = all
) -> list[Path]:
    """Return the graphs of which all, or any, kernels are among the records."""
    known = {(path.parent.resolve(), path.stem) for path in records}
    graphs = [one for folder in {folder for folder, _ in known} for one in read_graphs(folder)[0]]
    return [
        graph.path
        for graph in graphs
        if whether((graph.path.parent, node.static_hash) in known for node in graph.kernels)
    ]


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
