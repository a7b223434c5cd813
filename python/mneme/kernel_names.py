"""Names of kernels for users: as in the source, without return type and parameters."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Sequence

__all__ = ["KernelName", "names_in_tables", "qualified_name", "short_name", "shortened"]

_ANONYMOUS = "(anonymous namespace)"
_CALL = "operator()"
# Placeholders while parentheses are removed; no name contains these characters.
_ANONYMOUS_MARK, _CALL_MARK = "\x01", "\x02"
_INNERMOST = re.compile(r"\([^()]*\)")
# At the end of a function; words in parentheses, as labels have them, stand after a blank.
_PARAMETERS = re.compile(r"(?<=[\w>])\([^()]*\)$")
# Namespaces that CUB and Thrust name after their version: "CUB_300001_SM_900::".
_VERSION = re.compile(r"\b(?:CUB|THRUST)_\d+_[\w]*::")
_LAST_WORD = re.compile(r"[\w']*$")
_FIRST_WORD = re.compile(r"^[\w']*")
# Letters before a difference that does not fit.
_BEFORE = 8


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
    characters: a name longer than `longest` loses its parameters and versions of libraries, then
    its middle. Kernels that would then look alike show where they differ, unless their places do.
    """
    known = [KernelName(demangled=one) if isinstance(one, str) else one for one in kernels]
    short = [
        one.label
        or (
            one.demangled
            if has_parameters and len(one.demangled) <= longest
            else _elided(_without_details(qualified_name(one.demangled), longest), longest)
        )
        for one in known
    ]
    alike: dict[str, dict[KernelName, None]] = {}
    for one, text in zip(known, short, strict=True):
        alike.setdefault(text, {})[one] = None
    # What differs by its place may share a name.
    keys: list[Hashable] = [
        text if len(alike[text]) == 1 or (one.label and _differ_in_place(alike[text])) else one
        for one, text in zip(known, short, strict=True)
    ]
    texts = [
        _told_apart(key, list(alike[text]), longest)
        if isinstance(key, KernelName)
        else _elided(text, longest)
        for key, text in zip(keys, short, strict=True)
    ]
    return _numbered(keys, texts, longest)


def shortened(texts: Sequence[str], longest: int) -> list[str]:
    """Return texts no longer than `longest`, in order; different texts stay different.

    A function loses its parameters and versions of libraries, then a text its middle. Texts that
    would then look alike keep where they differ.
    """
    short = [_elided(_without_details(one, longest), longest) for one in texts]
    alike: dict[str, dict[str, None]] = {}
    for one, text in zip(texts, short, strict=True):
        alike.setdefault(text, {})[one] = None
    apart = {
        one: text if len(ones) == 1 else _apart(index, list(ones), longest)
        for text, ones in alike.items()
        for index, one in enumerate(ones)
    }
    return _numbered(texts, [apart[one] for one in texts], longest)


def _differ_in_place(kernels: Iterable[KernelName]) -> bool:
    places = [one.place for one in kernels]
    return "" not in places and len(set(places)) == len(places)


def _elided(name: str, longest: int) -> str:
    if len(name) <= longest:
        return name
    end = longest // 2
    return f"{name[: longest - end - 1]}…{name[len(name) - end :]}"


def _without_details(text: str, longest: int) -> str:
    """Return a text that is too long without the parameters and versions in it."""
    return text if len(text) <= longest else _VERSION.sub("", _PARAMETERS.sub("", text))


def _told_apart(one: KernelName, alike: list[KernelName], longest: int) -> str:
    """Return a name with the part in which it differs from the others, behind its label."""
    if not one.label and len(one.demangled) <= longest:
        return one.demangled
    names = [qualified_name(each.demangled) for each in alike]
    if len(set(names)) < len(alike):
        names = [each.demangled for each in alike]
    label = f"{one.label}: "[: longest // 3] if one.label else ""
    return label + _apart(alike.index(one), names, longest - len(label))


def _apart(index: int, alike: list[str], longest: int) -> str:
    """Return one of several texts with what tells it from the others."""
    short = [_without_details(each, longest) for each in alike]
    texts = short if len(set(short)) == len(alike) else alike
    return _difference(texts[index], list(dict.fromkeys(texts)), longest)


def _difference(text: str, alike: list[str], longest: int) -> str:
    """Return the begin of a text, the part in which it differs from the others, and its end.

    Where that part is too long, the result may be that of another text.
    """
    same = _same_letters(alike)
    begin = same - len(_word(_LAST_WORD, text[:same]))
    end = _same_letters([each[begin:][::-1] for each in alike])
    end -= len(_word(_FIRST_WORD, text[len(text) - end :]))
    before, core, behind = text[:begin], text[begin : len(text) - end], text[len(text) - end :]
    room = longest - len(core)
    if room < len(before[:1] + behind[:1]):
        head = f"{text[: longest // 3]}…"
        at = max(0, same - _BEFORE)
        return (head + text[at:] if at > len(head) else text)[:longest]
    head_room = min(len(before), room - min(len(behind), max(1, room // 3)))
    return _elided(before, head_room) + core + _cut(behind, room - head_room)


def _same_letters(texts: Sequence[str]) -> int:
    """Return how many letters all texts begin with."""
    letters = enumerate(zip(*texts, strict=False))
    return next((at for at, ones in letters if len(set(ones)) > 1), len(min(texts, key=len)))


def _word(where: re.Pattern[str], text: str) -> str:
    found = where.search(text)
    return found[0] if found else ""


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def _numbered(keys: Sequence[Hashable], texts: Sequence[str], longest: int) -> list[str]:
    """Return the texts of things, in order; where different things have the same, with numbers."""
    things: dict[str, dict[Hashable, None]] = {}
    for key, text in zip(keys, texts, strict=True):
        things.setdefault(text, {})[key] = None
    final = {next(iter(ones)): text for text, ones in things.items() if len(ones) == 1}
    taken = set(final.values())
    for text, ones in things.items():
        number = 0
        for one in ones if len(ones) > 1 else ():
            candidate = text
            while candidate in taken or number == 0:
                number += 1
                candidate = f"{text[: longest - len(f' #{number}')]} #{number}"
            taken.add(candidate)
            final[one] = candidate
    return [final[key] for key in keys]


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
