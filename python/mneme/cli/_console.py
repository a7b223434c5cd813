"""Printing: JSON and tables on stdout, messages on stderr. Rich is loaded only for tables.

Names come from recordings, results and paths. Invisible characters in them are printed as codes, so
that nothing moves the cursor, ends a line or turns the writing direction. Passwords in addresses
are left out.
"""

from __future__ import annotations

import json
import os
import sys
from typing import TYPE_CHECKING, Any

from mneme.files.redaction import redacted_text
from mneme.files.visible import visible

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rich.console import Console
    from rich.table import Table

__all__ = [
    "format_bytes",
    "format_ns",
    "is_verbose",
    "print_json",
    "print_line",
    "print_table",
    "print_text",
    "say",
    "say_error",
    "say_text",
    "stderr_console",
    "table",
    "table_width",
]

_UNITS = ("B", "KiB", "MiB", "GiB", "TiB")
_UNIT_STEP = 1024
_TABLE_WIDTH_WITHOUT_TERMINAL = 80
_NARROWEST_COLUMN = 10
_MOST_ROWS = 40


def is_verbose() -> bool:
    """Whether the user asked for more than warnings, by `-v` or by its variable."""
    return os.environ.get("MNEME_LOG_LEVEL") in ("info", "debug", "trace")


def say(sentence: str) -> None:
    """Print a message for the user, on one line of stderr."""
    _tell(f"mneme: {visible(redacted_text(sentence))}\n")


def say_text(text: str) -> None:
    """Write several lines to stderr unchanged: a traceback, a help text."""
    _tell("".join(f"{visible(line)}\n" for line in _lines(redacted_text(text))))


def say_error(error: Exception) -> None:
    """Print an error for the user on stderr: a line, and one for each thing that it lists."""
    rows: Sequence[Sequence[str]] = getattr(error, "rows", ())
    if not rows:
        say(" ".join(str(error).split()))
        return
    from mneme.cli._fitting import aligned  # noqa: PLC0415 - loads Rich

    say(f"{getattr(error, 'begin', '')}:")
    say_text("\n".join(aligned(rows[:_MOST_ROWS], _TABLE_WIDTH_WITHOUT_TERMINAL)))
    if len(rows) > _MOST_ROWS:
        say_text(f"  and {len(rows) - _MOST_ROWS} more")


def _tell(text: str) -> None:
    """Write to stderr; if that fails, as on a full disk, only the text is lost."""
    try:
        sys.stderr.write(text)
        sys.stderr.flush()
    except BrokenPipeError:
        raise
    except OSError:
        _drop_what_waits()


def _drop_what_waits() -> None:
    """Empty the buffer of stderr: text left in it would make Python exit with code 120."""
    descriptor = sys.stderr.fileno()
    kept, nowhere = os.dup(descriptor), os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, descriptor)
        sys.stderr.flush()
    finally:
        os.dup2(kept, descriptor)
        os.close(kept)
        os.close(nowhere)


def print_line(text: str = "") -> None:
    """Print one line to stdout."""
    sys.stdout.write(f"{visible(text)}\n")


def print_text(text: str) -> None:
    """Print several lines to stdout."""
    sys.stdout.write("".join(f"{visible(line)}\n" for line in _lines(text)))


def _lines(text: str) -> Sequence[str]:
    return text.rstrip("\n").split("\n")


def print_json(data: Any) -> None:  # noqa: ANN401 - JSON is anything
    """Print JSON to stdout, in ASCII."""
    sys.stdout.write(json.dumps(data, indent=2).replace("\x7f", "\\u007f") + "\n")


def table(title: str, columns: Iterable[str]) -> Table:
    """Start a table.

    A column whose name begins with '>' is aligned to the right and keeps its width; one with '~' is
    prose. Where the table would be too wide, prose goes below its row, and other texts lose their
    middle.
    """
    from rich.table import Table  # noqa: PLC0415 - slow to import

    class VisibleTable(Table):
        def add_row(self, *cells: Any, **more: Any) -> None:  # noqa: ANN401 - as in the base class
            super().add_row(*(visible(cell) for cell in cells), **more)

    result = VisibleTable(title=visible(title), title_justify="left")
    for column in columns:
        is_right, is_prose = column.startswith(">"), column.startswith("~")
        result.add_column(
            column.lstrip(">~"),
            justify="right" if is_right else "left",
            overflow="fold",
            no_wrap=not is_prose,
        )
    return result


def table_width() -> int:
    """Return how many characters of a line tables may take on stdout."""
    return _table_console().width


def _table_console() -> Console:
    is_fixed = sys.stdout.isatty() or "COLUMNS" in os.environ
    return _plain_console(width=None if is_fixed else _TABLE_WIDTH_WITHOUT_TERMINAL)


def print_table(content: Table) -> None:
    """Print a table to stdout."""
    from mneme.cli._fitting import is_too_wide, narrowed  # noqa: PLC0415 - loads Rich

    console = _table_console()
    if not is_too_wide(content, console.width):
        console.print(content)
        return
    is_narrow = console.width < _NARROWEST_COLUMN * len(content.columns)
    text = None if is_narrow else narrowed(content, console.width)
    print_text(_as_list(content) if text is None else text)


def _as_list(content: Table) -> str:
    """Return a table row by row, for a terminal that is too narrow for columns."""
    names = [str(column.header) for column in content.columns]
    lines = [str(content.title)] if content.title else []
    for cells in zip(*(column.cells for column in content.columns), strict=True):
        first, *others = map(str, cells)
        lines.append(first)
        shown = zip(names[1:], others, strict=True)
        lines += [f"  {name}: {cell}" if name else f"  {cell}" for name, cell in shown if cell]
    return "\n".join(lines)


def stderr_console() -> Console:
    """Return the console that draws on stderr."""
    return _plain_console(stderr=True)


def _plain_console(**options: Any) -> Console:  # noqa: ANN401 - of Rich
    from rich.console import Console  # noqa: PLC0415 - slow to import

    # Brackets and colons in names are neither markup nor emoji.
    return Console(markup=False, emoji=False, highlight=False, **options)


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
