"""Files that are written whole or not at all."""

from __future__ import annotations

import os
import secrets
from contextlib import suppress
from pathlib import Path

from mneme.errors import IoFailed

__all__ = ["publish", "publish_text"]


def publish_text(path: str | Path, text: str, *, makes_directory: bool = False) -> None:
    """Write a text; see `publish`."""
    publish(path, text.encode(), makes_directory=makes_directory)


def publish(
    path: str | Path,
    content: bytes,
    *,
    makes_directory: bool = False,
    is_executable: bool = False,
) -> None:
    """Write a file with one rename: who reads it now gets the old content or the new.

    Args:
        path: Replaced if it exists.
        content: All of it.
        makes_directory: Make the file's directory if it is missing.
        is_executable: Who may read the file may run it.

    Raises:
        IoFailed: If the operating system refuses; the old file is still there then.
    """
    path = Path(path)
    # Other hosts and containers that share the directory have the same process numbers.
    temporary = path.with_name(f"{path.name}.tmp-{os.getpid()}-{secrets.randbits(64)}")
    try:
        if makes_directory:
            path.parent.mkdir(parents=True, exist_ok=True)
        temporary.write_bytes(content)
        if is_executable:
            mode = temporary.stat().st_mode
            temporary.chmod(mode | (mode & 0o444) >> 2)
        temporary.replace(path)
    except OSError as error:
        raise IoFailed(f"cannot write '{path}': {error.strerror}") from error
    finally:
        with suppress(OSError):  # it is gone, or was never there
            temporary.unlink()
