"""One tuning from options to files: studies, trials, the winner, what is kept of them."""

from __future__ import annotations

__all__ = ()
