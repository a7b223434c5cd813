"""The sampler `auto` for Optuna: a portfolio that knows what a study knows.

Its state is rebuilt from the trials of the study whenever a trial is asked for, so that any number
of processes on one study, a resumed study and one that another sampler began are one search.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

from optuna.samplers import BaseSampler, RandomSampler
from optuna.study import StudyDirection
from optuna.trial import TrialState

from mneme.search.params import plain_value
from mneme.search.portfolio import Portfolio, Proposal
from mneme.search.space_view import SpaceView
from mneme.search.study_trials import PROPOSAL_ATTRIBUTE, StudyTrials

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from optuna.distributions import BaseDistribution
    from optuna.study import Study
    from optuna.trial import FrozenTrial

    from mneme.search.space_view import Sample

__all__ = ["AutoSampler"]


class AutoSampler(BaseSampler):
    """Several ways to search a space, of which those that find something are used more.

    For one objective. A study that asks it may be stored anywhere; `sample_for` gives the
    configuration of a trial. One sampler belongs to one study and is used by one thread.
    """

    def __init__(
        self,
        space: Any,  # noqa: ANN401 - anything that has dimensions()
        *,
        seed: int | None = None,
        seeds: Iterable[Mapping[str, Any]] = (),
    ) -> None:
        """Prepare for a space, which need not be complete before the first trial.

        Args:
            space: The search space.
            seed: Makes proposals reproducible: they depend on it, the number of the trial and what
                the study knows.
            seeds: Parameters to try directly after the usual configuration.
        """
        self._space = SpaceView.of(space)
        self._seed = seed
        self._seeds = [dict(one) for one in seeds]
        self._rng = random.Random(seed)  # noqa: S311 - nothing secret
        self._others = RandomSampler(seed)
        self._portfolio: Portfolio | None = None
        self._trials: StudyTrials | None = None
        self._finished: set[int] = set()
        self._assumed: set[int] = set()
        self._asked: dict[int, Sample] = {}

    @property
    def portfolio(self) -> Portfolio:
        """What is known; made when it is needed first, since spaces adapt to devices."""
        if self._portfolio is None:
            self._portfolio = Portfolio(self._space, self._rng, self._seeds)
        return self._portfolio

    def propose(self, number: int) -> Proposal:
        """Begin the trial with this number; return what to try."""
        if self._seed is not None:
            # Processes may share a seed, and a resumed search must not begin it again.
            self._rng.seed(f"{self._seed}/{number}")
        return self.portfolio.propose(number)

    def sample_for(self, number: int) -> Sample:
        """Return the configuration of a trial that this sampler was asked for."""
        return self._asked[number]

    def before_trial(self, study: Study, trial: FrozenTrial) -> None:
        """Learn what the study knows, and choose what this trial tries."""
        self._follow(study, trial.number)
        fixed = trial.system_attrs.get("fixed_params")
        if fixed:  # put into the study's queue by somebody
            sample = self.portfolio.member(fixed) or self._space.draw_params(self._rng)
            proposal = Proposal(sample)
            self.portfolio.begin(trial.number, proposal)
        else:
            proposal = self.propose(trial.number)
        self._asked[trial.number] = proposal.sample
        told = {
            "params": plain_value(proposal.sample.params),
            "operator": proposal.operator,
            "step": proposal.step,
        }
        study._storage.set_trial_user_attr(trial._trial_id, PROPOSAL_ATTRIBUTE, told)  # noqa: SLF001 - as Optuna's own samplers

    def infer_relative_search_space(
        self,
        study: Study,  # noqa: ARG002
        trial: FrozenTrial,  # noqa: ARG002
    ) -> dict[str, BaseDistribution]:
        """Return nothing: parameters are suggested one by one."""
        return {}

    def sample_relative(
        self,
        study: Study,  # noqa: ARG002
        trial: FrozenTrial,  # noqa: ARG002
        search_space: dict[str, BaseDistribution],  # noqa: ARG002
    ) -> dict[str, Any]:
        """Return nothing: parameters are suggested one by one."""
        return {}

    def sample_independent(
        self,
        study: Study,
        trial: FrozenTrial,
        param_name: str,
        param_distribution: BaseDistribution,
    ) -> Any:  # noqa: ANN401 - a parameter's value
        """Return the chosen value of a parameter; a random one of what is not of the space."""
        sample = self._asked.get(trial.number)
        param = self._space.dimensions().get(param_name)
        if sample is not None and param is not None and param_name in sample.params:
            value = param.in_study(sample.params[param_name])
            try:
                if param_distribution._contains(param_distribution.to_internal_repr(value)):  # noqa: SLF001
                    return value
            except ValueError:
                pass
        return self._others.sample_independent(study, trial, param_name, param_distribution)

    def reseed_rng(self) -> None:
        """Continue with other random numbers, in another process."""
        self._rng.seed()
        self._others.reseed_rng()

    def _follow(self, study: Study, asked: int) -> None:
        """Learn from trials that are new or have ended, in their order."""
        if self._trials is None:
            self._trials = StudyTrials(self._space)
        is_maximized = study.direction == StudyDirection.MAXIMIZE
        for trial in study.get_trials(deepcopy=False):
            if trial.number in self._finished or trial.number == asked:
                continue
            if trial.state.is_finished():
                self._finished.add(trial.number)
                self._take_in(trial, is_maximized=is_maximized)
            elif trial.state == TrialState.RUNNING:
                self._note_running(trial, asked)

    def _note_running(self, trial: FrozenTrial, asked: int) -> None:
        number, portfolio = trial.number, self.portfolio
        if portfolio.is_running(number) and number not in self._assumed:
            return
        assert self._trials is not None  # noqa: S101 - made before
        proposal = self._trials.proposal(trial)
        if proposal is not None:
            self._forget_assumed(number)
            portfolio.begin(number, proposal)
        elif number < asked and number not in self._assumed:
            # Another process chooses at this moment: probably what this one would.
            self._assumed.add(number)
            self.propose(number)

    def _forget_assumed(self, number: int) -> None:
        if number in self._assumed:
            self._assumed.discard(number)
            self.portfolio.retract(number)

    def _take_in(self, trial: FrozenTrial, *, is_maximized: bool) -> None:
        number, portfolio = trial.number, self.portfolio
        assert self._trials is not None  # noqa: S101 - made before
        self._forget_assumed(number)
        self._asked.pop(number, None)
        if not portfolio.is_running(number):
            proposal = self._trials.proposal(trial)
            if proposal is None:
                return
            portfolio.begin(number, proposal)
            sample = proposal.sample
        else:
            sample = portfolio.sample_of(number)
        if not self._trials.is_measured(trial):
            portfolio.lose(number)
            return
        value = trial.value if trial.state == TrialState.COMPLETE else None
        if value is not None and is_maximized:
            value = 1 / value if value > 0 else None
        portfolio.learn(number, value, self._trials.identity(trial, sample))
