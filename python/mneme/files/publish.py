"""Writes files completely or not at all, and outputs that are not files."""

from __future__ import annotations

import errno
import os
import re
import secrets
import stat
import sys
from contextlib import suppress
from pathlib import Path

from mneme.errors import IoFailed

__all__ = ["publish", "publish_own_text", "publish_text"]

_OWN_DESCRIPTOR = re.compile(r"(?:/dev/fd|/proc/(?:self|thread-self|[0-9]+)/fd)/([0-9]+)")
_OWN_STREAM = {"/dev/stdin": 0, "/dev/stdout": 1, "/dev/stderr": 2}
_MOST_LINKS = 40
_MOST_NAME_BYTES = 180
# No new file can be created next to the old one, or replace it; the old one may still be writable.
_NO_RENAME = (errno.EACCES, errno.EPERM, errno.EROFS, errno.EBUSY, errno.EXDEV)


def publish_text(path: str | Path, text: str, *, is_private: bool = False) -> None:
    """Write a text as UTF-8; see `publish`."""
    publish(path, text.encode(errors="surrogateescape"), is_private=is_private)


def publish_own_text(path: str | Path, text: str, *, is_private: bool = False) -> None:
    """Write a text under our own name in a directory that may come from elsewhere.

    An existing file is replaced by one rename. So is a link, which could lead to another user's
    file. The directory is made if it is missing. Only the owner may read a private file.

    Raises:
        IoFailed: If the operating system refuses; the old content then stays.
    """
    place = Path(path)
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        _replace(place, text.encode(errors="surrogateescape"), None, is_private=is_private)
    except OSError as error:
        raise IoFailed(f"cannot write '{path}': {error.strerror}") from error


def publish(
    path: str | Path,
    content: bytes,
    *,
    makes_directory: bool = False,
    is_executable: bool = False,
    is_private: bool = False,
) -> None:
    """Write a file with one rename, so that readers get the old content or the new.

    Only the content at the path is replaced. A link stays and its target is written. Devices, FIFOs
    and open descriptors (`/dev/stdout`) are written to, never replaced. A file keeps its
    permissions and its owner. One with several hard links, or whose owner or directory does not
    allow a rename, is written in place.

    Args:
        path: Where to write.
        content: The whole content.
        makes_directory: Make the file's directory if it is missing.
        is_executable: Let everybody who may read the file run it.
        is_private: Let nobody but the owner read it, whatever permissions it had before.

    Raises:
        IoFailed: If the operating system refuses; after a rename that failed, the old content is
            still there.
    """
    try:
        descriptor = _descriptor_of(path)
        if descriptor is not None:
            _write_to_descriptor(descriptor, content)
            return
        absolute = Path(path).absolute()
        if makes_directory:
            absolute.parent.mkdir(parents=True, exist_ok=True)
        _write(absolute, content, is_executable=is_executable, is_private=is_private)
    except ValueError as error:  # a NUL in the name
        raise IoFailed(f"cannot write {str(path)!r}: {error}") from error
    except OSError as error:
        raise IoFailed(f"cannot write '{path}': {error.strerror}") from error


def _descriptor_of(path: str | Path) -> int | None:
    """Return the descriptor of this process that a path refers to; None if there is none.

    Opening a redirected standard output by its name again would truncate it.
    """
    name = os.path.abspath(path)  # noqa: PTH100 - must not follow links
    for _ in range(_MOST_LINKS):
        if name in _OWN_STREAM:
            return _OWN_STREAM[name]
        found = _OWN_DESCRIPTOR.fullmatch(name)
        if found is not None:
            is_own = not name.startswith("/proc/") or name.split("/")[2] in _own_names()
            return int(found[1]) if is_own else None
        try:
            target = os.readlink(name)  # noqa: PTH115 - the name's own text
        except OSError:
            return None
        name = os.path.normpath(os.path.join(os.path.dirname(name), target))  # noqa: PTH118, PTH120
    return None


def _own_names() -> tuple[str, ...]:
    return "self", "thread-self", str(os.getpid())


def _write_to_descriptor(descriptor: int, content: bytes) -> None:
    # Earlier output must come first.
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            stream.flush()
    _write_all(descriptor, content)


def _write_all(descriptor: int, content: bytes) -> None:
    rest = memoryview(content)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def _write(path: Path, content: bytes, *, is_executable: bool, is_private: bool) -> None:
    try:
        old: os.stat_result | None = path.stat()
    except FileNotFoundError:
        old = None
    if old is not None and not os.access(path, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    # A path in /proc is a descriptor of another process.
    is_replaceable = old is None or (
        stat.S_ISREG(old.st_mode) and old.st_nlink == 1 and not path.is_relative_to("/proc")
    )
    place = Path(os.path.realpath(path))
    if not (is_replaceable and _replace(place, content, old, is_private=is_private)):
        _write_in_place(path, content, is_private=is_private)
    mode = stat.S_IMODE(path.stat().st_mode)
    if is_executable and path.is_file() and mode != _runnable(mode):
        path.chmod(_runnable(mode))


def _runnable(mode: int) -> int:
    return mode | (mode & 0o444) >> 2


def _owners(mode: int) -> int:
    return stat.S_IMODE(mode) & 0o700


def _write_in_place(path: Path, content: bytes, *, is_private: bool) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_TRUNC | os.O_CLOEXEC | os.O_NOCTTY)
    try:
        status = os.fstat(descriptor)
        if is_private and stat.S_ISREG(status.st_mode):
            os.fchmod(descriptor, _owners(status.st_mode))
        _write_all(descriptor, content)
    finally:
        os.close(descriptor)


def _replace(place: Path, content: bytes, old: os.stat_result | None, *, is_private: bool) -> bool:
    """Replace an old file by a new one; return whether that was possible."""
    # Other hosts and containers that share the directory may have the same process ids.
    name = os.fsdecode(os.fsencode(place.name)[:_MOST_NAME_BYTES])
    temporary = place.with_name(f"{name}.tmp-{os.getpid()}-{secrets.randbits(64)}")
    try:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
        descriptor = os.open(temporary, flags, 0o600 if is_private else 0o666)
        try:
            if old is not None and not _is_alike(descriptor, old):
                return False
            if is_private:
                os.fchmod(descriptor, _owners(os.fstat(descriptor).st_mode))
            _write_all(descriptor, content)
        finally:
            os.close(descriptor)
        temporary.replace(place)
    except OSError as error:
        if old is not None and error.errno in _NO_RENAME:
            return False
        raise
    finally:
        with suppress(OSError):  # it is gone, or was never there
            temporary.unlink()
    return True


def _is_alike(descriptor: int, old: os.stat_result) -> bool:
    """Give a new file the owner and the permissions of the old one; return whether it has them."""
    new = os.fstat(descriptor)
    if (new.st_uid, new.st_gid) != (old.st_uid, old.st_gid):
        try:
            os.fchown(descriptor, old.st_uid, old.st_gid)
        except PermissionError:
            return False
    os.fchmod(descriptor, stat.S_IMODE(old.st_mode))
    return True
