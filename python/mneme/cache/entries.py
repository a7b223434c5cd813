"""The entries of a cache directory, as the runtime writes them (`runtime/compiler/service`).

An entry is a header (magic, key, checksum) and four strings, each a 64-bit length and its bytes:
image, IR, assembly and statistics (JSON). Only files whose name and beginning match those of the
runtime are entries, because users also choose cache directories that hold other files.
"""

from __future__ import annotations

import json
import re
import stat
import struct
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any, BinaryIO

from mneme.errors import IoFailed, NotFound

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = ["CacheEntry", "entries_of", "is_intact"]

_HEADER = struct.Struct("<8s4Q")
_LENGTH = struct.Struct("<Q")
_MAGIC = b"MNEMECC1"
_STRINGS = 4
_MOST_STATISTICS_BYTES = 1 << 20
_OWN_DIRECTORY = "mneme-cache"
_NAME = re.compile(r"(?:(?P<key>[0-9a-f]{32})\.mnemec|(?:[0-9]+-)?cache-jit-[0-9]+\.(?P<end>o|so))")


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheEntry:
    """A file of compiled code."""

    path: Path
    key: str
    """Hash of everything that the code depends on, 32 hexadecimal digits."""
    size_bytes: int
    used: float
    """Time of the last use in seconds since 1970, accurate to the minute."""
    kind: str
    """ "kernel" or "host function"."""
    kernel: str
    """Mangled name; empty if unknown."""
    target: str
    """ "sm_90", "cpu" or "host"; empty if unknown."""

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain JSON values."""
        return {
            "file": str(self.path),
            "key": self.key,
            "bytes": self.size_bytes,
            "used": datetime.fromtimestamp(self.used, timezone.utc).isoformat(timespec="seconds"),
            "kind": self.kind,
            "kernel": self.kernel,
            "target": self.target,
        }


def entries_of(directory: Path) -> list[CacheEntry]:
    """Return the entries of a cache directory, most recently used first.

    Args:
        directory: Value of the cache's environment variable. If the directory also holds other
            files, the entries are in a subdirectory of it.

    Raises:
        NotFound: If there is no such directory.
        IoFailed: If it cannot be read.
    """
    if not directory.is_dir():
        raise NotFound(f"'{directory}' is not a cache: there is no such directory")
    try:
        found = [*_found_in(directory)]
        if (own := directory / _OWN_DIRECTORY).is_dir():
            found += _found_in(own)
    except OSError as error:
        raise IoFailed(f"cannot read '{directory}': {error.strerror}") from error
    return sorted(found, key=lambda entry: (-entry.used, entry.path))


def is_intact(entry: CacheEntry) -> bool:
    """Return whether the content matches its checksum."""
    from mneme import _native  # noqa: PLC0415 - loads native code

    try:
        content = entry.path.read_bytes()
    except OSError:
        return False
    if len(content) < _HEADER.size:
        return False
    low, high = _HEADER.unpack_from(content)[3:]
    payload = content[_HEADER.size :]
    return _native.content_hash(payload) == _hex(low, high) and _is_whole(payload)


def _found_in(directory: Path) -> Iterator[CacheEntry]:
    for path in directory.iterdir():
        name = _NAME.fullmatch(path.name)
        if name is None or not stat.S_ISREG(path.lstat().st_mode):
            continue
        try:
            with path.open("rb") as file:
                entry = _read(path, name, file)
        except OSError:  # deleted meanwhile, or another user's
            continue
        if entry is not None:
            yield entry


def _read(path: Path, name: re.Match[str], file: BinaryIO) -> CacheEntry | None:
    header = file.read(_HEADER.size)
    if len(header) < _HEADER.size:
        return None
    magic, low, high = _HEADER.unpack(header)[:3]
    key = _hex(low, high)
    if magic != _MAGIC or name["key"] not in (None, key):
        return None
    facts = path.stat()
    statistics = _statistics(file, facts.st_size)
    target = str(statistics.get("target", ""))
    is_host = name["end"] == "so" or target == "host"
    return CacheEntry(
        path=path,
        key=key,
        size_bytes=facts.st_size,
        used=facts.st_mtime,
        kind="host function" if is_host else "kernel",
        kernel=str(statistics.get("kernel", "")),
        target=target,
    )


def _statistics(file: BinaryIO, size_bytes: int) -> dict[str, Any]:
    """Return the last string of an entry; empty if it is damaged or from an earlier release."""
    for index in range(_STRINGS):
        length = file.read(_LENGTH.size)
        if len(length) < _LENGTH.size:
            return {}
        (count,) = _LENGTH.unpack(length)
        if index < _STRINGS - 1:
            if count > size_bytes:
                return {}
            file.seek(count, 1)
        elif count <= _MOST_STATISTICS_BYTES:
            try:
                statistics = json.loads(file.read(count))
            except ValueError:
                return {}
            return statistics if isinstance(statistics, dict) else {}
    return {}


def _is_whole(payload: bytes) -> bool:
    at = 0
    for _ in range(_STRINGS):
        if at + _LENGTH.size > len(payload):
            return False
        at += _LENGTH.size + _LENGTH.unpack_from(payload, at)[0]
    return at == len(payload)


def _hex(low: int, high: int) -> str:
    return f"{high:016x}{low:016x}"
