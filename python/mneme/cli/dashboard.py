"""`mneme dashboard`: a tuning's study in the browser, also while it runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mneme.cli import _console
from mneme.cli.exit_codes import ExitCode

__all__ = ["dashboard"]

_LAST_PORT = 65535


def dashboard(
    directory: Annotated[
        Path, typer.Argument(metavar="DIR", help="Results of 'mneme tune'; it may still run.")
    ],
    host: Annotated[
        str,
        typer.Option(
            "--host",
            metavar="NAME",
            help="Where to listen; who reaches the port may change the study.",
        ),
    ] = "127.0.0.1",
    port: Annotated[
        int,
        typer.Option("--port", min=0, max=_LAST_PORT, help="Where to listen; 0 takes a free one."),
    ] = 8080,
) -> None:
    """Show a tuning's study with optuna-dashboard until Ctrl-C.

    Everybody who can reach the port can see the study and change it.
    """
    from mneme.report.dashboard import serve_study  # noqa: PLC0415 - slow to import

    def tell(address: str) -> None:
        _console.say(f"the study of '{directory}' is at {address} (Ctrl-C ends this)")

    try:
        serve_study(directory, host, port, tell)
    except KeyboardInterrupt:
        # The one way to end a server.
        raise typer.Exit(ExitCode.OK) from None
