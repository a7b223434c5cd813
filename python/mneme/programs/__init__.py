"""Programs that are recorded or run: what they are linked to, and how they become guests."""

from __future__ import annotations

__all__ = ()
