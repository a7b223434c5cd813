"""Names of kernels for users: as in the source, without return type and parameters."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["KernelName", "names_in_tables", "qualified_name", "short_name", "shortened"]

_ANONYMOUS = "(anonymous namespace)"
_CALL = "operator()"
# Placeholders while parentheses are removed; no name contains these characters.
_ANONYMOUS_MARK, _CALL_MARK = "\x01", "\x02"
_INNERMOST = re.compile(r"\([^()]*\)")
# At the end of a function; words in parentheses, as labels have them, stand after a blank.
_PARAMETERS = re.compile(r"(?<=[\w>])\([^()]*\)$")


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


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelName:
    """What is known of a kernel for people to recognise it by."""

    demangled: str
    """As in the source."""

    label: str = ""
    """What the program calls its launches; several are separated by commas."""

    place: str = ""
    """Where its body is: "src/advec_mom.cpp:120"; empty if unknown."""


def short_name(demangled: str, longest: int = 40) -> str:
    """Return a kernel's name as sentences have it."""
    return _elided(qualified_name(demangled), longest)


def names_in_tables(
    kernels: Sequence[str | KernelName], longest: int = 60, *, has_parameters: bool = True
) -> list[str]:
    """Return names that fit into tables, in order; different kernels have different ones.

    A kernel with a label is called by it. Names of kernels in frameworks have hundreds of
    characters: a name longer than `longest` loses its parameters, then its middle. Kernels that
    would then look alike show where they differ, unless their places do.
    """
    known = [KernelName(demangled=one) if isinstance(one, str) else one for one in kernels]
    short = [
        one.label
        or (
            one.demangled
            if has_parameters and len(one.demangled) <= longest
            else _elided(qualified_name(one.demangled), longest)
        )
        for one in known
    ]
    alike: dict[str, dict[KernelName, None]] = {}
    for one, text in zip(known, short, strict=True):
        alike.setdefault(text, {})[one] = None
    return [
        _elided(text, longest)
        if len(alike[text]) == 1 or (one.label and _differ_in_place(alike[text]))
        else _told_apart(one, list(alike[text]), longest)
        for one, text in zip(known, short, strict=True)
    ]


def shortened(texts: Sequence[str], longest: int) -> list[str]:
    """Return texts no longer than `longest`, in order; different texts stay different.

    A function loses its parameters, then a text its middle.
    """
    short = [_elided(_without_parameters(one, longest), longest) for one in texts]
    alike: dict[str, dict[str, None]] = {}
    for one, text in zip(texts, short, strict=True):
        alike.setdefault(text, {})[one] = None
    return [
        text if len(alike[text]) == 1 else _difference(one, list(alike[text]), one, longest)
        for one, text in zip(texts, short, strict=True)
    ]


def _differ_in_place(kernels: Iterable[KernelName]) -> bool:
    places = [one.place for one in kernels]
    return "" not in places and len(set(places)) == len(places)


def _elided(name: str, longest: int) -> str:
    if len(name) <= longest:
        return name
    end = longest // 2
    return f"{name[: longest - end - 1]}…{name[len(name) - end :]}"


def _without_parameters(text: str, longest: int) -> str:
    return text if len(text) <= longest else _PARAMETERS.sub("", text)


def _told_apart(one: KernelName, alike: list[KernelName], longest: int) -> str:
    """Return the begin of a name, and the part from where it differs from the others."""
    names = list(dict.fromkeys(each.demangled for each in alike))
    if not one.label and len(one.demangled) <= longest:
        return one.demangled
    begin = f"{one.label}: " if one.label else qualified_name(one.demangled)
    return _difference(one.demangled, names, begin, longest)


def _difference(text: str, alike: list[str], begin: str, longest: int) -> str:
    number = f" #{alike.index(text) + 1}" if len(alike) > 1 else ""
    letters = enumerate(zip(*alike, strict=False))
    same = next((at for at, ones in letters if len(set(ones)) > 1), len(min(alike, key=len)))
    head = f"{begin[: longest // 3]}…"
    return head + text[max(0, same - 8) :][: max(0, longest - len(head) - len(number))] + number


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
