"""`mneme trim`: the smallest recording of a launch that replays the same."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mneme.cli import _console
from mneme.cli._options import DeviceOption, JsonOption
from mneme.cli._recording import (
    DatabaseOption,
    KernelArgument,
    RecordIdOption,
    RecordingArgument,
    chosen_launch,
    tell_apart,
)

if TYPE_CHECKING:
    from mneme.trim.trimming import Progress, Trimmed

__all__ = ["trim"]

_SECONDS_BETWEEN_LINES = 5.0


def trim(
    recording: RecordingArgument = None,
    kernel: KernelArgument = None,
    record_database: DatabaseOption = None,
    record_id: RecordIdOption = None,
    output: Annotated[
        Path,
        typer.Option(
            "-o", "--output", metavar="DIR", help="Where the smaller recording goes; must be new."
        ),
    ] = Path("trimmed"),
    keep_grid: Annotated[
        bool,
        typer.Option(
            "--keep-grid", help="Keep all blocks, so that times stay those of the launch."
        ),
    ] = False,
    budget: Annotated[
        str,
        typer.Option("--budget", metavar="TIME", help="Time for the search: 90s, 10m, 1h30m."),
    ] = "5m",
    device: DeviceOption = None,
    json: JsonOption = False,
) -> None:
    """Write a recording of one launch without what the launch does not need.

    Replays the launch with other content in memory, and with fewer blocks, and leaves out what
    makes no difference. The result is a recording like any other; the original stays as it is.
    """
    from mneme.optimize.options import parse_budget  # noqa: PLC0415 - `--help` stays light
    from mneme.trim import TrimOptions  # noqa: PLC0415
    from mneme.trim import trim as run  # noqa: PLC0415

    words = tell_apart(recording, kernel, database=record_database)
    database, chosen = chosen_launch(words, record_id)
    options = TrimOptions(
        record=database,
        record_id=chosen,
        output=output,
        device=device,
        budget=parse_budget(budget),
        keeps_grid=keep_grid,
        on_progress=_Lines().tell,
    )
    result = run(options)
    if json:
        _console.print_json(result.to_dict())
    else:
        _show(result)


class _Lines:
    """Tells now and then how far the search is."""

    def __init__(self) -> None:
        self._next = time.monotonic() + _SECONDS_BETWEEN_LINES

    def tell(self, progress: Progress) -> None:
        now = time.monotonic()
        if now < self._next:
            return
        self._next = now + _SECONDS_BETWEEN_LINES
        _console.say(
            f"{progress.replays} replays; not read: {_console.format_bytes(progress.unread)}, "
            f"to be decided: {_console.format_bytes(progress.undecided)}"
        )


def _show(result: Trimmed) -> None:
    content = _console.table("", ("", ">before", ">after"))
    size = _console.format_bytes
    content.add_row("files", size(result.files_before), size(result.files_after))
    content.add_row(
        "memory that a replay allocates",
        size(result.described_before),
        size(result.described_after),
    )
    content.add_row(
        "of which may be read",
        size(result.described_before),
        size(result.described_before - result.unread),
    )
    content.add_row("blocks", _grid(result.grid_before), _grid(result.grid_after))
    content.add_row("replays needed", "", f"{result.replays} in {result.seconds:.1f} s")
    _console.print_table(content)
    if not result.is_gain:
        _console.print_line("there is nothing to gain: the launch needs what was recorded")
    if result.undecided:
        _console.print_line(
            f"{size(result.undecided)} are undecided because the time ran out; --budget gives more"
        )
    if result.why_same_grid:
        _console.print_line(f"all blocks are kept: {result.why_same_grid}")
    else:
        _console.print_line("times are those of the smaller grid; --keep-grid keeps the launch's")
    _console.say(f"wrote '{result.record}'")


def _grid(grid: tuple[int, int, int]) -> str:
    x, y, z = grid
    return f"{x}x{y}x{z}" if z > 1 else f"{x}x{y}" if y > 1 else str(x)
