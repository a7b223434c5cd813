"""The name that scripts import; see mneme.search.search_space."""

from __future__ import annotations

from mneme.search.search_space import (
    CONSTRAINTS_ATTRIBUTE,
    PARAMS_ATTRIBUTE,
    BaseParam,
    BoolParam,
    CategoricalParam,
    FixedParam,
    IntRangeParam,
    PipelineParam,
    RealRangeParam,
    Sample,
    SearchSpace,
    constraint_values,
    sample_optuna_param,
    sample_random_param,
)

__all__ = [
    "CONSTRAINTS_ATTRIBUTE",
    "PARAMS_ATTRIBUTE",
    "BaseParam",
    "BoolParam",
    "CategoricalParam",
    "FixedParam",
    "IntRangeParam",
    "PipelineParam",
    "RealRangeParam",
    "Sample",
    "SearchSpace",
    "constraint_values",
    "sample_optuna_param",
    "sample_random_param",
]
