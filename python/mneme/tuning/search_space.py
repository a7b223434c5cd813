"""Search spaces: what may be tried, as a class users derive from.

A space says which parameters there are (`dimensions`), which configuration their values stand for
(`derived`) and which of these make sense (`constraints`).
"""

from __future__ import annotations

import random
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mneme.errors import InvalidArgument
from mneme.mneme_types import ExperimentConfiguration
from mneme.tuning.conditions import assign, assignments, checked_dimensions
from mneme.tuning.configurations import configuration_from_params
from mneme.tuning.params import (
    BaseParam,
    BoolParam,
    CategoricalParam,
    FixedParam,
    IntRangeParam,
    RealRangeParam,
    plain_value,
    sample_optuna_param,
    sample_random_param,
)
from mneme.tuning.pipeline_param import PipelineParam

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from optuna.study import Study
    from optuna.trial import FrozenTrial, Trial

    from mneme.mneme_types import ExperimentResult

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

CONSTRAINTS_ATTRIBUTE = "mneme.constraints"
"""User attribute of a trial that violates the constraints: [1.0]."""

PARAMS_ATTRIBUTE = "mneme.params"
"""User attribute of a trial: the parameters, where they are not those of the trial itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """A member of a search space."""

    params: dict[str, Any]
    """Value of each active parameter."""

    config: ExperimentConfiguration
    """What they stand for."""


class SearchSpace(ABC):
    """What may be tried. Derive from it; at least `dimensions` has to be given."""

    max_attempts = 1000
    """How often sampling may meet a violated constraint in a row before it gives up."""

    _rng: random.Random | None = None
    _constraints_take: str = ""

    @abstractmethod
    def dimensions(self) -> dict[str, BaseParam]:
        """Return the parameters by name; the same ones at every call."""

    def derived(self, params: dict[str, Any]) -> ExperimentConfiguration | Mapping[str, Any]:
        """Return the configuration that these parameters stand for.

        This one takes them as fields of the configuration, over those of `baseline()`. A derived
        class may also return a mapping of such fields.
        """
        return params

    def constraints(self, x: Any) -> bool:  # noqa: ANN401, ARG002 - what the script expects
        """Whether a configuration makes sense; `x` is the configuration or its parameters."""
        return True

    def baseline(self) -> ExperimentConfiguration | None:
        """Return the configuration everything is compared with, None if the space has none."""
        return None

    def adapt(self, evaluate: Callable[[ExperimentConfiguration], ExperimentResult]) -> None:
        """Find out what cannot work, and leave it out; called at most once, before any sample.

        This one does nothing.

        Args:
            evaluate: Replays a configuration with one measured launch.
        """
        del evaluate

    def seed(self, seed: int | None) -> None:
        """Begin a sequence of random samples that is the same for the same seed."""
        self._rng = random.Random(seed)  # noqa: S311 - nothing secret

    def sample_random(self, rng: random.Random | None = None) -> ExperimentConfiguration:
        """Return a random member, drawn with `rng` or with a generator of the space.

        Raises:
            InvalidArgument: If no member was found, or the space's own functions failed.
        """
        return self.draw(rng).config

    def sample_optuna(self, study: Study) -> tuple[ExperimentConfiguration, Trial]:
        """Return a member that the study's sampler suggests, and its trial.

        What violates the constraints is told to the study as pruned, and the next one is asked for.

        Raises:
            InvalidArgument: If no member was found, or the space's own functions failed.
        """
        sample, trial = self.ask(study)
        return sample.config, trial

    def sample_exhaustive(self) -> Iterator[ExperimentConfiguration]:
        """Yield every member once.

        Raises:
            InvalidArgument: If values cannot be listed, or the space's own functions failed.
        """
        return (sample.config for sample in self.samples())

    def draw(self, rng: random.Random | None = None) -> Sample:
        """Return a random member with its parameters; as `sample_random`."""
        if self._rng is None:
            self.seed(None)
        generator = rng or self._rng
        dimensions = self._dimensions()
        for _ in range(self.max_attempts):
            params = assign(
                self._name, dimensions, lambda param: sample_random_param(param, generator)
            )
            sample = self.sample_of(params)
            if self.allows(sample, "parameters"):
                return sample
        raise self._exhausted()

    def ask(self, study: Study) -> tuple[Sample, Trial]:
        """Return a member with its parameters and its trial; as `sample_optuna`."""
        from optuna.trial import TrialState  # noqa: PLC0415 - takes a while to load

        dimensions = self._dimensions()
        for _ in range(self.max_attempts):
            trial = study.ask()
            try:
                sample, is_allowed = self._suggested(dimensions, trial)
            except BaseException:
                study.tell(trial, state=TrialState.FAIL)
                raise
            if is_allowed:
                return sample, trial
            study.tell(trial, state=TrialState.PRUNED)
        raise self._exhausted()

    def samples(self) -> Iterator[Sample]:
        """Yield every member with its parameters; as `sample_exhaustive`."""
        for params in assignments(self._name, self._dimensions()):
            sample = self.sample_of(params)
            if self.allows(sample, "configuration"):
                yield sample

    def sample_of(self, params: Mapping[str, Any]) -> Sample:
        """Return what parameters stand for, whether or not it is a member.

        Raises:
            InvalidArgument: If `derived` failed or gave no configuration.
        """
        try:
            config = self.derived(dict(params))
        except Exception as error:
            raise InvalidArgument(
                f"derived() of {self._name} failed for {dict(params)}: {error!r}"
            ) from error
        if not isinstance(config, ExperimentConfiguration):
            config = configuration_from_params(config, self.baseline(), self._name)
        return Sample(params=dict(params), config=config)

    def allows(self, sample: Sample, first: str = "configuration") -> bool:
        """Whether a sample satisfies the constraints.

        Existing spaces expect the configuration or the parameters: what worked before is tried
        first, then `first` ("configuration" or "parameters"), then the other.

        Raises:
            InvalidArgument: If `constraints` fails with either.
        """
        arguments = {"configuration": sample.config, "parameters": dict(sample.params)}
        kinds = sorted(arguments, key=lambda kind: kind != (self._constraints_take or first))
        failures: list[Exception] = []
        for kind in kinds:
            try:
                is_allowed = bool(self.constraints(arguments[kind]))
            except Exception as error:  # noqa: BLE001 - the sentence below names both
                failures.append(error)
            else:
                self._constraints_take = kind
                return is_allowed
        told = "; ".join(f"with the {k}: {e!r}" for k, e in zip(kinds, failures, strict=True))
        raise InvalidArgument(
            f"constraints() of {self._name} failed for {sample.params} ({told})"
        ) from failures[0]

    def _suggested(self, dimensions: Mapping[str, BaseParam], trial: Trial) -> tuple[Sample, bool]:
        params = assign(self._name, dimensions, lambda param: sample_optuna_param(trial, param))
        if params != trial.params:
            trial.set_user_attr(PARAMS_ATTRIBUTE, plain_value(params))
        sample = self.sample_of(params)
        is_allowed = self.allows(sample)
        if not is_allowed:
            _mark_violation(trial)
        return sample, is_allowed

    def _dimensions(self) -> dict[str, BaseParam]:
        return checked_dimensions(self._name, self.dimensions())

    def _exhausted(self) -> InvalidArgument:
        return InvalidArgument(
            f"no configuration of {self._name} satisfied its constraints in {self.max_attempts} "
            "attempts; widen the dimensions or relax the constraints"
        )

    @property
    def _name(self) -> str:
        return f"the search space {type(self).__name__}"


def constraint_values(trial: FrozenTrial) -> Sequence[float]:
    """Return what samplers with `constraints_func` want to know: positive where violated."""
    values: Sequence[float] = trial.user_attrs.get(CONSTRAINTS_ATTRIBUTE, (0.0,))
    return tuple(values)


def _mark_violation(trial: Trial) -> None:
    trial.set_user_attr(CONSTRAINTS_ATTRIBUTE, [1.0])
    # Optuna 5 has constraints of its own; before, samplers are given `constraint_values`.
    # Samplers that use none warn of them.
    set_constraint = getattr(trial, "set_constraint", None)
    kinds = {kind.__name__ for kind in type(trial.study.sampler).__mro__}
    if set_constraint is not None and kinds & _CONSTRAINED_SAMPLERS:
        set_constraint("mneme", 1.0)


_CONSTRAINED_SAMPLERS = frozenset(("TPESampler", "NSGAIISampler", "NSGAIIISampler", "GPSampler"))
