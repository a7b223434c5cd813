"""Deletes entries of a cache and exports them to a site's cache."""

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
    """Return the entries to delete: those unused for too long, then the least recently used.

    Args:
        entries: All entries of a cache.
        max_bytes: Maximum size of the remaining entries; None: unlimited.
        older_than_seconds: Maximum time since the last use; None: unlimited.
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
    """Delete entries. Entries that are already gone are ignored.

    Raises:
        IoFailed: If the operating system refuses.
    """
    for entry in entries:
        try:
            entry.path.unlink(missing_ok=True)
        except OSError as error:
            raise IoFailed(f"cannot delete '{entry.path}': {error.strerror}") from error


def export_entries(entries: Iterable[CacheEntry], site: Path) -> list[Path]:
    """Copy intact entries to a directory that programs read with `MNEME_JIT_SITE_CACHE`.

    There the files are named by their keys, which do not depend on ranks or releases. Existing
    files in the directory are kept. Everyone can read the files; only the owner can write to them.

    Args:
        entries: Entries to copy; each must be intact.
        site: Directory; created if it does not exist.

    Returns:
        The new files.

    Raises:
        IoFailed: If the operating system refuses. Files copied until then are complete.
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
    """Write a file under a temporary name that the cache recognises, then rename it."""
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
