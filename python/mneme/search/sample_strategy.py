"""The order in which members of a search space are tried."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

from mneme.errors import InvalidArgument
from mneme.search.space_view import CONSTRAINTS_ATTRIBUTE, SpaceView

if TYPE_CHECKING:
    import random
    from collections.abc import Iterator

    from optuna.study import Study
    from optuna.trial import Trial

    from mneme.mneme_types import ExperimentConfiguration
    from mneme.search.search_space import SearchSpace

__all__ = [
    "ExhaustiveSamplingStrategy",
    "OptunaSamplingStrategy",
    "RandomSamplingStrategy",
    "SamplingStrategy",
]


class SamplingStrategy(ABC):
    """An iterable of what to try next; one iteration at a time.

    Attributes:
        space: The search space, or any object with the methods of one.
    """

    def __init__(self, space: SearchSpace) -> None:
        """Make a strategy for a space."""
        self.space = space
        self._current: Iterator[Any] | None = None

    @abstractmethod
    def __iter__(self) -> Iterator[Any]:
        """Yield what to try."""

    def __next__(self) -> Any:  # noqa: ANN401 - what the strategy yields
        """Return what to try next, for scripts that call `next(strategy)`."""
        if self._current is None:
            self._current = iter(self)
        return next(self._current)


class ExhaustiveSamplingStrategy(SamplingStrategy):
    """Every configuration of the space, once."""

    def __iter__(self) -> Iterator[ExperimentConfiguration]:
        """Yield configurations."""
        return (sample.config for sample in SpaceView.of(self.space).samples())


class RandomSamplingStrategy(SamplingStrategy):
    """Random configurations of the space; the same one may come twice.

    Attributes:
        num_samples: How many.
    """

    def __init__(
        self, space: SearchSpace, num_samples: int, *, rng: random.Random | None = None
    ) -> None:
        """Make a strategy.

        Args:
            space: The search space.
            num_samples: How many configurations. At least 0.
            rng: Where random numbers come from; None: the space's own generator.

        Raises:
            InvalidArgument: If the number is negative.
        """
        super().__init__(space)
        self.num_samples = _checked_count("num_samples", num_samples)
        self._rng = rng

    def __iter__(self) -> Iterator[ExperimentConfiguration]:
        """Yield configurations."""
        for _ in range(self.num_samples):
            yield SpaceView.of(self.space).draw(self._rng).config


class OptunaSamplingStrategy(SamplingStrategy):
    """What the sampler of an Optuna study suggests.

    A study that has trials already is continued: those count. Trials that violated the space's
    constraints do not, as nothing was evaluated for them.

    Attributes:
        study: The study.
        n_trials: How many trials the study shall have.
    """

    def __init__(self, space: SearchSpace, study: Study, n_trials: int) -> None:
        """Make a strategy.

        Raises:
            InvalidArgument: If the number is negative.
        """
        super().__init__(space)
        self.study = study
        self.n_trials = _checked_count("n_trials", n_trials)

    def __iter__(self) -> Iterator[tuple[ExperimentConfiguration, Trial]]:
        """Yield configurations with their trials; the caller tells the study each result."""
        while self._done() < self.n_trials:
            sample, trial = SpaceView.of(self.space).ask(self.study)
            yield sample.config, trial

    def _done(self) -> int:
        trials = self.study.get_trials(deepcopy=False)
        return sum(CONSTRAINTS_ATTRIBUTE not in trial.user_attrs for trial in trials)


def _checked_count(name: str, number: int) -> int:
    if number < 0:
        raise InvalidArgument(f"{name} has to be at least 0, not {number}")
    return number
