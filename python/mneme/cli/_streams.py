"""Standard streams as whoever started the command has left them: closed, or without our letters."""

from __future__ import annotations

import io
import os
import sys
from pathlib import Path

__all__ = ["allow_every_letter", "fill_closed_streams", "give_back_streams"]

_filled: list[int] = []


def fill_closed_streams() -> None:
    """Put the null device where a standard stream is closed.

    A file that is opened later must not get its number: libraries write messages there.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)  # noqa: FBT003 - its name
            _filled.append(number)
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            stream = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 - until the end
            setattr(sys, name, stream)


def allow_every_letter() -> None:
    """Let a letter that stdout's encoding lacks be shown by its code, as on stderr.

    Tables have units and arrows, and kernels names in any language.
    """
    if isinstance(sys.stdout, io.TextIOWrapper) and sys.stdout.errors == "strict":
        sys.stdout.reconfigure(errors="backslashreplace")


def give_back_streams() -> None:
    """Let a program that replaces this process find closed what was closed."""
    for number in _filled:
        os.set_inheritable(number, False)  # noqa: FBT003 - its name
