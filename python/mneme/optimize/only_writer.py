"""One session at a time in a directory: two would take each other's outputs for faults."""

from __future__ import annotations

import fcntl
import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

from mneme.errors import InvalidArgument, IoFailed

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = ["only_writer"]


@contextmanager
def only_writer(directory: Path) -> Iterator[None]:
    """Make a directory and lock it against other sessions; our process's end releases the lock.

    Raises:
        InvalidArgument: If another session works in it.
        IoFailed: If the operating system refuses.
    """
    try:
        directory.mkdir(parents=True, exist_ok=True)
        # Not the directory itself: writers of tuned-kernels files lock that.
        lock = os.open(directory / ".lock", os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o644)
    except OSError as error:
        raise IoFailed(
            f"cannot write to '{directory}': {error.strerror}; -o names another directory"
        ) from error
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise InvalidArgument(
                f"another 'mneme optimize' works in '{directory}'; wait for its end, or name "
                "another directory with -o"
            ) from error
        except OSError:
            pass  # a file system without locks
        yield
    finally:
        os.close(lock)
