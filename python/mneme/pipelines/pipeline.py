"""Pass pipelines: the available passes, random pipelines, and their text.

The passes are those of the compiling LLVM, which parses every pipeline made here.
"""

from __future__ import annotations

import functools
import json
import random
from typing import TYPE_CHECKING, Any

from mneme.errors import InvalidArgument
from mneme.pipelines.pass_options import (
    AbstractPass,
    ConcretePass,
    PassLevel,
    PassOption,
    parse_llvm_pass_options,
    split_name,
    split_top_level,
)
from mneme.pipelines.pass_table import LEFT_OUT, LEFT_OUT_PREFIXES, MEMORY_SSA_PASSES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

__all__ = [
    "ADAPTORS",
    "AbstractPass",
    "ConcretePass",
    "PassLevel",
    "PassOption",
    "PipelineManager",
    "UnknownPass",
    "flatten_passes",
    "parse_llvm_pass_options",
    "reason_left_out",
    "split_top_level",
]

_SECTIONS = {
    "module": PassLevel.MODULE,
    "cgscc": PassLevel.CGSCC,
    "function": PassLevel.FUNCTION,
    "loopnest": PassLevel.LOOP,
    "loop": PassLevel.LOOP,
}
ADAPTORS: dict[str, PassLevel | None] = {
    "module": PassLevel.MODULE,
    "cgscc": PassLevel.CGSCC,
    "function": PassLevel.FUNCTION,
    "loop": PassLevel.LOOP,
    "loop-mssa": PassLevel.LOOP_MSSA,
    "devirt": PassLevel.CGSCC,
    "repeat": None,
    "coro-cond": PassLevel.MODULE,
}
"""What the passes in an adaptor run on; None: the same as the adaptor itself."""
_LOOPS = (PassLevel.LOOP, PassLevel.LOOP_MSSA)


class UnknownPass(InvalidArgument, RuntimeError):  # noqa: N818 - like its siblings
    """A pipeline names a pass LLVM does not know."""


class PipelineManager:
    """The passes of the LLVM in use, and the pipelines they make. Immutable."""

    def __init__(self, sections: Mapping[str, Any] | None = None) -> None:
        """Ask LLVM for its passes.

        Args:
            sections: As `_native.llvm_passes()` returns; None asks it.

        Raises:
            BackendUnavailable: If there is no LLVM.
        """
        known = _known_passes(_sections_of_llvm() if sections is None else sections)
        self._by_key = {(item.name, item.level): item for item in known}
        self._names = {item.name for item in known}
        # Searches parse the same passes thousands of times a second.
        self._concrete = functools.lru_cache(maxsize=1 << 14)(self._make_concrete)
        # Good pipelines have many children.
        self._parsed = functools.lru_cache(maxsize=1 << 8)(self._parse)
        drawn = [item for item in known if reason_left_out(item.name) is None]
        self._drawn = sorted(drawn, key=lambda item: (item.name, item.level.value))

    def get_passes(self) -> list[AbstractPass]:
        """Return the passes that make sense for kernels, each once per level, sorted by name."""
        return list(self._drawn)

    def get_concrete_passes(self) -> list[ConcretePass]:
        """Return those passes without options and with each single one of their options."""
        return [variant for item in self.get_passes() for variant in item.variants()]

    def left_out(self) -> dict[str, str]:
        """Return LLVM's passes that are never drawn, each with the reason."""
        reasons = {name: reason_left_out(name) for name in sorted(self._names)}
        return {name: reason for name, reason in reasons.items() if reason is not None}

    def generate(
        self,
        samples: int,
        mean_passes: float,
        std: float,
        allow_repeats: bool = True,  # noqa: FBT001, FBT002
        seed: int | None = 0,
    ) -> list[str]:
        """Return random pipelines.

        Args:
            samples: How many.
            mean_passes: Mean of the number of passes, which is normally distributed, cut to at
                least 1.
            std: Its standard deviation. At least 0.
            allow_repeats: Whether a pass may occur more than once in a pipeline.
            seed: Seed of the random numbers; None: different pipelines every time.

        Raises:
            InvalidArgument: If a number is negative.
        """
        if samples < 0 or mean_passes < 0 or std < 0:
            raise InvalidArgument(
                "need samples, mean_passes and std of at least 0, got "
                f"{samples}, {mean_passes} and {std}"
            )
        rng = random.Random(seed)  # noqa: S311 - nothing secret
        passes = self.get_passes()
        pipelines = []
        for _ in range(samples):
            count = max(1, round(rng.gauss(mean_passes, std)))
            if allow_repeats:
                chosen = rng.choices(passes, k=count)
            else:
                chosen = rng.sample(passes, min(count, len(passes)))
            pipelines.append(self.to_string([item.sample(rng) for item in chosen]))
        return pipelines

    def from_string(self, s: str) -> list[ConcretePass]:
        """Return the passes of a pipeline in their order, without adaptors.

        Raises:
            UnknownPass: (a RuntimeError) If LLVM has no pass of a name.
            InvalidArgument: If brackets do not match.
        """
        return list(self._parsed(s))

    def split_pipeline(self, s: str) -> list[str]:
        """Return a pipeline as one text for each of its passes, which are pipelines themselves.

        Raises:
            UnknownPass: (a RuntimeError) If LLVM has no pass of a name.
            InvalidArgument: If brackets do not match.
        """
        return [self.to_string([item]) for item in self.from_string(s)]

    def abstract(self, item: ConcretePass, level: PassLevel) -> AbstractPass | None:
        """Return the pass at a level; None for passes that are not drawn."""
        found = self._by_key.get((item.name, level))
        return found if found is not None and reason_left_out(item.name) is None else None

    @staticmethod
    def to_string(passes: str | Iterable[ConcretePass | str]) -> str:
        """Return passes as one pipeline, in their order, with the adaptors they need.

        A text is used as a pipeline that needs no adaptor.
        """
        if isinstance(passes, str):
            return passes
        return ",".join(_grouped(list(passes)))

    def _parse(self, text: str) -> tuple[ConcretePass, ...]:
        return tuple(self._concrete(one, level) for one, level in _leaves(text, None))

    def _make_concrete(self, text: str, level: PassLevel | None) -> ConcretePass:
        name, options = split_name(text)
        if name in ("require", "invalidate"):
            return ConcretePass(name, level or PassLevel.MODULE, options)
        if name not in self._names:
            raise UnknownPass(f"Unknown pass {name}")
        # A loop pass gets the adaptor in the table, others the level of their place.
        levels = [item for item in PassLevel if (name, item) in self._by_key]
        if level in _LOOPS:
            levels = [item for item in levels if item in _LOOPS] or levels
        return ConcretePass(name, level if level in levels and level else levels[0], options)


@functools.cache
def _sections_of_llvm() -> dict[str, Any]:
    from mneme import _native  # noqa: PLC0415 - loads the compiler

    sections: dict[str, Any] = json.loads(_native.llvm_passes())
    return sections


def reason_left_out(name: str) -> str | None:
    """Return why a pass is not drawn, None if it is."""
    if name in LEFT_OUT:
        return LEFT_OUT[name]
    return next((why for start, why in LEFT_OUT_PREFIXES.items() if name.startswith(start)), None)


def flatten_passes(s: str) -> list[str]:
    """Return the passes of a pipeline in their order, as texts, without adaptors.

    Raises:
        InvalidArgument: If brackets do not match.
    """
    return [text for text, _ in _leaves(s, None)]


def _known_passes(sections: Mapping[str, Any]) -> list[AbstractPass]:
    """Return every pass once per level, the description with options winning."""
    known: dict[tuple[str, PassLevel], AbstractPass] = {}
    for section, level in _SECTIONS.items():
        plain = [(name, "") for name in sections.get(section, ())]
        described = [(name, text) for name, text in sections.get(f"{section}_with_params", ())]
        for listed, text in plain + described:
            name = listed.partition("<")[0]
            own = PassLevel.LOOP_MSSA if level in _LOOPS and name in MEMORY_SSA_PASSES else level
            options = tuple(parse_llvm_pass_options(text, name))
            if options or (name, own) not in known:
                known[name, own] = AbstractPass(name, own, options)
    return list(known.values())


def _leaves(text: str, level: PassLevel | None) -> Iterator[tuple[str, PassLevel | None]]:
    for part in split_top_level(text):
        head, bracket, inner = part.partition("(")
        if not bracket:
            yield part, level
            continue
        name = head.partition("<")[0]
        if name not in ADAPTORS:
            raise UnknownPass(f"Unknown pass {name}")
        yield from _leaves(inner.removesuffix(")"), ADAPTORS[name] or level)


def _grouped(passes: Sequence[ConcretePass | str]) -> Iterator[str]:
    """Yield the parts of a pipeline; neighbours that need the same adaptor share it."""
    position = 0
    while position < len(passes):
        first = passes[position]
        if isinstance(first, str):
            yield first
            position += 1
            continue
        end = position
        run: list[ConcretePass] = []
        while end < len(passes):
            item = passes[end]
            if isinstance(item, str) or _outer(item.level) is not _outer(first.level):
                break
            run.append(item)
            end += 1
        yield _wrapped(run, _outer(first.level))
        position = end


def _outer(level: PassLevel) -> PassLevel:
    return PassLevel.FUNCTION if level in _LOOPS else level


def _wrapped(run: Sequence[ConcretePass], level: PassLevel) -> str:
    if level is PassLevel.MODULE:
        return ",".join(map(str, run))
    if level is PassLevel.CGSCC:
        return f"cgscc({','.join(map(str, run))})"
    parts: list[tuple[PassLevel, list[str]]] = []
    for item in run:
        if not parts or parts[-1][0] is not item.level:
            parts.append((item.level, []))
        parts[-1][1].append(str(item))
    texts = [
        ",".join(names) if inner is PassLevel.FUNCTION else f"{inner.value}({','.join(names)})"
        for inner, names in parts
    ]
    return f"function<eager-inv>({','.join(texts)})"
