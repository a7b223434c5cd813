"""`mneme move`: move recordings."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mneme.cli import _console
from mneme.cli._options import RecordArguments

__all__ = ["move"]


def move(
    databases: RecordArguments,
    destination: Annotated[
        Path, typer.Argument(metavar="DEST", help="Directory; made if it does not exist.")
    ],
) -> None:
    """Move records with everything they refer to.

    All of them or none.
    """
    from mneme.recording.files import move_records  # noqa: PLC0415

    moved = move_records(databases, destination)
    _console.say(f"moved {len(moved)} records to '{destination}'")
