"""Replaying configurations, in this process, in workers and on other nodes."""

from __future__ import annotations

__all__ = ()
