"""Reports of tunings: one HTML file that needs no network."""

from __future__ import annotations

from mneme.report.page import write_report

__all__ = ["write_report"]
