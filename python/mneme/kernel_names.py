"""Names of kernels for users: as in the source, without return type and parameters."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from mneme._vendors import KERNEL_LIBRARIES

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Sequence

__all__ = [
    "KernelName",
    "elided_name",
    "names_in_tables",
    "own_part",
    "qualified_name",
    "short_name",
    "shortened",
]

_ANONYMOUS = "(anonymous namespace)"
_CALL = "operator()"
# Placeholders while parentheses are removed; no name contains these characters.
_ANONYMOUS_MARK, _CALL_MARK = "\x01", "\x02"
# A function's parameters begin so; words in parentheses, as labels have them, stand after a blank.
_BEFORE_PARAMETERS = re.compile(r"[\w>]$")
# Namespaces that CUB and Thrust name after their version: "CUB_300001_SM_900::".
_VERSION = re.compile(r"\b(?:CUB|THRUST)_\d+_[\w]*::")
_LAST_WORD = re.compile(r"[\w']*$")
_FIRST_WORD = re.compile(r"^[\w']*")
_TYPE = re.compile(r"(?:\(anonymous namespace\)::)?[A-Za-z_]\w*(?:::[\w~()' ]+)*")
_LAMBDA = re.compile(r"'lambda|\{lambda")
_BUILT_IN = frozenset(
    ("bool", "char", "double", "false", "float", "int", "long", "short", "true", "unsigned", "void")
)
# Letters before a difference that does not fit.
_BEFORE = 8


def qualified_name(demangled: str) -> str:
    """Return a kernel's name with namespaces and template arguments.

    "void run<main::'lambda'(int)>(int, float*)" gives "run<main::'lambda'>", and
    "app::(anonymous namespace)::dot(double*)" gives "app::(anonymous namespace)::dot".
    """
    text = demangled.replace(_ANONYMOUS, _ANONYMOUS_MARK).replace(_CALL, _CALL_MARK)
    name = _last_word(_without_pairs(text, "(", ")").strip())
    name = name.replace(_ANONYMOUS_MARK, _ANONYMOUS).replace(_CALL_MARK, _CALL)
    return name or demangled


def own_part(qualified: str) -> str:
    """Return what a program gave to the kernel of a framework; empty if the kernel shows nothing.

    That is the first lambda among the template arguments, with the function it is in, outside of
    the framework's namespace if there is one, else the first such type that is no library's:
    "Kokkos::Impl::launch<Kokkos::ParallelFor<halo::'lambda0'>>" gives "halo::'lambda0'".
    """
    arguments = _arguments(qualified)
    namespace, is_inside, _ = _without_pairs(qualified, "<", ">").partition("::")
    framework = namespace if is_inside and namespace not in KERNEL_LIBRARIES else ""
    lambdas = [one.within(qualified) for one in arguments if _LAMBDA.search(one.head)]
    if lambdas:
        return next((one for one in lambdas if _namespace(one) != framework), lambdas[0])
    known = {"", framework, *KERNEL_LIBRARIES}
    types = (
        one.within(qualified)
        for one in arguments
        if _TYPE.fullmatch(one.head)
        and one.head not in _BUILT_IN
        and _namespace(one.head) not in known
    )
    return next(types, "") if framework else ""


class _Argument(NamedTuple):
    """A template argument: where it is in the name, and its text without arguments of its own."""

    begin: int
    end: int
    head: str

    def within(self, name: str) -> str:
        return name[self.begin : self.end].strip()


def _arguments(name: str) -> list[_Argument]:
    """Return the template arguments of a name, each before those in it, however deep they are."""
    found: list[_Argument] = []
    opened: list[tuple[int, list[str]]] = []
    for at, letter in enumerate(name):
        if letter in ",>" and opened:
            begin, head = opened.pop()
            found.append(_Argument(begin, at, "".join(head).strip()))
            if letter == ",":
                opened.append((at + 1, []))
        elif letter == "<":
            opened.append((at + 1, []))
        elif opened:
            opened[-1][1].append(letter)
    return sorted(found)


def _without_pairs(text: str, opening: str, closing: str) -> str:
    """Return a text without what stands in brackets, and without those that have a partner."""
    kept: list[str] = []
    opened: list[int] = []
    for letter in text:
        if letter == closing and opened:
            del kept[opened.pop() :]
            continue
        if letter == opening:
            opened.append(len(kept))
        kept.append(letter)
    return "".join(kept)


def _namespace(head: str) -> str:
    """Return the outermost namespace, the type itself where there is none."""
    return head.partition("::")[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelName:
    """What is known of a kernel for people to recognise it by."""

    demangled: str
    """As in the source."""

    label: str = ""
    """What the program calls its launches; several are separated by commas."""

    place: str = ""
    """Where its body is: "src/advec_mom.cpp:120"; empty if unknown."""


def elided_name(demangled: str, longest: int = 40) -> str:
    """Return the name of a function that is no kernel: its own, whatever it is made for."""
    return _elided(qualified_name(demangled), longest)


def short_name(demangled: str, longest: int = 40) -> str:
    """Return a kernel's name as sentences have it."""
    return _elided(_without_details(qualified_name(demangled), longest), longest)


def names_in_tables(
    kernels: Sequence[str | KernelName], longest: int = 60, *, has_parameters: bool = True
) -> list[str]:
    """Return names that fit into tables, in order; different kernels have different ones.

    A kernel with a label is called by it. Names of kernels in frameworks have hundreds of
    characters: a name longer than `longest` loses its parameters and versions of libraries, then
    what the framework calls itself, then its middle. Kernels that would then look alike show where
    they differ, unless their places do.
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


def shortened(texts: Sequence[str], longest: int, *, are_functions: bool = True) -> list[str]:
    """Return texts no longer than `longest`, in order; different texts stay different.

    A function loses its parameters and versions of libraries, then what a framework calls itself,
    then a text its middle. Texts that would then look alike keep where they differ. Pass pipelines
    and the like look as functions do, and lose their middle only.
    """
    short = [
        _elided(_without_details(one, longest) if are_functions else one, longest) for one in texts
    ]
    alike: dict[str, dict[str, None]] = {}
    for one, text in zip(texts, short, strict=True):
        alike.setdefault(text, {})[one] = None
    told = _apart if are_functions else _difference
    apart = {
        one: text if len(ones) == 1 else told(one, list(ones), longest)
        for text, ones in alike.items()
        for one in ones
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
    """Return a text that is too long with as few of its details as are necessary."""
    if len(text) <= longest:
        return text
    name = _VERSION.sub("", _without_parameters(text))
    if len(name) > longest and name != text:
        name = qualified_name(name)
    if len(name) <= longest or "<" not in name:
        return name
    own = own_part(name)
    bare = _without_pairs(own, "<", ">")
    last = "::".join(bare.split("::")[-2:])
    return next((one for one in (own, bare) if len(one) <= longest), last) or name


def _without_parameters(text: str) -> str:
    """Return a function's name without its parameters, which may have parameters themselves."""
    depth = 0
    for at in range(len(text) - 1, -1, -1) if text.endswith(")") else ():
        depth += (text[at] == ")") - (text[at] == "(")
        if depth == 0:
            return text[:at] if _BEFORE_PARAMETERS.search(text[:at]) else text
    return text


def _told_apart(one: KernelName, alike: list[KernelName], longest: int) -> str:
    """Return a name with the part in which it differs from the others, behind its label."""
    if not one.label and len(one.demangled) <= longest:
        return one.demangled
    names = [qualified_name(each.demangled) for each in alike]
    if len(set(names)) < len(alike):
        names = [each.demangled for each in alike]
    label = f"{one.label}: "[: longest // 3] if one.label else ""
    return label + _apart(names[alike.index(one)], names, longest - len(label))


def _apart(text: str, alike: list[str], longest: int) -> str:
    """Return one of several texts with what tells it from the others."""
    short = [_without_details(each, longest) for each in alike]
    texts = short if len(set(short)) == len(alike) else alike
    return _difference(texts[alike.index(text)], list(dict.fromkeys(texts)), longest)


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
