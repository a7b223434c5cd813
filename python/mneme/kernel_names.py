"""Names of kernels for users: as in the source, without return type and parameters."""

from __future__ import annotations

import re

__all__ = ["qualified_name"]

_ANONYMOUS = "(anonymous namespace)"
_CALL = "operator()"
# Placeholders while parentheses are removed; no name contains these characters.
_ANONYMOUS_MARK, _CALL_MARK = "\x01", "\x02"
_INNERMOST = re.compile(r"\([^()]*\)")


def qualified_name(demangled: str) -> str:
    """Return a kernel's name with namespaces and template arguments.

    "void run<main::'lambda'(int)>(int, float*)" gives "run<main::'lambda'>", and
    "app::(anonymous namespace)::dot(double*)" gives "app::(anonymous namespace)::dot".
    """
    text = demangled.replace(_ANONYMOUS, _ANONYMOUS_MARK).replace(_CALL, _CALL_MARK)
    count = 1
    while count:
        text, count = _INNERMOST.subn("", text)
    name = _last_word(text.strip())
    name = name.replace(_ANONYMOUS_MARK, _ANONYMOUS).replace(_CALL_MARK, _CALL)
    return name or demangled


def _last_word(text: str) -> str:
    """Return the text after the last blank outside of template arguments."""
    depth = 0
    for index in range(len(text) - 1, -1, -1):
        if text[index] == ">":
            depth += 1
        elif text[index] == "<":
            depth -= 1
        elif text[index] == " " and depth == 0:
            return text[index + 1 :]
    return text
