"""Work with files that may be on a server that does not answer."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, TypeVar

from mneme.errors import IoFailed

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["within"]

Result = TypeVar("Result")


def within(seconds: float, work: Callable[[], Result], what: str) -> Result:
    """Return what `work` returns, in a thread of its own; leave it alone if it takes too long.

    A lock on a network file system whose server is gone is waited for in the kernel, where no
    timeout of SQLite reaches.

    Args:
        seconds: How long to wait.
        work: What to do; it may still be at it afterwards, and its end is heard by nobody then.
        what: For the sentence.

    Raises:
        IoFailed: If it takes longer.
        BaseException: Whatever `work` raised.
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
