"""Finished trials in the form of an Optuna study."""

from __future__ import annotations

import warnings
from datetime import datetime
from typing import TYPE_CHECKING, Any

from mneme.errors import InvalidArgument
from mneme.search.conditions import assign, sampling_order
from mneme.search.params import sample_optuna_param
from mneme.search.pipeline_param import PipelineParam
from mneme.search.space_view import CONSTRAINTS_ATTRIBUTE
from mneme.search.study_trials import RESULT_ATTRIBUTE
from mneme.session.trials import CompletedCandidate, objective_value, plain_params

if TYPE_CHECKING:
    from collections.abc import Mapping

    from optuna.distributions import BaseDistribution
    from optuna.trial import FrozenTrial

    from mneme.search.params import BaseParam
    from mneme.session.options import TuneOptions

__all__ = ["FinishedTrials", "attributes", "verdict"]

# Failures the sampler may learn to avoid; others do not depend on the parameters.
_AVOIDABLE = ("invalid_launch", "invalid_config", "failed_verification", "compile_error")
_SPACE = "the search space"


class FinishedTrials:
    """Makes finished trials for studies of one space."""

    def __init__(self, dimensions: Mapping[str, BaseParam], options: TuneOptions) -> None:
        """Prepare for a space that does not change any more."""
        self._dimensions = dimensions
        self._order = sampling_order(_SPACE, dimensions)
        self._options = options
        self._distributions: dict[str, dict[str, BaseDistribution]] = {}

    def of(
        self, done: CompletedCandidate, extra: Mapping[str, Any] | None = None
    ) -> FrozenTrial | None:
        """Return the trial of a candidate; None if its parameters no longer fit the space.

        A pipeline that Optuna cannot draw is stored in the attributes only.
        """
        import optuna  # noqa: PLC0415 - slow to import

        candidate = done.candidate
        params = {
            name: self._dimensions[name].in_study(value) if name in self._dimensions else value
            for name, value in (candidate.study_params or candidate.params).items()
        }
        state, values = verdict(done, self._options)
        told: dict[str, Any] = {RESULT_ATTRIBUTE: {**attributes(done), **(extra or {})}}
        if state.name == "PRUNED":
            told[CONSTRAINTS_ATTRIBUTE] = [1.0]
        try:
            distributions = self._distributions_for(params)
            trial = optuna.trial.create_trial(
                state=state,
                values=values,
                params={name: params[name] for name in distributions},
                distributions=distributions,
                user_attrs=told,
                **_constraints(is_violated=state.name == "PRUNED"),
            )
        except (ValueError, KeyError, InvalidArgument):
            return None
        trial.datetime_start = _time_of(done.result.start_time) or trial.datetime_start
        trial.datetime_complete = _time_of(done.result.end_time) or trial.datetime_complete
        return trial

    def _distributions_for(self, params: Mapping[str, Any]) -> dict[str, BaseDistribution]:
        """Return the distributions of a trial with these parameters."""
        found: dict[str, BaseDistribution] = {}

        def take(param: BaseParam) -> Any:  # noqa: ANN401 - the parameter's own
            if not (isinstance(param, PipelineParam) and param.name in params):
                found.update(self._distributions_of(param, params))
            return params.get(param.name)

        assign(_SPACE, self._dimensions, take, self._order)
        return found

    def _distributions_of(
        self, param: BaseParam, params: Mapping[str, Any]
    ) -> Mapping[str, BaseDistribution]:
        """Return the distributions that Optuna draws a parameter from."""
        if param.name in self._distributions:
            return self._distributions[param.name]
        import optuna  # noqa: PLC0415

        fixed = optuna.trial.FixedTrial(dict(params))
        with warnings.catch_warnings():
            # A value that is no longer a choice.
            warnings.simplefilter("error")
            try:
                sample_optuna_param(fixed, param)
            except UserWarning as error:
                raise ValueError(str(error)) from error
        found = dict(fixed.distributions)
        if type(param).__module__.startswith("mneme.search."):
            self._distributions[param.name] = found
        return found


def _constraints(*, is_violated: bool) -> dict[str, Any]:
    """Return the attribute with which a finished trial states its constraints in this Optuna."""
    import optuna  # noqa: PLC0415

    if hasattr(optuna.trial.Trial, "set_constraint"):
        return {"constraints": {"mneme": 1.0}} if is_violated else {}
    return {"system_attrs": {"constraints": [1.0 if is_violated else 0.0]}}


def verdict(done: CompletedCandidate, options: TuneOptions) -> tuple[Any, list[float] | None]:
    """Return state and values for a study."""
    from optuna.trial import TrialState  # noqa: PLC0415

    if not done.is_verified:
        return (TrialState.PRUNED if done.status in _AVOIDABLE else TrialState.FAIL), None
    values = [objective_value(done, one) for one in options.objectives]
    if any(value is None for value in values):
        return TrialState.FAIL, None
    return TrialState.COMPLETE, [float(value) for value in values if value is not None]


def attributes(done: CompletedCandidate) -> dict[str, Any]:
    """Return the attributes of a result in a study."""
    result = done.result
    return {
        "trial": done.candidate.trial,
        "status": done.status,
        "config_hash": done.candidate.config_hash,
        "config": done.candidate.config.to_dict(),
        "params": plain_params(done.candidate.params),
        "metric": done.metric,
        "baseline_metric": done.baseline_metric,
        "result": {
            "error": result.error[:500],
            "reg_usage": result.reg_usage,
            "spill_bytes": result.spill_bytes,
            "counters": dict(result.counters),
            "preprocess_ir_time": result.preprocess_ir_time,
            "opt_time": result.opt_time,
            "codegen_time": result.codegen_time,
            "obj_size": result.obj_size,
            "image_hash": result.image_hash,
            "stopped_early": result.stopped_early,
            "verified": result.verified,
        },
    }


def _time_of(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(text).astimezone().replace(tzinfo=None) if text else None
    except ValueError:
        return None
