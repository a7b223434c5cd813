"""The name that scripts import; see mneme.measure.tolerance."""

from __future__ import annotations

from mneme.measure.tolerance import Tolerance

__all__ = ["Tolerance"]
