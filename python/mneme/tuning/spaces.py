"""The search space a session is asked for."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

from mneme.mneme_types import ExperimentConfiguration
from mneme.tuning.params import BoolParam, CategoricalParam
from mneme.tuning.search_space import SearchSpace

if TYPE_CHECKING:
    from mneme.recorded_execution import KernelInstance
    from mneme.tuning.options import TuneOptions
    from mneme.tuning.params import BaseParam
    from mneme.tuning.search_space import Sample

__all__ = ["describe", "first_samples", "make_space"]


class _Pipelines(SearchSpace):
    """The standard pipelines, for the recorded launch."""

    def __init__(self, recorded: KernelInstance) -> None:
        self._recorded = recorded

    def dimensions(self) -> dict[str, BaseParam]:
        levels = ("O3", "O2", "O1", "Os")
        return {
            "passes": CategoricalParam("passes", [f"default<{one}>" for one in levels]),
            "specialize": BoolParam("specialize"),
        }

    def baseline(self) -> ExperimentConfiguration:
        one = self._recorded
        return ExperimentConfiguration(
            grid=one.grid_dim,
            block=one.block_dim,
            shared_mem=one.shared_mem,
            max_threads=0,
            min_blocks_per_sm=0,
        )


def make_space(options: TuneOptions, recorded: KernelInstance) -> SearchSpace:
    """Return the built-in space, or the user's own."""
    del options
    return _Pipelines(recorded)


def describe(options: TuneOptions, space: SearchSpace) -> dict[str, Any]:
    """Return the content of `search_space.json`."""
    content: dict[str, Any] = {
        "type": "custom" if options.space_module else "builtin",
        "dimensions": {name: one.describe() for name, one in space.dimensions().items()},
    }
    if not options.space_module:
        content["preset"] = options.space_preset
    return content


def first_samples(options: TuneOptions, space: SearchSpace, count: int = 10) -> list[Sample]:
    """Return what a search would begin with."""
    if options.enumerates:
        return list(itertools.islice(space.samples(), count))
    space.seed(options.seed)
    return [space.draw() for _ in range(min(count, options.trials or count))]
