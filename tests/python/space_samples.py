"""Search spaces made of what a test gives."""

from __future__ import annotations

from typing import Any

import optuna

from mneme.mneme_types import ExperimentConfiguration
from mneme.search.search_space import BaseParam, SearchSpace

__all__ = ["Space", "all_params", "make_study"]

optuna.logging.set_verbosity(optuna.logging.ERROR)


class Space(SearchSpace):
    """A space made of what a test gives."""

    def __init__(self, *params: BaseParam, allow: Any = None, derive: Any = None) -> None:
        self.params = {param.name: param for param in params}
        self.allow = allow or (lambda _: True)
        self.derive = derive or (lambda _: ExperimentConfiguration())

    def dimensions(self) -> dict[str, BaseParam]:
        return self.params

    def derived(self, params: dict[str, Any]) -> Any:
        return self.derive(params)

    def constraints(self, x: Any) -> bool:
        return self.allow(x)


def make_study(sampler: Any = None, **more: Any) -> optuna.Study:
    return optuna.create_study(sampler=sampler or optuna.samplers.RandomSampler(seed=1), **more)


def all_params(space: SearchSpace) -> list[dict[str, Any]]:
    return [sample.params for sample in space.samples()]
