"""Names that scripts import; see mneme.search."""

from __future__ import annotations

__all__ = ()
