"""Compares ways to compile over all kernels of recordings, verified and measured in turn."""

from __future__ import annotations

from mneme.compare.cases import Case, find_cases
from mneme.compare.options import CompareOptions
from mneme.compare.session import CompareListener, run_comparison
from mneme.compare.summary import Comparison
from mneme.compare.variants import BASELINE_NAME, Variant

__all__ = [
    "BASELINE_NAME",
    "Case",
    "CompareListener",
    "CompareOptions",
    "Comparison",
    "Variant",
    "find_cases",
    "run_comparison",
]
