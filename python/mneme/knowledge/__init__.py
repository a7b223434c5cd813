"""What earlier tunings found, kept in a file of the user's: for new searches, and to look up."""

from __future__ import annotations

__all__ = ()
