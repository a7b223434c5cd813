"""Programs that lead their own process group, so that the whole group can be ended."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from typing import Any

__all__ = ["end_group", "is_group_there", "signal_group"]

_SETTLE_SECONDS = 5.0


def end_group(child: subprocess.Popen[Any]) -> int:
    """End a program, which leads a group, and all that it started; first by an interrupt.

    No process stays, even if the caller does not wait.
    """
    try:
        signal_group(child, signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            child.wait(_SETTLE_SECONDS)
    finally:
        signal_group(child, signal.SIGKILL)
    return child.wait()


def signal_group(child: subprocess.Popen[Any], number: signal.Signals) -> None:
    """Send a signal to all of a group."""
    # It may have ended while an interrupt was delivered to us.
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child.pid, number)


def is_group_there(leader: int) -> bool:
    """Whether any process of the group whose leader had this id is running."""
    try:
        os.killpg(leader, 0)
    except OSError:
        return False
    return True
