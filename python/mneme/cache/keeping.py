"""Deleting entries of a cache, and handing them on to a site's."""

from __future__ import annotations

import os
import secrets
import time
from contextlib import suppress
from typing import TYPE_CHECKING

from mneme.cache.entries import entries_of, is_intact
from mneme.errors import IoFailed

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from mneme.cache.entries import CacheEntry

__all__ = ["delete_entries", "export_entries", "superfluous"]

_DIRECTORY_MODE = 0o755
_FILE_MODE = 0o644


def superfluous(
    entries: Iterable[CacheEntry],
    *,
    max_bytes: int | None = None,
    older_than_seconds: float | None = None,
) -> list[CacheEntry]:
    """Return what goes: all that was not used for so long, then what was not used for longest.

    Args:
        entries: All entries of a cache.
        max_bytes: Size of what stays; None: any.
        older_than_seconds: Since the last use; None: any.
    """
    now = time.time()
    oldest_first = sorted(entries, key=lambda entry: entry.used)
    left_bytes = sum(entry.size_bytes for entry in oldest_first)
    going = []
    for entry in oldest_first:
        is_old = older_than_seconds is not None and now - entry.used > older_than_seconds
        if is_old or (max_bytes is not None and left_bytes > max_bytes):
            left_bytes -= entry.size_bytes
            going.append(entry)
    return going


def delete_entries(entries: Iterable[CacheEntry]) -> None:
    """Delete entries; what is gone already is no problem.

    Raises:
        IoFailed: If the operating system refuses.
    """
    for entry in entries:
        try:
            entry.path.unlink(missing_ok=True)
        except OSError as error:
            raise IoFailed(f"cannot delete '{entry.path}': {error.strerror}") from error


def export_entries(entries: Iterable[CacheEntry], site: Path) -> list[Path]:
    """Copy sound entries to a directory that programs read with `MNEME_JIT_SITE_CACHE`.

    They are called by their keys there, which no rank and no release changes; what the directory
    has already stays. Everybody can read them, only the owner can write to them.

    Args:
        entries: What to copy; each must be intact.
        site: Made if it does not exist.

    Returns:
        The new files.

    Raises:
        IoFailed: If the operating system refuses; what was copied is whole then.
    """
    try:
        if not site.is_dir():
            site.mkdir(parents=True)
            site.chmod(_DIRECTORY_MODE)
        present = {entry.key for entry in entries_of(site) if is_intact(entry)}
        written = []
        for entry in entries:
            if entry.key not in present:
                present.add(entry.key)
                written.append(site / f"{entry.key}.mnemec")
                _publish(written[-1], entry.path.read_bytes())
    except OSError as error:
        raise IoFailed(f"cannot write to '{site}': {error.strerror}") from error
    return written


def _publish(path: Path, content: bytes) -> None:
    """Write a file with one rename, under a name that the cache knows for its own meanwhile."""
    temporary = path.with_name(f"{path.name}.tmp-{os.getpid()}-{secrets.randbits(32)}")
    try:
        with temporary.open("xb") as file:
            os.fchmod(file.fileno(), _FILE_MODE)
            file.write(content)
        temporary.replace(path)
    except BaseException:
        with suppress(OSError):
            temporary.unlink()
        raise
