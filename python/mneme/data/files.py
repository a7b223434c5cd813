"""Writes a table as Parquet, CSV or JSON lines, by the ending of the file's name."""

from __future__ import annotations

import csv
import itertools
import json
import os
import secrets
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from mneme.data.column import Kind, Table
from mneme.errors import BackendUnavailable, InvalidArgument, IoFailed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

__all__ = ["ENDINGS", "check_name", "write_table"]

_BATCH: Final = 4096
"""Rows that are in memory at once, and in a group of a Parquet file."""


def check_name(path: Path) -> None:
    """Make sure that a table can be written to a file of this name.

    Raises:
        InvalidArgument: If the name has none of the known endings.
        BackendUnavailable: If pyarrow is needed and not installed.
    """
    if path.suffix not in ENDINGS:
        known = ", ".join(ENDINGS)
        raise InvalidArgument(f"'{path}' has none of the endings {known}; choose one of them")
    if path.suffix == ".parquet":
        _pyarrow()


def write_table(path: Path, table: Table, rows: Iterable[Mapping[str, Any]]) -> int:
    """Write rows to a file, completely or not at all; return their number.

    Args:
        path: Ends in .parquet, .csv or .jsonl. An existing file is replaced.
        table: Its columns.
        rows: Each with a value for every column.

    Raises:
        InvalidArgument: If the name has none of these endings.
        BackendUnavailable: If pyarrow is needed and not installed.
        IoFailed: If the operating system refuses.
    """
    check_name(path)
    count = 0

    def counted() -> Iterator[Mapping[str, Any]]:
        nonlocal count
        for row in rows:
            count += 1
            yield {name: _encodable(value) for name, value in row.items()}

    try:
        with _replaced(path) as fresh:
            ENDINGS[path.suffix](fresh, table, counted())
    except OSError as error:
        raise IoFailed(f"cannot write '{path}': {error.strerror or error}") from error
    return count


def _encodable(value: Any) -> Any:  # noqa: ANN401 - of any column
    """Return a text without what UTF-8 cannot hold, as JSON may."""
    if isinstance(value, str) and not value.isascii():
        return value.encode(errors="replace").decode()
    return value


@contextmanager
def _replaced(path: Path) -> Iterator[Path]:
    """Give a file to write that takes the place of another if all went well."""
    target = Path(os.path.realpath(path))
    fresh = target.with_name(f".{target.name[:100]}.{secrets.token_hex(4)}")
    try:
        yield fresh
        fresh.replace(target)
    finally:
        with suppress(OSError):
            fresh.unlink(missing_ok=True)


def _write_parquet(path: Path, table: Table, rows: Iterator[Mapping[str, Any]]) -> None:
    pyarrow, parquet = _pyarrow()
    kinds = {
        Kind.TEXT: pyarrow.string(),
        Kind.INTEGER: pyarrow.int64(),
        Kind.FLOAT: pyarrow.float64(),
        Kind.BOOLEAN: pyarrow.bool_(),
        Kind.TIME: pyarrow.timestamp("us", tz="UTC"),
        Kind.TEXTS: pyarrow.list_(pyarrow.string()),
        Kind.INTEGERS: pyarrow.list_(pyarrow.int64()),
        Kind.FLOATS: pyarrow.list_(pyarrow.float64()),
    }
    fields = [
        pyarrow.field(one.name, kinds[one.kind], metadata={"unit": one.unit, "meaning": one.text})
        for one in table.columns
    ]
    schema = pyarrow.schema(fields, metadata=table.metadata())
    with parquet.ParquetWriter(path, schema, compression="zstd") as writer:
        while batch := list(itertools.islice(rows, _BATCH)):
            writer.write_table(pyarrow.Table.from_pylist(batch, schema=schema))


def _write_csv(path: Path, table: Table, rows: Iterator[Mapping[str, Any]]) -> None:
    names = table.names()
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(names)
        writer.writerows([_cell(row[name]) for name in names] for row in rows)


def _cell(value: Any) -> object:  # noqa: ANN401 - of any column
    """Return a value as a cell: lists as JSON, true and false as in JSON."""
    if isinstance(value, (list, bool)):
        return json.dumps(value, ensure_ascii=False)
    return _plain(value)


def _write_lines(path: Path, table: Table, rows: Iterator[Mapping[str, Any]]) -> None:
    names = table.names()
    with path.open("w", encoding="utf-8") as file:
        for row in rows:
            plain = {name: _plain(row[name]) for name in names}
            file.write(json.dumps(plain, ensure_ascii=False, allow_nan=False) + "\n")


def _plain(value: Any) -> Any:  # noqa: ANN401 - of any column
    return value.isoformat() if isinstance(value, datetime) else value


ENDINGS: Final[Mapping[str, Callable[[Path, Table, Iterator[Mapping[str, Any]]], None]]] = {
    ".parquet": _write_parquet,
    ".csv": _write_csv,
    ".jsonl": _write_lines,
}
"""The endings of names, each with what writes such a file."""


def _pyarrow() -> tuple[Any, Any]:
    try:
        import pyarrow as pa  # noqa: PLC0415 - large, and optional
        import pyarrow.parquet as parquet  # noqa: PLC0415, PLR0402
    except ImportError as error:
        raise BackendUnavailable(
            "Parquet files need pyarrow: pip install 'mneme-gpu[data]'; or write .csv or .jsonl"
        ) from error
    return pa, parquet
