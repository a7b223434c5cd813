"""What LLVM's passes say, without what only its developers read."""

from __future__ import annotations

import re

__all__ = ["AS_ASKED", "plain_message"]

AS_ASKED = "as an attribute asks"
"""The end of remarks about functions that the source itself wants inlined."""

# The place of the remark is where inlining happened.
_CALL_SITE = re.compile(r" at callsite [^;]*;?$")
_ALWAYS = re.compile(r"with \(cost=always\): always inline attribute$")
# The price of what was done differs where nothing else does.
_PRICE = re.compile(r"(inlined into '[^']*') with \(cost=[^()]*\)$")
_COST = re.compile(r"(\d+) ([a-z ]+?) [\d.e+-]+ total [a-z ]+? cost ")
_IN_LOOP = re.compile(r", generated in (loop|function)$")


def plain_message(message: str) -> str:
    """Return a message in words: "11 spills, 24 reloads in loop"."""
    text = _CALL_SITE.sub("", " ".join(message.split()))
    text = _PRICE.sub(r"\1", _ALWAYS.sub(AS_ASKED, text))
    return _IN_LOOP.sub(r" in \1", _COST.sub(r"\1 \2, ", text))
