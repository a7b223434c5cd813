"""LLVM pass pipelines as data: reading, writing, drawing and changing them."""

from __future__ import annotations

__all__ = ()
