"""What a trial of a study tried and found, whichever sampler or process made it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mneme.errors import InvalidArgument
from mneme.mneme_types import ExperimentConfiguration
from mneme.search.conditions import assign, sampling_order
from mneme.search.params import sample_optuna_param
from mneme.search.pipeline_param import PipelineParam
from mneme.search.portfolio import Proposal
from mneme.search.space_view import CONSTRAINTS_ATTRIBUTE, PARAMS_ATTRIBUTE

if TYPE_CHECKING:
    from collections.abc import Mapping

    from optuna.trial import FrozenTrial

    from mneme.search.params import BaseParam
    from mneme.search.space_view import Sample, SpaceView

__all__ = ["PROPOSAL_ATTRIBUTE", "RESULT_ATTRIBUTE", "StudyTrials"]

PROPOSAL_ATTRIBUTE = "mneme.proposal"
"""User attribute of a trial of the sampler `auto`: its parameters, and what proposed them."""

RESULT_ATTRIBUTE = "mneme.result"
"""User attribute of a trial that was evaluated: configuration, status, time."""


class StudyTrials:
    """Reads the trials of a study on one space."""

    def __init__(self, space: SpaceView) -> None:
        """Prepare for a complete space."""
        self._space = space
        self._dimensions = space.dimensions()
        self._order = sampling_order(space.name, self._dimensions)

    def proposal(self, trial: FrozenTrial) -> Proposal | None:
        """Return what a trial tries; None if that is not known yet, or is no member here."""
        attributes = trial.user_attrs
        told = attributes.get(PROPOSAL_ATTRIBUTE) or {}
        result = attributes.get(RESULT_ATTRIBUTE) or {}
        params = told.get("params") or result.get("params") or attributes.get(PARAMS_ATTRIBUTE)
        try:
            found = self._of_study(trial.params) if params is None else self._of_json(params)
        except (InvalidArgument, KeyError, ValueError):
            return None
        sample = self._space.sample_of(found)
        return Proposal(sample, str(told.get("operator", "")), int(told.get("step", -1)))

    def is_measured(self, trial: FrozenTrial) -> bool:
        """Whether a finished trial has a result, if only that it does not work."""
        if CONSTRAINTS_ATTRIBUTE in trial.user_attrs:
            return RESULT_ATTRIBUTE in trial.user_attrs
        return trial.state.name != "FAIL" or RESULT_ATTRIBUTE in trial.user_attrs

    def identity(self, trial: FrozenTrial, sample: Sample) -> object:
        """Return what is equal for trials with the same code and launch."""
        result = trial.user_attrs.get(RESULT_ATTRIBUTE)
        if result is None:
            return sample.config.key()
        code = (result.get("result") or {}).get("image_hash") or result["config_hash"]
        config = ExperimentConfiguration.from_dict(result["config"])
        return (code, config.grid, config.block, config.shared_mem)

    def _of_json(self, params: Mapping[str, Any]) -> dict[str, Any]:
        found = {
            name: self._dimensions[name].from_plain(value)
            for name, value in params.items()
            if name in self._dimensions
        }

        def take(param: BaseParam) -> Any:  # noqa: ANN401 - the parameter's own
            value = found[param.name]
            # A search may give longer pipelines than draws can.
            if not isinstance(param, PipelineParam) and not param.contains(value):
                raise InvalidArgument(f"'{param.name}' is never {value!r}")
            return value

        return self._assigned(take)

    def _of_study(self, params: Mapping[str, Any]) -> dict[str, Any]:
        import optuna  # noqa: PLC0415 - slow to import

        fixed = optuna.trial.FixedTrial(dict(params))
        return self._assigned(lambda param: sample_optuna_param(fixed, param))

    def _assigned(self, take: Any) -> dict[str, Any]:  # noqa: ANN401 - a function of a parameter
        return assign(self._space.name, self._dimensions, take, self._order)
