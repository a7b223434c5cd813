"""Printing: JSON and tables on stdout, sentences on stderr. Rich is loaded only for tables."""

from __future__ import annotations

import json
import os
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rich.table import Table

__all__ = ["format_bytes", "format_ns", "print_json", "print_line", "print_table", "say", "table"]

_UNITS = ("B", "KiB", "MiB", "GiB", "TiB")
_UNIT_STEP = 1024
_TABLE_WIDTH_WITHOUT_TERMINAL = 160


def say(sentence: str) -> None:
    """Tell the user something, on stderr."""
    sys.stderr.write(f"mneme: {sentence}\n")
    sys.stderr.flush()


def print_line(text: str = "") -> None:
    """Print one line to stdout."""
    sys.stdout.write(f"{text}\n")


def print_json(data: Any) -> None:  # noqa: ANN401 - JSON is anything
    """Print JSON to stdout."""
    sys.stdout.write(json.dumps(data, indent=2) + "\n")


def table(title: str, columns: Iterable[str]) -> Table:
    """Start a table; a column whose name begins with '>' is aligned to the right."""
    from rich.table import Table  # noqa: PLC0415 - slow to import

    result = Table(title=title, title_justify="left")
    for column in columns:
        is_right = column.startswith(">")
        result.add_column(
            column.lstrip(">"), justify="right" if is_right else "left", overflow="fold"
        )
    return result


def print_table(content: Table) -> None:
    """Print a table to stdout."""
    from rich.console import Console  # noqa: PLC0415 - slow to import

    is_fixed = sys.stdout.isatty() or "COLUMNS" in os.environ
    console = Console(width=None if is_fixed else _TABLE_WIDTH_WITHOUT_TERMINAL)
    console.print(content, markup=False, highlight=False)


def format_bytes(count: int) -> str:
    """Return a size with a unit: 1536 gives "1.5 KiB"."""
    value = float(count)
    for unit in _UNITS:
        if value < _UNIT_STEP or unit == _UNITS[-1]:
            return f"{value:.0f} {unit}" if unit == "B" else f"{value:.1f} {unit}"
        value /= _UNIT_STEP
    raise AssertionError


def format_ns(nanoseconds: int) -> str:
    """Return a duration with a unit; "-" if unknown."""
    if nanoseconds <= 0:
        return "-"
    for unit, factor in (("s", 1e9), ("ms", 1e6), ("µs", 1e3)):
        if nanoseconds >= factor:
            return f"{nanoseconds / factor:.2f} {unit}"
    return f"{nanoseconds} ns"
