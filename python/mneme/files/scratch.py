"""Temporary directories that nobody has to remove: not even those of killed processes stay.

A process holds a lock on its directory. One that makes another of the same kind on this host
removes those whose lock nobody holds any more.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import shutil
import stat
import tempfile
import weakref
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["ScratchDirectory", "can_be_locked", "hold", "host_in_names", "remove_left"]

_ATTEMPTS = 20
_MACHINE_ID = Path("/etc/machine-id")


class ScratchDirectory:
    """A temporary directory of this process, until `cleanup` or the end of the process.

    A forked child may use it, and leaves it to its parent.
    """

    def __init__(self, kind: str, parent: Path | None = None) -> None:
        """Make it, and remove what killed processes of this user left on this host.

        Args:
            kind: Is part of its name; only directories of the same kind are removed.
            parent: The directory it is made in; None: that for temporary files.

        Raises:
            OSError: If the operating system refuses to make it.
        """
        from multiprocessing.util import Finalize  # noqa: PLC0415 - slow to import

        # What follows the host's name has no "-": another name may begin like it.
        prefix = f"mneme-{kind}-{host_in_names()}-"
        parent = parent or Path(tempfile.gettempdir())
        remove_left(
            one
            for one in _names_in(parent)
            if one.name.startswith(prefix) and "-" not in one.name[len(prefix) :]
        )
        self.name, lock = _make(parent, prefix)
        self._remove = weakref.finalize(self, _remove, self.name, lock, os.getpid())
        # The processes of Python's own pools end without the functions of atexit.
        self._at_end = Finalize(self, self._remove, exitpriority=0)

    def __enter__(self) -> str:
        """Return its path."""
        return self.name

    def __exit__(self, *_: object) -> None:
        self.cleanup()

    def cleanup(self) -> None:
        """Remove it; further calls do nothing."""
        self._at_end.cancel()
        self._remove()


def host_in_names() -> str:
    """Return this host as names of directories have it.

    Hosts may share a file system whose locks they do not share. Some have the same name, such as
    "localhost", and then differ by a digest of their machine's identifier, which is nobody's
    business.
    """
    host = os.uname().nodename.replace("/", "_")
    try:
        machine = _MACHINE_ID.read_bytes().strip()
    except OSError:
        return host
    return f"{host}-{hashlib.blake2b(machine, digest_size=4, person=b'mneme').hexdigest()}"


def _names_in(parent: Path) -> list[Path]:
    try:
        return list(parent.iterdir())
    except OSError:
        return []


def _make(parent: Path, prefix: str) -> tuple[str, int]:
    """Return a new directory, and the descriptor that locks it; -1 where nothing can be locked."""
    for _ in range(_ATTEMPTS):
        name = tempfile.mkdtemp(prefix=prefix, dir=parent)
        # Another process may take it for one that was left, before it is locked.
        lock = hold(Path(name), fcntl.LOCK_EX)
        if lock >= 0 or not can_be_locked(Path(name), fcntl.LOCK_EX):
            break
    return name, lock


def can_be_locked(directory: Path, how: int = fcntl.LOCK_SH) -> bool:
    """Whether another process holds, has removed or let go a directory that was not locked.

    Args:
        directory: A directory for which `hold` has returned -1.
        how: As there.
    """
    try:
        descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError:
        return not directory.exists()
    try:
        fcntl.flock(descriptor, how | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    finally:
        os.close(descriptor)
    return True


def _remove(name: str, lock: int, owner: int) -> None:
    if owner == os.getpid():
        shutil.rmtree(name, ignore_errors=True)
        if lock >= 0:
            os.close(lock)


def hold(directory: Path, how: int = fcntl.LOCK_SH) -> int:
    """Lock a directory until the descriptor that is returned is closed.

    Args:
        directory: A directory.
        how: LOCK_SH if other processes may hold it, too; LOCK_EX if not.

    Returns:
        -1 if it is gone, another process holds it, or nothing can be locked there.
    """
    try:
        descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return -1
    try:
        fcntl.flock(descriptor, how | fcntl.LOCK_NB)
        if os.path.samestat(os.fstat(descriptor), directory.lstat()):
            return descriptor
    except OSError:
        pass
    os.close(descriptor)
    return -1


def remove_left(directories: Iterable[Path]) -> None:
    """Remove those of these directories that this user has and that no process holds."""
    for one in directories:
        with contextlib.suppress(OSError):
            found = one.lstat()
            is_own = stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid()
            lock = hold(one, fcntl.LOCK_EX) if is_own else -1
            if lock >= 0:
                shutil.rmtree(one, ignore_errors=True)
                os.close(lock)
