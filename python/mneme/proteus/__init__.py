"""Contains `mneme.proteus.jit`, which existing scripts import."""

from __future__ import annotations

from mneme.proteus import jit

__all__ = ["jit"]
