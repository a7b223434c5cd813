"""This installation: its parts, how it was built, what is missing."""

from __future__ import annotations

__all__ = ()
