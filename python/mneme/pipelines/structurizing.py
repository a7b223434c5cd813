"""Pipelines with `structurizecfg` for tools that do not know what it relies on.

mneme's compiler puts that in front of it by itself (`runtime/ir/structurize_needs.h`), so that
texts of pipelines do without.
"""

from __future__ import annotations

import re

__all__ = ["with_what_structurizecfg_needs"]

_NAME = re.compile(r"(?:^|(?<=[,(]))structurizecfg(?=[,)<]|$)")
_BEFORE = "lower-switch,break-crit-edges,fix-irreducible,unify-loop-exits,"


def with_what_structurizecfg_needs(pipeline: str) -> str:
    """Return a pipeline that is right in any tool of LLVM, wherever the pass stands in it."""
    return _NAME.sub(lambda found: _BEFORE + found[0], pipeline)
