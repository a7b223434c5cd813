"""Programs that are recorded or run: their libraries, and how they become guests."""

from __future__ import annotations

__all__ = ()
