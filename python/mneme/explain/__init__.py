"""Predicts the effect of constants on a kernel from the code in its program, without running it."""

from __future__ import annotations

from mneme.explain.choice import find_kernel, kernels_of
from mneme.explain.explanation import ExplainOptions, Explanation, explain

__all__ = ["ExplainOptions", "Explanation", "explain", "find_kernel", "kernels_of"]
