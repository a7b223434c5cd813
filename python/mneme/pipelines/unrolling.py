"""How often loops are unrolled: mneme's own pass in front of a pipeline.

`mneme-unroll<N>` is known to the compiler of mneme only; tools of LLVM refuse pipelines with it.
"""

from __future__ import annotations

import re

__all__ = ["split_unrolling", "with_unrolling"]

_IN_FRONT = re.compile(r"\s*function(?:<eager-inv>)?\(mneme-unroll<\d+>\)\s*(?:,|$)\s*")


def with_unrolling(pipeline: str, count: int) -> str:
    """Return a pipeline that unrolls innermost loops so many times.

    Args:
        pipeline: What follows; it does the unrolling.
        count: 1: never; 0: as the compiler chooses.
    """
    if count == 0:
        return pipeline
    return ",".join(part for part in (f"function(mneme-unroll<{count}>)", pipeline) if part)


def split_unrolling(pipeline: str) -> tuple[str, str]:
    """Return what `with_unrolling` put in front of a pipeline, empty if nothing, and the rest."""
    found = _IN_FRONT.match(pipeline)
    if found is None:
        return "", pipeline
    return found[0].strip().removesuffix(",").strip(), pipeline[found.end() :]
