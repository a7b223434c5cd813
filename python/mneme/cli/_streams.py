"""Standard streams that may be closed, or whose encoding may lack our letters."""

from __future__ import annotations

import io
import os
import sys
from pathlib import Path

__all__ = ["allow_every_letter", "fill_closed_streams", "give_back_streams"]

_filled: list[int] = []


def fill_closed_streams() -> None:
    """Open the null device for every closed standard stream.

    A file that is opened later must not get the stream's number, because libraries write messages
        there.
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
    """Print letters that stdout's encoding lacks as codes, as on stderr.

    Tables contain units and arrows, and names of kernels may use any language.
    """
    if isinstance(sys.stdout, io.TextIOWrapper) and sys.stdout.errors == "strict":
        sys.stdout.reconfigure(errors="backslashreplace")


def give_back_streams() -> None:
    """Close the streams again for a program that replaces this process."""
    for number in _filled:
        os.set_inheritable(number, False)  # noqa: FBT003 - its name
