"""Starts this command again in a fresh process when the recorded addresses are taken here."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, TypeVar

from mneme.cli._console import say
from mneme.cli._leave import is_own_process
from mneme.errors import AddressUnavailable

if TYPE_CHECKING:
    from collections.abc import Callable

    from mneme.measure.replay_executor import BaseExecutor

__all__ = ["call_or_retry", "open_or_retry"]

Value = TypeVar("Value")

_ATTEMPT_VARIABLE = "MNEME_REPLAY_ATTEMPT"
_MOST_ATTEMPTS = 3


def open_or_retry(executor: BaseExecutor) -> None:
    """Open a recording; see `call_or_retry`."""
    call_or_retry(executor.open)


def call_or_retry(action: Callable[[], Value]) -> Value:
    """Do what needs recorded addresses; if they are taken, restart this process and try again.

    The system places libraries at different addresses in every process.

    Raises:
        AddressUnavailable: If several processes could not get the addresses, or if this process
            does not run only the command.
    """
    try:
        return action()
    except AddressUnavailable as error:
        attempt = int(os.environ.get(_ATTEMPT_VARIABLE, "1"))
        if attempt >= _MOST_ATTEMPTS:
            raise AddressUnavailable(
                f"{error}; {_MOST_ATTEMPTS} processes could not have these addresses, so something "
                "on this machine always lies there: try another device (--device cpu), or record "
                "again here"
            ) from error
        if not is_own_process():
            raise
        say(f"{error}; trying again in a new process")
        os.environ[_ATTEMPT_VARIABLE] = str(attempt + 1)
        sys.stdout.flush()
        os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])  # noqa: S606
