"""What was measured and what code is like, as tables in files."""

from __future__ import annotations

__all__ = ()
