"""A set of constants and the kernel's code with them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mneme.explain.shape import Constants, Folds

__all__ = ["Case", "Figures"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """Figures of a kernel's code; None for those that only a run would show."""

    instructions: int
    branches: int
    loops: int
    loads: int
    code_bytes: int | None = None
    """Size of the machine code."""

    registers: int | None = None
    spill_bytes: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A set of constants and their effect."""

    known: Constants
    folds: Folds
    figures: Figures | None
    """None: no value to compile with is known."""
