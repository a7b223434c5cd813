"""Tuning: spaces of configurations, ways to sample them, and sessions that search them."""

from __future__ import annotations

__all__ = ()
