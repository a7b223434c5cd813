"""LLVM IR as data: what stands in its text, and numbers that describe it."""

from __future__ import annotations

__all__ = ()
