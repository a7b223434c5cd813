"""Reads files named by users, without waiting for them.

Reading a pipe without a writer would never end, and a device may be endless. Only regular files are
read, and pipes that this process already has open, such as a shell's `<(command)`.
"""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import BinaryIO

__all__ = ["read_bytes", "read_text"]

_MOST_BYTES = 1 << 30
_PIECE_BYTES = 1 << 16
_OPEN_ALREADY = ("/dev/fd/", "/proc/self/fd/")
_STANDARD_INPUT = "/dev/stdin"


def read_text(
    path: str | Path, *, encoding: str = "utf-8", errors: str = "strict", most: int = _MOST_BYTES
) -> str:
    """Return a file's text; see `read_bytes`."""
    return read_bytes(path, most=most).decode(encoding, errors)


def read_bytes(path: str | Path, *, most: int = _MOST_BYTES) -> bytes:
    """Return a file's content.

    Args:
        path: The file.
        most: The largest number of bytes to read.

    Raises:
        OSError: If it cannot be read, is not a regular file, or is larger; the reason is in
            `strerror`, as always.
    """
    name = os.fspath(path)
    _check(Path(name).stat().st_mode, name)
    # Another file may have replaced it by now.
    flags = os.O_RDONLY | os.O_CLOEXEC | os.O_NOCTTY
    waits = 0 if _is_open_already(name) else os.O_NONBLOCK
    with os.fdopen(os.open(name, flags | waits), "rb") as file:
        status = os.fstat(file.fileno())
        _check(status.st_mode, name)
        is_large = status.st_size > most
        content = b"" if is_large else _read(file, status.st_size, most + 1)
    if is_large or len(content) > most:
        raise OSError(errno.EFBIG, f"it has more than {most >> 20} MiB", name)
    return content


def _read(file: BinaryIO, size: int, most: int) -> bytes:
    """Read at most `most` bytes of a file that may be larger than its stated size.

    Allocating the maximum at once could exceed memory limits.
    """
    pieces: list[bytes] = []
    while most and (piece := file.read(min(most, max(_PIECE_BYTES, size + 1)))):
        pieces.append(piece)
        most -= len(piece)
    return b"".join(pieces)


def _is_open_already(name: str) -> bool:
    return name == _STANDARD_INPUT or name.startswith(_OPEN_ALREADY)


def _check(mode: int, name: str) -> None:
    if stat.S_ISREG(mode) or (stat.S_ISFIFO(mode) and _is_open_already(name)):
        return
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), name)
    kind = "a pipe" if stat.S_ISFIFO(mode) else "a socket" if stat.S_ISSOCK(mode) else "a device"
    raise OSError(errno.EINVAL, f"it is {kind}, not a file", name)
