"""Names of kernels for users: as in the source, without return type and parameters."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["names_in_tables", "qualified_name"]

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


def names_in_tables(
    demangled: Sequence[str], longest: int = 60, *, has_parameters: bool = True
) -> list[str]:
    """Return names that fit into tables, in order; different kernels have different ones.

    Names of kernels in frameworks have hundreds of characters. A name longer than `longest` loses
    its parameters, then its middle. Kernels that would then look alike show where they differ.
    """
    short = [
        one if has_parameters and len(one) <= longest else _elided(qualified_name(one), longest)
        for one in demangled
    ]
    kernels: dict[str, dict[str, None]] = {}
    for name, text in zip(demangled, short, strict=True):
        kernels.setdefault(text, {})[name] = None
    return [
        text if len(kernels[text]) == 1 else _told_apart(name, list(kernels[text]), longest)
        for name, text in zip(demangled, short, strict=True)
    ]


def _elided(name: str, longest: int) -> str:
    if len(name) <= longest:
        return name
    end = longest // 2
    return f"{name[: longest - end - 1]}…{name[-end:]}"


def _told_apart(name: str, alike: list[str], longest: int) -> str:
    """Return the begin of a name, and the part from where it differs from the others."""
    if len(name) <= longest:
        return name
    number = f" #{alike.index(name) + 1}"
    letters = enumerate(zip(*alike, strict=False))
    same = next((at for at, ones in letters if len(set(ones)) > 1), len(min(alike, key=len)))
    head = f"{qualified_name(name)[: longest // 3]}…"
    return head + name[max(0, same - 8) :][: longest - len(head) - len(number)] + number


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
