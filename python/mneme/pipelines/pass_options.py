"""Passes as LLVM names them: levels, options and the text of pipelines."""

from __future__ import annotations

import enum
import itertools
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mneme.errors import InvalidArgument
from mneme.pipelines.pass_table import EXCLUSIVE_OPTIONS, NEEDED_OPTIONS, OPTION_VALUES

if TYPE_CHECKING:
    import random
    from collections.abc import Sequence

__all__ = [
    "AbstractPass",
    "ConcretePass",
    "PassLevel",
    "PassOption",
    "parse_llvm_pass_options",
    "split_name",
    "split_top_level",
]


class PassLevel(enum.Enum):
    """What a pass runs on."""

    MODULE = "module"
    CGSCC = "cgscc"
    FUNCTION = "function"
    LOOP = "loop"
    LOOP_MSSA = "loop-mssa"
    """A loop, with MemorySSA kept up to date."""


@dataclass(frozen=True, slots=True)
class PassOption:
    """One option of a pass: one of several words, or a word with a number."""

    name: str
    """The word, that of the positive form if there is a negative one."""

    choices: tuple[str, ...]
    """The texts to try, of which at most one is written."""


@dataclass(frozen=True, slots=True)
class ConcretePass:
    """A pass with its options: an element of a pipeline."""

    name: str
    """As LLVM knows it."""

    level: PassLevel
    """What it runs on."""

    options: tuple[str, ...] = ()
    """The texts of its options."""

    def __str__(self) -> str:
        return f"{self.name}<{';'.join(self.options)}>" if self.options else self.name


@dataclass(frozen=True, slots=True)
class AbstractPass:
    """A pass with the options it can have."""

    name: str
    """As LLVM knows it."""

    level: PassLevel
    """What it runs on."""

    options: tuple[PassOption, ...] = ()
    """Its options."""

    def concrete(self, chosen: Sequence[str] = ()) -> ConcretePass:
        """Return the pass with these options, and those it always needs."""
        return ConcretePass(self.name, self.level, (*chosen, *NEEDED_OPTIONS.get(self.name, ())))

    def variants(self) -> list[ConcretePass]:
        """Return the pass without and with each single option."""
        words = itertools.chain.from_iterable(option.choices for option in self._free_options())
        return [self.concrete(), *(self.concrete([word]) for word in words)]

    def sample(self, rng: random.Random) -> ConcretePass:
        """Return the pass with random options; each is left out half of the time."""
        chosen = [
            rng.choice(option.choices)
            for option in self._free_options()
            if rng.random() < 0.5  # noqa: PLR2004
        ]
        return self.concrete(chosen)

    def _free_options(self) -> list[PassOption]:
        needed = set(NEEDED_OPTIONS.get(self.name, ()))
        return [option for option in self.options if not needed & set(option.choices)]


# Scripts also use this name for the class.
setattr(AbstractPass, "ConcretePass", ConcretePass)  # noqa: B010


_CLOSING = {"(": ")", "<": ">", "[": "]"}
_SEPARATORS = {one: re.compile(rf"[{one}()<>\[\]]") for one in ",;"}


def split_top_level(text: str, separator: str = ",") -> list[str]:
    """Return the parts between separators outside of brackets; none for an empty text.

    Raises:
        InvalidArgument: If brackets do not match.
    """
    if not text.strip():
        return []
    parts: list[str] = []
    begin = 0
    open_brackets: list[str] = []
    # Searches call this thousands of times a second, so only relevant characters are inspected.
    for found in _SEPARATORS[separator].finditer(text):
        character = found[0]
        if character == separator:
            if not open_brackets:
                parts.append(text[begin : found.start()].strip())
                begin = found.end()
        elif character in _CLOSING:
            open_brackets.append(_CLOSING[character])
        elif not open_brackets or open_brackets.pop() != character:
            raise InvalidArgument(f"'{character}' closes nothing in the pass pipeline '{text}'")
    if open_brackets:
        raise InvalidArgument(f"'{open_brackets[-1]}' is missing in the pass pipeline '{text}'")
    parts.append(text[begin:].strip())
    return parts


def split_name(text: str) -> tuple[str, tuple[str, ...]]:
    """Return the name of a pass and the texts of its options."""
    name, bracket, rest = text.partition("<")
    if not bracket:
        return text, ()
    return name, tuple(part for part in split_top_level(rest[:-1], ";") if part)


def parse_llvm_pass_options(text: str, pass_name: str = "") -> list[PassOption]:
    """Return the options in LLVM's own description of a pass, such as "no-pre;pre;max=N".

    Options with a number get the choices known for this pass, and are left out if none are known.
    """
    words = [part for part in text.removeprefix("<").removesuffix(">").split(";") if part]
    plain = [word for word in words if "=" not in word]
    levels = tuple(word for word in plain if word in _LEVELS)
    options: list[PassOption] = []
    for word in words:
        name, equals, _ = word.partition("=")
        if equals:
            values = OPTION_VALUES.get((pass_name, name), ())
            choices = tuple(f"{name}={value}" for value in values)
        elif word in _LEVELS:
            name, choices = "level", levels
        elif (pass_name, word) in _EXCLUSIVE:
            choices = _EXCLUSIVE[pass_name, word]
            name = choices[0]
        else:
            name = word.removeprefix("no-") if word.removeprefix("no-") in plain else word
            choices = tuple(form for form in (name, f"no-{name}") if form in plain)
        option = PassOption(name, choices)
        if choices and option not in options:
            options.append(option)
    return options


_EXCLUSIVE = {(name, word): words for name, words in EXCLUSIVE_OPTIONS for word in words}
_LEVELS = frozenset(("O0", "O1", "O2", "O3", "Os", "Oz"))
