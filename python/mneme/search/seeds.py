"""Configurations that helped before, as parameters of the present space."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from mneme.knobs import CODE_NUMBERS
from mneme.knowledge.entry import NOTHING
from mneme.pipelines.unrolling import split_unrolling, unrolling_of
from mneme.search.conditions import assign
from mneme.search.pass_choices import LEVELS, PROVEN, UNROLLED, known_pipelines
from mneme.search.pipeline_param import PipelineParam
from mneme.search.starting_points import starting_points

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from collections.abc import Set as AbstractSet

    from mneme.knowledge.recall import Match
    from mneme.search.params import BaseParam
    from mneme.search.space_view import SpaceView

__all__ = ["Seeds", "find_seeds"]

_MOST: Final = 8
# Fields that apply to other kernels: how code is made. Blocks, and further parameters of users'
# spaces, are specific to a kernel.
_OF_CODE: Final = frozenset(
    (
        *("passes", "pipeline", "unroll", "codegen_opt", "specialize", "specialize_dims"),
        *("set_launch_bounds", "min_blocks_per_sm", "max_threads"),
        *(one.key for one in CODE_NUMBERS),
    )
)
_FIXED: Final = {"specialize": True, "specialize_dims": True}
# What winners on an H200 have in common (benchmarks/results: 7 of production_h200.jsonl and 5 of
# optimize_h200.jsonl): 10 of 12 with specialize, 9 with specialize_dims, 7 with launch bounds, of 1
# to 5 blocks; 5 say how often to unroll, 3 of them 16 times; and pipelines, see there. What differs
# from the usual configuration in one of these alone is a starting point anyway.
_USUAL_WINNERS: Final[tuple[dict[str, Any], ...]] = (
    _FIXED,
    {**_FIXED, "passes": UNROLLED},
    {**_FIXED, "unroll": 16},
    {"specialize": True, "set_launch_bounds": True, "min_blocks_per_sm": 3},
    *({**_FIXED, "passes": passes} for passes in PROVEN if passes != UNROLLED),
    {**_FIXED, "set_launch_bounds": True, "min_blocks_per_sm": 4},
    *({**_FIXED, "unroll": 16, "passes": passes} for passes in PROVEN[2:3]),
)

Params = dict[str, Any]


@dataclass(kw_only=True)
class Seeds:
    """The starting points of a search, and their origin."""

    points: list[Params] = field(default_factory=list)
    """Parameters, the most promising first."""
    of_same: int = 0
    """How many helped exactly this code."""
    of_similar: int = 0
    """How many helped similar kernels."""
    usual: int = 0
    """How many are from the built-in list."""

    @property
    def sentence(self) -> str:
        """The numbers by origin; empty if there are none."""
        parts = [
            f"{count} {what}"
            for count, what in (
                (self.of_same, "that helped this kernel before"),
                (self.of_similar, "that helped similar kernels"),
                (self.usual, "that usually win"),
            )
            if count
        ]
        return f"the search begins with known configurations: {', '.join(parts)}" if parts else ""


def find_seeds(view: SpaceView, found: Iterable[Match]) -> Seeds:
    """Return members of a space that are near what helped before.

    Args:
        view: The complete space.
        found: Entries of the knowledge file, the most relevant first.

    Raises:
        InvalidArgument: If the space's own functions fail.
    """
    finder = _Finder(view)
    seeds = Seeds()
    for match in found:
        if len(seeds.points) == _MOST:
            break
        if match.entry.rank == NOTHING:
            continue
        known = {**_of_config(match.entry.config), **match.entry.params}
        if not match.is_same:
            known = {name: value for name, value in known.items() if name in _OF_CODE}
        if (point := finder.member(known)) is not None:
            seeds.points.append(point)
            seeds.of_same += match.is_same
            seeds.of_similar += not match.is_same
    for known in _USUAL_WINNERS:
        # If arguments cannot be constants, the rest may still win.
        needed = known.keys() - _FIXED.keys() or known.keys()
        if (point := finder.member(known, needed)) is not None:
            seeds.points.append(point)
            seeds.usual += 1
    return seeds


class _Finder:
    """Finds members of one space, each once."""

    def __init__(self, view: SpaceView) -> None:
        self._view = view
        self._dimensions = view.dimensions()
        self._usual = next(starting_points(self._dimensions))
        self._pipeline = next(
            (one for one in self._dimensions.values() if isinstance(one, PipelineParam)), None
        )
        self._seen = [self._completed(self._usual)]

    def member(
        self, known: Mapping[str, Any], needed: AbstractSet[str] = frozenset()
    ) -> Params | None:
        """Return the member with these values, as far as possible.

        Values that the space lacks are replaced by the usual ones. None if the result is not new,
        not a member, or lacks a needed name.
        """
        dimensions = self._dimensions
        values = {
            name: known[name]
            for name, param in dimensions.items()
            if name in known and not isinstance(param, PipelineParam) and _has(param, known[name])
        }
        if not needed <= values.keys():
            return None
        if self._pipeline is not None and isinstance(self._pipeline.when, dict):
            values = {n: v for n, v in values.items() if (n, v) not in self._pipeline.when.items()}
        point = self._completed({**self._usual, **self._passes(known), **values})
        if point is None or point in self._seen:
            return None
        self._seen.append(point)
        return point if self._view.allows(self._view.sample_of(point), "parameters") else None

    def _passes(self, known: Mapping[str, Any]) -> Params:
        """Return the space's parameters for a pass pipeline, if it has any."""
        listed = self._dimensions.get("passes")
        drawn = self._pipeline
        text = str(known.get("passes_alone", ""))
        if listed is not None and _has(listed, text):
            return {"passes": text}
        if drawn is None or not text or not isinstance(drawn.when, dict) or not _parses(text):
            return {}
        return {**drawn.when, drawn.name: text}

    def _completed(self, values: Mapping[str, Any]) -> Params | None:
        """Return values of all active parameters; None if one is unknown."""

        def value_of(param: BaseParam) -> Any:  # noqa: ANN401 - of the parameter
            if param.name in values:
                return values[param.name]
            if not param.is_finite:
                raise LookupError(param.name)
            return param.values()[0]

        try:
            return assign(self._view.name, self._dimensions, value_of)
        except LookupError:
            return None


def _of_config(config: Mapping[str, Any]) -> Params:
    """Return the fields of a configuration that built-in spaces have as parameters."""
    passes = str(config.get("passes", ""))
    own = {"passes_alone": split_unrolling(passes)[1], "unroll": unrolling_of(passes)}
    return {**config, **own}


def _has(param: BaseParam, value: object) -> bool:
    try:
        return param.contains(value)
    except (TypeError, ValueError):  # a value of another kind than the parameter knows
        return False


def _parses(text: str) -> bool:
    """Whether this LLVM knows the passes."""
    return text in LEVELS or bool(known_pipelines([text]))
