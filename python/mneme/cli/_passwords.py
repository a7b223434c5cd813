"""Warns of passwords that other users of this machine can see."""

from __future__ import annotations

import stat
import sys
from pathlib import Path

from mneme.cli._console import say
from mneme.files.redaction import has_secret

__all__ = ["warn_of_readable_password", "warn_of_visible_password"]


def warn_of_visible_password(address: str, option: str) -> None:
    """Warn of a password among the arguments, which every user of this machine can list.

    Args:
        address: What may hold the password.
        option: How the user gave it, unless it came from elsewhere.
    """
    if has_secret(address) and any(address in one for one in sys.argv):
        say(
            f"the password in {option} is visible to everybody on this machine, in the "
            "list of processes; set MNEME_STUDY_STORAGE instead"
        )


def warn_of_readable_password(address: str, file: str | Path) -> None:
    """Warn of a password in a file that others may read.

    Args:
        address: What may hold the password, and came from the file if it is in it.
        file: The file, which was read.
    """
    if not has_secret(address):
        return
    path = Path(file)
    try:
        is_open = bool(path.stat().st_mode & (stat.S_IRGRP | stat.S_IROTH))
        is_there = is_open and address in path.read_text(errors="replace")
    except OSError:
        return
    if is_there:
        say(f"the password in '{path}' can be read by other users; say 'chmod 600 {path}'")
