"""The name that scripts import; see mneme.executors.measuring."""

from __future__ import annotations

from mneme.executors.measuring import Measuring

__all__ = ["Measuring"]
