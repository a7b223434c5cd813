"""What existing scripts import from here: `mneme.proteus.jit`."""

from __future__ import annotations

from mneme.proteus import jit

__all__ = ["jit"]
