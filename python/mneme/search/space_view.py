"""A search space as searches use it: drawing, asking, enumerating.

A space is the user's class: it has `dimensions`, and may have `derived`, `constraints`, `baseline`.
A search stores its own data here and not in the space, so that the class may use any other names.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from mneme.errors import InvalidArgument
from mneme.mneme_types import ExperimentConfiguration
from mneme.search.conditions import assign, assignments, checked_dimensions, sampling_order
from mneme.search.configurations import configuration_from_params
from mneme.search.params import BaseParam, plain_value, sample_optuna_param, sample_random_param

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterator, Sequence

    from optuna.study import Study
    from optuna.trial import Trial

    from mneme.mneme_types import ExperimentResult

__all__ = [
    "CONSTRAINTS_ATTRIBUTE",
    "PARAMS_ATTRIBUTE",
    "Sample",
    "SpaceView",
    "is_search_space",
]

CONSTRAINTS_ATTRIBUTE = "mneme.constraints"
"""User attribute of a trial that violates the constraints: [1.0]."""

PARAMS_ATTRIBUTE = "mneme.params"
"""User attribute of a trial: the parameters, where they are not those of the trial itself."""

_KEPT_AS = "__mneme_view__"
_BASE_MODULE = "mneme.search.search_space"
_MAX_ATTEMPTS = 1000
_CONSTRAINED_SAMPLERS = frozenset(("TPESampler", "NSGAIISampler", "NSGAIIISampler", "GPSampler"))


@dataclass(frozen=True, kw_only=True)
class Sample:
    """A member of a search space."""

    params: dict[str, Any]
    """Value of each active parameter."""

    config: ExperimentConfiguration
    """The configuration for these values."""

    @cached_property
    def key(self) -> Hashable:
        """The key of the configuration, which must not change from then on."""
        return self.config.key()


def is_search_space(candidate: object) -> bool:
    """Whether something can be searched: it has dimensions."""
    return callable(getattr(candidate, "dimensions", None))


class SpaceView:
    """Draws from a space of any class."""

    def __init__(self, space: Any) -> None:  # noqa: ANN401 - anything that has dimensions()
        """View a space; `of` returns an existing view.

        Raises:
            InvalidArgument: If it has no `dimensions`.
        """
        if not is_search_space(space):
            raise InvalidArgument(f"{space!r} is not a search space: it has no method dimensions()")
        self.space = space
        self.name = f"the search space {type(space).__name__}"
        self._rng: random.Random | None = None
        self._constraints_take = ""

    @classmethod
    def of(cls, space: Any) -> SpaceView:  # noqa: ANN401
        """Return the view of a space; the same one for the same object, if it can be kept."""
        if isinstance(space, SpaceView):
            return space
        kept = getattr(space, "__dict__", {})
        if _KEPT_AS not in kept:
            view = cls(space)
            if not isinstance(kept, dict):
                return view
            kept[_KEPT_AS] = view
        found: SpaceView = kept.get(_KEPT_AS) or cls(space)
        return found

    def dimensions(self) -> dict[str, BaseParam]:
        """Return the parameters.

        Raises:
            InvalidArgument: If they are not parameters.
        """
        return checked_dimensions(self.name, self.space.dimensions())

    def baseline(self) -> ExperimentConfiguration | None:
        """Return the configuration that all are compared with; None if the space has none."""
        own = getattr(self.space, "baseline", None)
        return own() if callable(own) else None

    def adapt(self, evaluate: Callable[[ExperimentConfiguration], ExperimentResult]) -> None:
        """Let the space exclude what cannot work, if it supports that."""
        own = getattr(self.space, "adapt", None)
        if callable(own):
            own(evaluate)

    def seed(self, seed: int | None) -> None:
        """Begin a sequence of random samples that is the same for the same seed."""
        self._rng = random.Random(seed)  # noqa: S311 - nothing secret
        if self._overrides("seed"):
            self.space.seed(seed)

    def draw(self, rng: random.Random | None = None) -> Sample:
        """Return a random member; uses the space's own `sample_random`, if any.

        Raises:
            InvalidArgument: If no member was found, or the space's own functions failed.
        """
        if not self._overrides("sample_random"):
            return self.draw_params(rng)
        return self._sample(self.space.sample_random())

    def draw_params(
        self, rng: random.Random | None = None, order: Sequence[str] | None = None
    ) -> Sample:
        """Return a random member with its parameters; see `draw`.

        Args:
            rng: Draws it; None: a generator of this object's own.
            order: As of `assign`.
        """
        if self._rng is None:
            self._rng = random.Random()  # noqa: S311
        generator = rng or self._rng
        dimensions = self.dimensions()
        order = order or sampling_order(self.name, dimensions)
        for _ in range(self._attempts()):
            params = assign(
                self.name, dimensions, lambda param: sample_random_param(param, generator), order
            )
            sample = self.sample_of(params)
            if self.allows(sample, "parameters"):
                return sample
        raise self._exhausted()

    def ask(self, study: Study) -> tuple[Sample, Trial]:
        """Return a member that the study's sampler suggests, and its trial.

        Members that violate the constraints are reported to the study as pruned, and the next one
        is requested. Uses the space's own `sample_optuna`, if any.

        Raises:
            InvalidArgument: As `draw`.
        """
        if not self._overrides("sample_optuna"):
            return self.ask_params(study)
        config, trial = self.space.sample_optuna(study)
        sample = self._sample(config)
        return Sample(params=sample.params or dict(trial.params), config=sample.config), trial

    def ask_params(self, study: Study) -> tuple[Sample, Trial]:
        """Return a suggested member with its parameters and its trial; see `ask`."""
        from optuna.trial import TrialState  # noqa: PLC0415 - takes a while to load

        dimensions = self.dimensions()
        for _ in range(self._attempts()):
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
        """Yield every member once; uses the space's own `sample_exhaustive`, if any.

        Raises:
            InvalidArgument: If values cannot be listed, or the space's own functions failed.
        """
        if not self._overrides("sample_exhaustive"):
            return self.samples_with_params()
        return (self._sample(one) for one in self.space.sample_exhaustive())

    def samples_with_params(self) -> Iterator[Sample]:
        """Yield every member once, with its parameters; see `samples`."""
        is_listed = getattr(self.space, "_mneme_lists", None)
        for params in assignments(self.name, self.dimensions()):
            sample = self.sample_of(params)
            if self.allows(sample) and (is_listed is None or is_listed(sample)):
                yield sample

    def sample_of(self, params: Mapping[str, Any]) -> Sample:
        """Return the configuration for parameters, member or not.

        Raises:
            InvalidArgument: If `derived` failed or gave no configuration.
        """
        derived = getattr(self.space, "derived", None)
        try:
            config = derived(dict(params)) if callable(derived) else dict(params)
        except Exception as error:
            raise InvalidArgument(
                f"derived() of {self.name} failed for {dict(params)}: {error!r}"
            ) from error
        if not isinstance(config, ExperimentConfiguration):
            config = configuration_from_params(config, self.baseline(), self.name)
        return Sample(params=dict(params), config=config)

    def allows(self, sample: Sample, first: str = "configuration") -> bool:
        """Whether a sample satisfies the constraints.

        Existing spaces expect the configuration or the parameters. The argument that worked before
        is tried first, then `first` ("configuration" or "parameters"), then the other.

        Raises:
            InvalidArgument: If `constraints` fails with either.
        """
        constraints = getattr(self.space, "constraints", None)
        if not callable(constraints):
            return True
        arguments = {"configuration": sample.config, "parameters": dict(sample.params)}
        kinds = sorted(arguments, key=lambda kind: kind != (self._constraints_take or first))
        failures: list[Exception] = []
        for kind in kinds:
            try:
                is_allowed = bool(constraints(arguments[kind]))
            except Exception as error:  # noqa: BLE001 - the sentence below names both
                failures.append(error)
            else:
                self._constraints_take = kind
                return is_allowed
        told = "; ".join(f"with the {k}: {e!r}" for k, e in zip(kinds, failures, strict=True))
        raise InvalidArgument(
            f"constraints() of {self.name} failed for {sample.params} ({told})"
        ) from failures[0]

    @property
    def draws_itself(self) -> bool:
        """Whether the space has its own `sample_random`."""
        return self._overrides("sample_random")

    def _overrides(self, name: str) -> bool:
        """Whether the user's class overrides this method."""
        method = getattr(type(self.space), name, None)
        return callable(method) and getattr(method, "__module__", "") != _BASE_MODULE

    def _sample(self, given: object) -> Sample:
        """Return the sample from a user's method, which gives a configuration or parameters."""
        if isinstance(given, ExperimentConfiguration):
            return Sample(params={}, config=given)
        if isinstance(given, Mapping):
            return self.sample_of(given)
        raise InvalidArgument(f"{self.name} drew {given!r}, which is not a configuration")

    def _attempts(self) -> int:
        own = getattr(self.space, "max_attempts", _MAX_ATTEMPTS)
        return own if isinstance(own, int) and own > 0 else _MAX_ATTEMPTS

    def _suggested(self, dimensions: Mapping[str, BaseParam], trial: Trial) -> tuple[Sample, bool]:
        params = assign(self.name, dimensions, lambda param: sample_optuna_param(trial, param))
        if params != trial.params:
            trial.set_user_attr(PARAMS_ATTRIBUTE, plain_value(params))
        sample = self.sample_of(params)
        is_allowed = self.allows(sample)
        if not is_allowed:
            _mark_violation(trial)
        return sample, is_allowed

    def _exhausted(self) -> InvalidArgument:
        return InvalidArgument(
            f"no configuration of {self.name} satisfied its constraints in {self._attempts()} "
            "attempts; widen the dimensions or relax the constraints"
        )


def _mark_violation(trial: Trial) -> None:
    trial.set_user_attr(CONSTRAINTS_ATTRIBUTE, [1.0])
    # Optuna 5 stores constraints in trials; earlier versions give samplers `constraint_values`.
    # Samplers that use none warn about them.
    set_constraint = getattr(trial, "set_constraint", None)
    kinds = {kind.__name__ for kind in type(trial.study.sampler).__mro__}
    if set_constraint is not None and kinds & _CONSTRAINED_SAMPLERS:
        set_constraint("mneme", 1.0)
