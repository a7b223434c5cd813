"""The name that scripts import; see mneme.search.sample_strategy."""

from __future__ import annotations

from mneme.search.sample_strategy import (
    ExhaustiveSamplingStrategy,
    OptunaSamplingStrategy,
    RandomSamplingStrategy,
    SamplingStrategy,
)

__all__ = [
    "ExhaustiveSamplingStrategy",
    "OptunaSamplingStrategy",
    "RandomSamplingStrategy",
    "SamplingStrategy",
]
