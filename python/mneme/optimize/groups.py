"""Programs and commands that lead a group of processes of their own, so that all of it can end."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess

__all__ = ["end_group", "is_group_there", "signal_group"]

_SETTLE_SECONDS = 5.0


def end_group(child: subprocess.Popen[bytes]) -> int:
    """End a program with all that it started (it leads a group), first as a user would.

    Nothing of it stays behind where somebody does not wait for that, either.
    """
    try:
        signal_group(child, signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            child.wait(_SETTLE_SECONDS)
    finally:
        signal_group(child, signal.SIGKILL)
    return child.wait()


def signal_group(child: subprocess.Popen[bytes], number: signal.Signals) -> None:
    """Send a signal to all of a group."""
    # It may have ended while an interrupt was on its way to us.
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child.pid, number)


def is_group_there(leader: int) -> bool:
    """Whether anything runs of a group whose leader had this process number."""
    try:
        os.killpg(leader, 0)
    except OSError:
        return False
    return True
