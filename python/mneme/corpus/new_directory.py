"""Directories that appear whole or not at all."""

from __future__ import annotations

import os
import secrets
import shutil
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from mneme.errors import InvalidArgument, IoFailed

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["new_directory"]


@contextmanager
def new_directory(target: Path) -> Iterator[Path]:
    """Make a directory whose content is written beside it and renamed at the end.

    Yields:
        Where to write. It is deleted if an error occurs.

    Raises:
        InvalidArgument: If the target holds something.
        IoFailed: If the operating system refuses.
    """
    _refuse_taken(target)
    staging = Path(os.path.abspath(target))  # noqa: PTH100 - must not follow links
    staging = staging.with_name(f".{staging.name}.new-{os.getpid()}-{secrets.token_hex(4)}")
    try:
        staging.mkdir(parents=True)
        yield staging
        staging.rename(target)
    except OSError as error:
        raise IoFailed(f"cannot write '{target}': {error.strerror or error}") from error
    finally:
        shutil.rmtree(staging, ignore_errors=True)


def _refuse_taken(target: Path) -> None:
    try:
        is_taken = os.path.lexists(target) and (
            target.is_symlink() or not target.is_dir() or any(target.iterdir())
        )
    except OSError as error:
        raise IoFailed(f"cannot look into '{target}': {error.strerror}") from error
    if is_taken:
        raise InvalidArgument(f"'{target}' is there already; name a directory that is not")
