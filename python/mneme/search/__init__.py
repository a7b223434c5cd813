"""What may be tried and in which order: parameters, spaces, ways to sample them."""

from __future__ import annotations

__all__ = ()
