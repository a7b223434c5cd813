"""The table of what each host of a cluster has done."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mneme.session.events import NodeReport

__all__ = ["NodeTable"]

_COLUMNS = ("host", "processes", "configurations", "failed", "busy")


@dataclass(slots=True)
class _Row:
    """One host."""

    processes: int = 0
    configurations: int = 0
    failed: int = 0
    busy_seconds: float = 0.0
    seconds: float = 0.0
    """All its processes have taken these together."""

    def cells(self) -> tuple[str, ...]:
        busy = f"{100 * self.busy_seconds / self.seconds:.0f} %" if self.seconds else "-"
        return str(self.processes), str(self.configurations), str(self.failed), busy


class NodeTable:
    """Adds up what hosts have done for one search after another."""

    def __init__(self) -> None:
        """Make it empty."""
        self._rows: dict[str, _Row] = {}
        self._left_out: dict[str, str] = {}

    def add(self, found: NodeReport) -> None:
        """Add one search."""
        for host, node in found.hosts.items():
            row = self._rows.setdefault(host, _Row())
            row.processes = max(row.processes, node.processes)
            row.configurations += node.finished
            row.failed += node.failures
            row.busy_seconds += node.device_busy_seconds
            row.seconds += max(1, node.processes) * found.seconds
        self._left_out.update(found.left_out)

    def take_lines(self) -> list[str]:
        """Return the table, none if there is nothing in it, and make it empty."""
        if not self._rows and not self._left_out:
            return []
        cells = [_COLUMNS, *((host, *row.cells()) for host, row in self._rows.items())]
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        lines = [
            "  ".join([first.ljust(widths[0]), *map(str.rjust, others, widths[1:])])
            for first, *others in cells
        ]
        lines += [f"left out: {place}: {why}" for place, why in self._left_out.items()]
        self._rows.clear()
        self._left_out.clear()
        return lines
