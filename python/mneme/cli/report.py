"""`mneme report`: what a tuning found, as one HTML file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Optional

import typer

from mneme.cli import _console

__all__ = ["report"]


def report(
    directory: Annotated[
        Path,
        typer.Argument(
            metavar="DIR", help="Results of 'mneme tune', or the directory above several."
        ),
    ],
    output: Annotated[
        Optional[Path],
        typer.Option(
            "-o",
            "--output",
            metavar="FILE",
            help="The file to write; else report.html in DIR.",
            show_default=False,
        ),
    ] = None,
    shows: Annotated[bool, typer.Option("--open", help="Show it in the browser.")] = False,
) -> None:
    """Write what a tuning found as one HTML file that needs no network.

    The tuning may still run, or have been killed.
    """
    from mneme.report import write_report  # noqa: PLC0415 - slow to import

    written = write_report(directory, output)
    _console.print_line(str(written))
    if shows:
        import webbrowser  # noqa: PLC0415

        if not webbrowser.open(written.resolve().as_uri()):
            _console.say(f"no browser was found; open '{written}' in one")
