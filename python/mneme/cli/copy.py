"""`mneme copy`: copy recordings."""

from __future__ import annotations

from mneme.cli import _console
from mneme.cli._options import DestinationArgument, RecordArguments

__all__ = ["copy"]


def copy(
    databases: RecordArguments,
    destination: DestinationArgument,
) -> None:
    """Copy records with everything they refer to.

    All of them or none.
    """
    from mneme.recording.files import copy_records  # noqa: PLC0415

    copied = copy_records(databases, destination)
    _console.say(f"copied {len(copied)} records to '{destination}'")
