"""The name that scripts import; see mneme.measure.measuring."""

from __future__ import annotations

from mneme.measure.measuring import Measuring

__all__ = ["Measuring"]
