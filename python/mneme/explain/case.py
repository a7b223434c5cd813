"""Some constants, and what a kernel looks like with them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mneme.explain.shape import Constants, Folds

__all__ = ["Case", "Figures"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """What the code of a kernel has; None where only a run would tell."""

    instructions: int
    branches: int
    loops: int
    loads: int
    code_bytes: int | None = None
    """Machine code."""

    registers: int | None = None
    spill_bytes: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """Some constants, and what they give."""

    known: Constants
    folds: Folds
    figures: Figures | None
    """None: no value is known to compile with."""
