"""One command to a faster application: profile it, record and tune its heavy kernels, prove it."""

from __future__ import annotations

__all__ = ()
