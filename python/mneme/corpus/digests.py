"""The digests of files in a corpus, and the directory's lock."""

from __future__ import annotations

import fcntl
import hashlib
import os
import stat
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from mneme.corpus.manifest import FileFact
from mneme.errors import IoFailed

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = ["damage_of", "fact_of", "locked"]

_PIECE_BYTES = 1 << 20
# Others that add a recording are waited for so long, as for recordings that are copied.
_PATIENCE_SECONDS = 10.0
_PAUSE_SECONDS = 0.05


def fact_of(path: Path) -> FileFact:
    """Return size and digest of a regular file.

    Raises:
        OSError: If it cannot be read, is a link or no file.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(0, "it is not a file")
        digest, size = hashlib.sha256(), 0
        while piece := file.read(_PIECE_BYTES):
            digest.update(piece)
            size += len(piece)
    return FileFact(sha256=digest.hexdigest(), size_bytes=size)


def damage_of(path: Path, fact: FileFact) -> str:
    """Say what is wrong with a file, in a sentence; an empty text if nothing is."""
    try:
        found = path.lstat()
        if stat.S_ISLNK(found.st_mode):
            return f"'{path}' is a link, and a corpus has none"
        if stat.S_ISREG(found.st_mode) and found.st_size != fact.size_bytes:
            return f"'{path}' has {found.st_size} bytes in place of {fact.size_bytes}"
        is_same = fact_of(path) == fact
    except FileNotFoundError:
        return f"'{path}' is missing"
    except OSError as error:
        return f"'{path}' cannot be read: {error.strerror}"
    return "" if is_same else f"'{path}' is damaged: its content is not what was added"


@contextmanager
def locked(corpus: Path, *, is_read_only: bool = False) -> Iterator[None]:
    """Keep others from changing a corpus; a file system without locks is used without.

    Args:
        corpus: The directory.
        is_read_only: Whether this process does not change it either; several may read.

    Raises:
        IoFailed: If another process is changing it.
    """
    descriptor = os.open(corpus, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        _lock(descriptor, corpus, fcntl.LOCK_SH if is_read_only else fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _lock(descriptor: int, corpus: Path, kind: int) -> None:
    end = time.monotonic() + _PATIENCE_SECONDS
    while True:
        try:
            fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
        except BlockingIOError as error:
            if time.monotonic() > end:
                raise IoFailed(
                    f"another process is at work on the corpus '{corpus}'; nothing was changed: "
                    "try again when it has ended"
                ) from error
            time.sleep(_PAUSE_SECONDS)
        except OSError:  # a file system without locks
            return
        else:
            return
