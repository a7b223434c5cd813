"""Compiled code that is kept on disk: listing, checking, deleting and handing it on."""

from __future__ import annotations

__all__ = ()
