"""`mneme export`: everything that was measured, as one table in a file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mneme.cli import _console

__all__ = ["export"]


def export(
    results: Annotated[
        list[Path],
        typer.Argument(
            metavar="RESULTS...",
            help="Results of 'mneme tune' or 'mneme optimize', or directories above some.",
            show_default=False,
        ),
    ],
    output: Annotated[
        Path,
        typer.Option(
            "-o",
            "--output",
            metavar="FILE",
            help="The file to write: .parquet, .csv or .jsonl.",
            show_default=False,
        ),
    ],
    program: Annotated[
        str,
        typer.Option(
            "--program",
            metavar="NAME",
            help="What to call the program where the results do not say it.",
            show_default=False,
        ),
    ] = "",
) -> None:
    """Write one row for each measured configuration: how it was made, its verdict, its times.

    A search may still run, or have been killed.
    """
    from mneme.data.configurations import CONFIGURATIONS  # noqa: PLC0415 - slow to import
    from mneme.data.files import check_name, write_table  # noqa: PLC0415
    from mneme.data.sources import find_results, rows_of  # noqa: PLC0415

    check_name(output)
    found = find_results(results)
    count = write_table(output, CONFIGURATIONS, rows_of(found, program=program))
    searches = "search" if len(found) == 1 else "searches"
    _console.say(f"{count} configurations of {len(found)} {searches}")
    _console.print_line(str(output))
