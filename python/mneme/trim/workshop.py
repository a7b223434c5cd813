"""A directory beside the result, in which it is made."""

from __future__ import annotations

import os
import secrets
import shutil
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from mneme.errors import IoFailed

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["workshop"]


@contextmanager
def workshop(output: Path) -> Iterator[Path]:
    """Make a directory beside the result, on the same disk; it goes in the end.

    What killed processes of this machine have left there goes, too.

    Raises:
        IoFailed: If the operating system refuses.
    """
    place = output.absolute()
    prefix = f".{place.name}.tmp-{os.uname().nodename}-"
    work = place.parent / f"{prefix}{os.getpid()}-{secrets.token_hex(4)}"
    try:  # an interrupt may come as soon as it is there
        _make(work, output)
        for one in place.parent.iterdir():
            pid = one.name.removeprefix(prefix).partition("-")[0]
            is_ours = one.name.startswith(prefix) and pid.isdecimal()
            if is_ours and not Path(f"/proc/{pid}").exists():
                shutil.rmtree(one, ignore_errors=True)
        yield work
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _make(work: Path, output: Path) -> None:
    try:
        work.parent.mkdir(parents=True, exist_ok=True)
        work.mkdir()
    except OSError as error:
        raise IoFailed(f"cannot write beside '{output}': {error.strerror}") from error
