"""Search spaces: what may be tried, as a class users derive from.

A space says which parameters there are (`dimensions`), which configuration their values stand for
(`derived`) and which of these make sense (`constraints`). Any object with these methods is one too.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

from mneme.search.params import (
    BaseParam,
    BoolParam,
    CategoricalParam,
    FixedParam,
    IntRangeParam,
    RealRangeParam,
    sample_optuna_param,
    sample_random_param,
)
from mneme.search.pipeline_param import PipelineParam
from mneme.search.space_view import (
    CONSTRAINTS_ATTRIBUTE,
    PARAMS_ATTRIBUTE,
    Sample,
    SpaceView,
)

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from optuna.study import Study
    from optuna.trial import FrozenTrial, Trial

    from mneme.mneme_types import ExperimentConfiguration, ExperimentResult

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


class SearchSpace(ABC):
    """What may be tried. Derive from it; at least `dimensions` has to be given."""

    max_attempts = 1000
    """How often sampling may meet a violated constraint in a row before it gives up."""

    remark: str = ""
    """A sentence for people on what `adapt` found; empty if there is nothing to say."""

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
        SpaceView.of(self).seed(seed)

    def sample_random(self, rng: random.Random | None = None) -> ExperimentConfiguration:
        """Return a random member, drawn with `rng` or with a generator of the space.

        Raises:
            InvalidArgument: If no member was found, or the space's own functions failed.
        """
        return SpaceView.of(self).draw_params(rng).config

    def sample_optuna(self, study: Study) -> tuple[ExperimentConfiguration, Trial]:
        """Return a member that the study's sampler suggests, and its trial.

        Members that violate the constraints are reported as pruned, and the study is asked again.

        Raises:
            InvalidArgument: If no member was found, or the space's own functions failed.
        """
        sample, trial = SpaceView.of(self).ask_params(study)
        return sample.config, trial

    def sample_exhaustive(self) -> Iterator[ExperimentConfiguration]:
        """Yield every member once.

        Raises:
            InvalidArgument: If values cannot be listed, or the space's own functions failed.
        """
        return (sample.config for sample in SpaceView.of(self).samples_with_params())

    def draw(self, rng: random.Random | None = None) -> Sample:
        """Return a random member with its parameters; as `sample_random`."""
        return SpaceView.of(self).draw_params(rng)

    def ask(self, study: Study) -> tuple[Sample, Trial]:
        """Return a member with its parameters and its trial; as `sample_optuna`."""
        return SpaceView.of(self).ask_params(study)

    def samples(self) -> Iterator[Sample]:
        """Yield every member with its parameters; as `sample_exhaustive`."""
        return SpaceView.of(self).samples_with_params()

    def sample_of(self, params: Mapping[str, Any]) -> Sample:
        """Return what parameters stand for, whether or not it is a member.

        Raises:
            InvalidArgument: If `derived` failed or gave no configuration.
        """
        return SpaceView.of(self).sample_of(params)

    def allows(self, sample: Sample, first: str = "configuration") -> bool:
        """Whether a sample satisfies the constraints; see `SpaceView.allows`.

        Raises:
            InvalidArgument: If `constraints` fails with the configuration and the parameters.
        """
        return SpaceView.of(self).allows(sample, first)


def constraint_values(trial: FrozenTrial) -> Sequence[float]:
    """Return what samplers with `constraints_func` want to know: positive where violated."""
    values: Sequence[float] = trial.user_attrs.get(CONSTRAINTS_ATTRIBUTE, (0.0,))
    return tuple(values)
