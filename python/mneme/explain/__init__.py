"""What constants would give a kernel, told from the code its program carries; nothing runs."""

from __future__ import annotations

from mneme.explain.choice import find_kernel, kernels_of
from mneme.explain.explanation import ExplainOptions, Explanation, explain

__all__ = ["ExplainOptions", "Explanation", "explain", "find_kernel", "kernels_of"]
