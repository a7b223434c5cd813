"""Completes pipelines with `structurizecfg` for other tools of LLVM.

mneme's compiler itself adds the passes that it relies on
(`runtime/compiler/ir/structurize_needs.h`), so pipelines do not contain them.
"""

from __future__ import annotations

import re

__all__ = ["with_what_structurizecfg_needs"]

_NAME = re.compile(r"(?:^|(?<=[,(]))structurizecfg(?=[,)<]|$)")
_BEFORE = "lower-switch,break-crit-edges,fix-irreducible,unify-loop-exits,"


def with_what_structurizecfg_needs(pipeline: str) -> str:
    """Return a pipeline that is correct in any tool of LLVM, with the pass at any place."""
    return _NAME.sub(lambda found: _BEFORE + found[0], pipeline)
