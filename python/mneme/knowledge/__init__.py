"""Results of earlier tunings, kept in a user's file, for new searches and for look-ups."""

from __future__ import annotations

__all__ = ()
