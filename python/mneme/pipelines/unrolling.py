"""Adds and removes mneme's unrolling pass, before or inside of a pipeline.

Only mneme's compiler knows `mneme-unroll<N>` and `mneme-unroll<full>`; tools of LLVM refuse
pipelines with them.
"""

from __future__ import annotations

import re

__all__ = [
    "split_behind_unrolling",
    "split_unrolling",
    "unrolling_of",
    "with_unrolling",
    "without_unrolling",
]

_OURS = r"mneme-unroll<(?:\d+|full)>"
_IN_FRONT = re.compile(r"\s*function(?:<eager-inv>)?\(mneme-unroll<(\d+)>\)\s*(?:,|$)\s*")
_ANYWHERE = re.compile(_OURS)
_ALONE = re.compile(rf"function(?:<eager-inv>)?\(\s*{_OURS}\s*\)\s*(?:,|$)\s*")
# Leftovers of a removed pass.
_LEFTOVERS = (
    (re.compile(r"[\w-]+(?:<[^<>()]*>)?\(\s*\)"), ""),
    (re.compile(r",\s*(?=,|\)|$)"), ""),
    (re.compile(r"(^|\()\s*,\s*"), r"\1"),
)


def with_unrolling(pipeline: str, count: int) -> str:
    """Return a pipeline that unrolls innermost loops this many times.

    Args:
        pipeline: The rest, which does the unrolling.
        count: 1: never; 0: as the compiler chooses.
    """
    if count == 0:
        return pipeline
    return ",".join(part for part in (f"function(mneme-unroll<{count}>)", pipeline) if part)


def split_unrolling(pipeline: str) -> tuple[str, str]:
    """Return what `with_unrolling` added before a pipeline (may be empty), and the rest."""
    found = _IN_FRONT.match(pipeline)
    if found is None:
        return "", pipeline
    return found[0].strip().removesuffix(",").strip(), pipeline[found.end() :]


def unrolling_of(pipeline: str) -> int:
    """Return the count that was passed to `with_unrolling`."""
    found = _IN_FRONT.match(pipeline)
    return 0 if found is None else int(found[1])


def split_behind_unrolling(pipeline: str) -> tuple[str, str]:
    """Return a pipeline up to the last separate occurrence of mneme's pass, and the rest."""
    end = max((found.end() for found in _ALONE.finditer(pipeline)), default=0)
    front = pipeline[:end]
    if front.count("(") != front.count(")"):
        return "", pipeline
    return front.strip().removesuffix(",").strip(), pipeline[end:]


def without_unrolling(pipeline: str) -> str:
    """Return a pipeline without mneme's pass, for tools that do not know it."""
    text, before = _ANYWHERE.sub("", pipeline), pipeline
    while text != before:
        before = text
        for pattern, instead in _LEFTOVERS:
            text = pattern.sub(instead, text)
    return text.strip()
