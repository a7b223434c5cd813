"""`mneme clean`: delete recordings."""

from __future__ import annotations

from mneme.cli import _console
from mneme.cli._options import RecordArguments

__all__ = ["clean"]


def clean(databases: RecordArguments) -> None:
    """Delete records with what only they refer to."""
    from mneme.recording.files import clean_records  # noqa: PLC0415

    deleted = clean_records(databases)
    _console.say(f"deleted {len(deleted)} files")
