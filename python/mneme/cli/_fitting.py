"""Makes tables as narrow as the terminal: long texts lose their middle, prose goes below.

Widths are columns of the terminal, of which letters of some languages take two.
"""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Final

from rich.cells import cell_len, set_cell_size

from mneme.kernel_names import shortened

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rich.table import Column, Table

__all__ = ["aligned", "is_too_wide", "narrowed"]

_NARROWEST: Final = 6
# Columns that tell rows apart get more room than others.
_WEIGHTS: Final = {"kernel": 2, "name": 2, "place": 4}
# First columns whose texts stand above their rows rather than in less room than this.
_NAMES: Final = ("kernel",)
# Columns of functions and types, which may lose parameters and arguments.
_FUNCTIONS: Final = ("kernel", "name", "type")
_NAME_ROOM: Final = 24
_INDENT: Final = "  "


def is_too_wide(content: Table, width: int) -> bool:
    """Whether a table with its lines needs more columns of a terminal than `width`."""
    needed = sum(map(_natural, content.columns)) + 3 * len(content.columns) + 1
    return needed > width


def narrowed(content: Table, width: int) -> str | None:
    """Return a table that is too wide as text of this width; None if there is too little room.

    Different texts of a column stay different, so that rows do. A name that would lose most of its
    letters gets a line of its own above its row.
    """
    prose = [one for one in content.columns if not one.no_wrap]
    columns = [one for one in content.columns if one.no_wrap]
    widths = _widths(columns, width)
    above: list[str] = []
    header = str(columns[0].header)
    if header in _NAMES and (not widths or widths[0] < min(_NAME_ROOM, _natural(columns[0]))):
        own_widths = _widths(columns[1:], width - len(_INDENT))
        if own_widths:
            above = _cells(columns.pop(0), width)
            widths = own_widths
    if not widths:
        return None
    indent = _INDENT if above else ""
    rows = zip(*(_cells(one, wide) for one, wide in zip(columns, widths, strict=True)), strict=True)
    below = zip(*(map(str, one.cells) for one in prose), strict=True) if prose else None
    lines = [str(content.title)] if content.title else []
    lines += [header] if above else []
    lines.append(indent + _row([str(one.header) for one in columns], columns, widths))
    lines.append("─" * (len(indent) + sum(widths) + len(columns) - 1))
    for index, row in enumerate(rows):
        lines += [above[index]] if above else []
        lines.append(indent + _row(row, columns, widths))
        for column, text in zip(prose, next(below) if below else (), strict=True):
            about = f"{column.header}: {text}" if column.header else text
            wrapped = textwrap.wrap(about, width, initial_indent="  ", subsequent_indent="    ")
            lines += wrapped if text else []
    return "\n".join(lines)


def aligned(rows: Sequence[Sequence[str]], width: int) -> list[str]:
    """Return a line for each row, without a header; the first column gives way."""
    columns = list(zip(*rows, strict=True))
    others = [max(map(cell_len, one)) for one in columns[1:]]
    room = max(_NARROWEST, width - len(_INDENT) - sum(others) - 2 * len(others))
    first = _fitted(columns[0], min(room, max(map(cell_len, columns[0])))) if rows else []
    widths = [max(map(cell_len, first), default=0), *others]
    return [
        _INDENT + "  ".join(map(_left, (name, *more), widths)).rstrip()
        for name, (_, *more) in zip(first, rows, strict=True)
    ]


def _widths(columns: Sequence[Column], width: int) -> list[int]:
    """Return how wide columns are in a line; empty if one would be too narrow."""
    natural = [_natural(one) for one in columns]
    elastic = {i: need for i, need in enumerate(natural) if columns[i].justify != "right"}
    room = width - (len(columns) - 1) - sum(natural) + sum(elastic.values())
    weights = {i: _WEIGHTS.get(str(columns[i].header), 1) for i in elastic}
    shared = _shared(room, elastic, weights)
    widths = [shared.get(i, need) for i, need in enumerate(natural)]
    is_enough = all(
        wide >= min(_NARROWEST, need) for wide, need in zip(widths, natural, strict=True)
    )
    return widths if is_enough and sum(widths) + len(columns) - 1 <= width else []


def _row(cells: Sequence[str], columns: Sequence[Column], widths: Sequence[int]) -> str:
    padded = (
        _right(cell, widths[i]) if columns[i].justify == "right" else _left(cell, widths[i])
        for i, cell in enumerate(cells)
    )
    return " ".join(padded).rstrip()


def _cells(column: Column, width: int) -> list[str]:
    are_functions = str(column.header) in _FUNCTIONS
    return _fitted([str(cell) for cell in column.cells], width, are_functions=are_functions)


def _fitted(texts: Sequence[str], width: int, *, are_functions: bool = True) -> list[str]:
    """Shorten texts; what has wide letters may still be too long then, and loses its end."""
    return [
        one if cell_len(one) <= width else set_cell_size(one, width)
        for one in shortened(texts, width, are_functions=are_functions)
    ]


def _left(text: str, width: int) -> str:
    return text + " " * (width - cell_len(text))


def _right(text: str, width: int) -> str:
    return " " * (width - cell_len(text)) + text


def _natural(column: Column) -> int:
    return max(cell_len(str(text)) for text in (column.header, *column.cells))


def _shared(room: int, natural: Mapping[int, int], weights: Mapping[int, int]) -> dict[int, int]:
    """Share room among columns by weight; none gets more than it needs, narrow ones all of it."""
    left, widths = dict(natural), dict.fromkeys(natural, 0)
    while left:
        part = max(0, room) / sum(weights[i] for i in left)
        small = [i for i in left if left[i] <= max(_NARROWEST, part * weights[i])]
        for i in small or left:
            widths[i] = left[i] if small else int(part * weights[i])
        if not small:
            break
        for i in small:
            room -= left.pop(i)
    return widths
