"""The name that scripts import; see mneme.executors.tolerance."""

from __future__ import annotations

from mneme.executors.tolerance import Tolerance

__all__ = ["Tolerance"]
