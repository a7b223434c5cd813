"""`mneme move`: move recordings."""

from __future__ import annotations

from mneme.cli import _console
from mneme.cli._options import DestinationArgument, RecordArguments

__all__ = ["move"]


def move(
    databases: RecordArguments,
    destination: DestinationArgument,
) -> None:
    """Move records with everything they refer to.

    All of them or none.
    """
    from mneme.recording.files import move_records  # noqa: PLC0415

    moved = move_records(databases, destination)
    _console.say(f"moved {len(moved)} records to '{destination}'")
