"""Reading and writing files that others may have made or may be reading."""

from __future__ import annotations

__all__ = ()
