"""Makes tables as narrow as the terminal: long texts lose their middle, prose goes below."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Final

from mneme.kernel_names import shortened

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rich.table import Column, Table

__all__ = ["is_too_wide", "narrowed"]

_NARROWEST: Final = 6
# Columns that tell rows apart get more room than others.
_WEIGHTS: Final = {"kernel": 2, "name": 2, "place": 4}


def is_too_wide(content: Table, width: int) -> bool:
    """Whether a table with its lines needs more columns of a terminal than `width`."""
    needed = sum(map(_natural, content.columns)) + 3 * len(content.columns) + 1
    return needed > width


def narrowed(content: Table, width: int) -> str | None:
    """Return a table that is too wide as text of this width; None if there is too little room.

    Different texts of a column stay different, so that rows do.
    """
    prose = [one for one in content.columns if not one.no_wrap]
    columns = [one for one in content.columns if one.no_wrap]
    natural = {index: _natural(one) for index, one in enumerate(columns)}
    elastic = {i: need for i, need in natural.items() if columns[i].justify != "right"}
    room = width - (len(columns) - 1) - sum(natural.values()) + sum(elastic.values())
    weights = {i: _WEIGHTS.get(str(columns[i].header), 1) for i in elastic}
    widths = {**natural, **_shared(room, elastic, weights)}
    if any(widths[i] < min(_NARROWEST, natural[i]) for i in natural):
        return None
    rows = zip(*(_cells(one, widths[i]) for i, one in enumerate(columns)), strict=True)
    below = zip(*(map(str, one.cells) for one in prose), strict=True) if prose else None
    lines = [str(content.title)] if content.title else []
    lines.append(_row([str(one.header) for one in columns], columns, widths))
    lines.append("─" * (sum(widths.values()) + len(columns) - 1))
    for row in rows:
        lines.append(_row(row, columns, widths))
        for column, text in zip(prose, next(below) if below else (), strict=True):
            about = f"{column.header}: {text}" if column.header else text
            wrapped = textwrap.wrap(about, width, initial_indent="  ", subsequent_indent="    ")
            lines += wrapped if text else []
    return "\n".join(lines)


def _row(cells: Sequence[str], columns: Sequence[Column], widths: Mapping[int, int]) -> str:
    padded = (
        cell.rjust(widths[i]) if columns[i].justify == "right" else cell.ljust(widths[i])
        for i, cell in enumerate(cells)
    )
    return " ".join(padded).rstrip()


def _cells(column: Column, width: int) -> list[str]:
    return shortened([str(cell) for cell in column.cells], width)


def _natural(column: Column) -> int:
    return max(len(str(text)) for text in (column.header, *column.cells))


def _shared(room: int, natural: Mapping[int, int], weights: Mapping[int, int]) -> dict[int, int]:
    """Share room among columns by weight; none gets more than it needs."""
    left, widths = dict(natural), dict.fromkeys(natural, 0)
    while left:
        part = max(0, room) / sum(weights[i] for i in left)
        small = [i for i in left if left[i] <= part * weights[i]]
        for i in small or left:
            widths[i] = left[i] if small else int(part * weights[i])
        if not small:
            break
        for i in small:
            room -= left.pop(i)
    return widths
