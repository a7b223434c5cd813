"""This installation: where its parts are, how it was built, what is missing."""

from __future__ import annotations

__all__ = ()
