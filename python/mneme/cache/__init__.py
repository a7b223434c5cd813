"""Lists, checks, deletes and exports compiled code that is stored on disk."""

from __future__ import annotations

__all__ = ()
