"""The end of a command that used a GPU."""

from __future__ import annotations

import os
import sys

from mneme.cli.exit_codes import ExitCode

__all__ = ["is_own_process", "leave_at_once", "own_process"]

_is_own_process = False


def own_process() -> None:
    """Note that this process is the command: nobody else lives in it."""
    global _is_own_process  # noqa: PLW0603 - a fact about the process
    _is_own_process = True


def is_own_process() -> bool:
    """Whether this process is the command, and not a script that calls it."""
    return _is_own_process


def leave_at_once(code: ExitCode) -> None:
    """End the process without giving device memory back piece by piece.

    The driver frees everything of a process that ends, in a fraction of the time. Returns where
    somebody waits for a regular end: another program around the command, a profiler's report.
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
