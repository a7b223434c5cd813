"""The end of a command that used a GPU."""

from __future__ import annotations

import os
import sys

from mneme.cli.exit_codes import ExitCode

__all__ = ["is_own_process", "leave_at_once", "own_process"]

_is_own_process = False


def own_process() -> None:
    """Note that this process runs only the command."""
    global _is_own_process  # noqa: PLW0603 - a fact about the process
    _is_own_process = True


def is_own_process() -> bool:
    """Whether this process runs only the command, not a script that calls it."""
    return _is_own_process


def leave_at_once(code: ExitCode) -> None:
    """End the process without freeing device memory piece by piece.

    The driver frees the memory of an ended process much faster. Returns normally if something needs
    a regular end: a script that called the command, or a profiler's report.
    """
    from mneme import _native  # noqa: PLC0415 - `--help` needs no runtime

    if not _is_own_process or _native.driving_tool():
        return
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except OSError:
        return  # the regular end reports it
    os._exit(code)
