"""One HTML file that shows what a tuning found; it needs no network to be looked at."""

from __future__ import annotations

from mneme.report.page import write_report

__all__ = ["write_report"]
