"""Limits the time of file operations, which may hang on a dead server."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, TypeVar

from mneme.errors import IoFailed

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["within"]

Result = TypeVar("Result")


def within(seconds: float, work: Callable[[], Result], what: str) -> Result:
    """Run `work` in its own thread and return its result; abandon it if it takes too long.

    Waiting for a lock on a network file system without its server happens in the kernel, where
    SQLite's timeouts have no effect.

    Args:
        seconds: How long to wait.
        work: The work. It may continue after the timeout; its result is then ignored.
        what: A description for the message.

    Raises:
        IoFailed: If it takes longer.
        BaseException: What `work` raised.
    """
    done: list[Result] = []
    failed: list[BaseException] = []

    def run() -> None:
        try:
            done.append(work())
        except BaseException as error:  # noqa: BLE001 - raised again where it is waited for
            failed.append(error)

    thread = threading.Thread(target=run, name="mneme knowledge", daemon=True)
    thread.start()
    thread.join(seconds)
    if failed:
        raise failed[0]
    if not done:
        raise IoFailed(f"{what} takes longer than {seconds:g} s")
    return done[0]
