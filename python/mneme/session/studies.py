"""Chooses what to try next, by Optuna's samplers or enumeration, and keeps it in studies."""

from __future__ import annotations

import itertools
import os
import time
import warnings
from typing import TYPE_CHECKING, Any, cast

from mneme.errors import InvalidArgument
from mneme.search.params import CategoricalParam
from mneme.search.portfolio import Proposal
from mneme.search.samplers import make_sampler
from mneme.search.space_view import CONSTRAINTS_ATTRIBUTE, Sample, SpaceView
from mneme.search.study_trials import RESULT_ATTRIBUTE
from mneme.session.finished_trials import FinishedTrials, attributes, verdict
from mneme.session.options import AUTO
from mneme.session.shared_study import REPEATED, SharedStudy
from mneme.session.storages import (
    bounded_memory,
    open_storage,
    open_study,
    storage_errors,
)
from mneme.session.trials import Candidate, CompletedCandidate, objective_value

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from optuna.samplers import BaseSampler
    from optuna.study import Study
    from optuna.trial import Trial

    from mneme.search.auto_sampler import AutoSampler
    from mneme.search.portfolio import Portfolio
    from mneme.search.search_space import SearchSpace
    from mneme.session.options import TuneOptions

__all__ = [
    "AutoSearch",
    "EnumeratedSearch",
    "OptunaSearch",
    "check_sampler",
    "directions_of",
    "make_search",
]

_TOLD_CHOICES = 8
# Number of known proposals in a row after which a shared space counts as searched.
_KNOWN_IN_A_ROW = 25
# The sampler that replaces it for several objectives.
_SEVERAL_OBJECTIVES = "nsga2"


def directions_of(options: TuneOptions) -> list[str]:
    """Return the direction of each objective."""
    return ["maximize" if one == "speedup" else "minimize" for one in options.objectives]


def check_sampler(options: TuneOptions) -> None:
    """Make sure that the sampler is available.

    Raises:
        InvalidArgument: If there is none of this name.
        BackendUnavailable: If a package is missing.
    """
    is_always_there = options.enumerates or options.uses_portfolio
    if not is_always_there and not options.baseline_only:
        make_sampler(_sampler_name(options), seed=options.seed, is_parallel=True)


def _sampler_name(options: TuneOptions) -> str:
    """Return the sampler of the study, which a portfolio and an enumeration do not use."""
    if options.enumerates or options.uses_portfolio:
        return "random"
    return _SEVERAL_OBJECTIVES if options.sampler == AUTO else options.sampler


def _sampler_of(
    options: TuneOptions, space: SearchSpace, capacity: int, seeds: Sequence[Mapping[str, Any]]
) -> BaseSampler:
    if options.uses_portfolio:
        import optuna  # noqa: PLC0415 - slow to import

        from mneme.search.auto_sampler import AutoSampler  # noqa: PLC0415 - imports it, too

        optuna.logging.set_verbosity(optuna.logging.WARNING)
        return AutoSampler(space, seed=options.seed, seeds=seeds)
    return make_sampler(_sampler_name(options), seed=options.seed, is_parallel=capacity > 1)


def make_search(  # noqa: PLR0913 - all that a search follows from
    options: TuneOptions,
    space: SearchSpace,
    *,
    record: str,
    capacity: int,
    history: Iterable[CompletedCandidate] = (),
    seeds: Sequence[Mapping[str, Any]] = (),
) -> OptunaSearch | EnumeratedSearch:
    """Return the search that chooses the configurations to try.

    Args:
        options: Sampler, seed, objectives, storage.
        space: The search space.
        record: The launch that is tuned.
        capacity: Number of configurations evaluated at once.
        history: Trials of earlier runs, for the sampler to learn from.
        seeds: Parameters that the sampler `auto` tries early.

    Raises:
        InvalidArgument: If sampler, storage or study do not fit.
        BackendUnavailable: If a package is missing.
        IoFailed: If the storage cannot be opened.
    """
    sampler = _sampler_of(options, space, capacity, seeds)
    is_tpe_alone = options.sampler == "tpe" and options.optuna_storage is None
    if is_tpe_alone and len(options.objectives) == 1:
        storage = bounded_memory()
    else:
        storage = open_storage(options.optuna_storage)
    with storage_errors(options.optuna_storage or "memory"):
        study = open_study(storage, options.study_name, directions_of(options), sampler, record)
        is_shared = options.optuna_storage is not None
        if options.enumerates:
            return EnumeratedSearch(space, study, options, is_shared=is_shared)
        kind = AutoSearch if options.uses_portfolio else OptunaSearch
        search = kind(space, study, options, is_shared=is_shared)
        search.learn(history)
    return search


class _StudySearch:
    """A search whose trials are kept in an Optuna study, which other processes may share."""

    end_note = ""
    """Why the search ended by itself; empty if it did not."""

    def __init__(
        self, space: SearchSpace, study: Study, options: TuneOptions, *, is_shared: bool
    ) -> None:
        """Search a space."""
        self._space = SpaceView.of(space)
        self._study = study
        self._options = options
        self.shared = SharedStudy(study, options, is_shared=is_shared)

    def beat(self) -> None:
        """Let other processes know that this one is alive."""
        with storage_errors(self.shared.place):
            self.shared.beat()


class OptunaSearch(_StudySearch):
    """A search with a sampler of Optuna."""

    _is_stopped = False

    def ask(self) -> Candidate | None:
        """Return what the sampler suggests; None if the shared study is complete.

        Raises:
            InvalidArgument: If the space is empty, or the study was made for another one.
        """
        with storage_errors(self.shared.place), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if self._is_stopped or self.shared.is_full():
                return None
            try:
                sample, trial = self._ask()
            except ValueError as error:
                if "dynamic value space" not in str(error):
                    raise
                raise self._other_space() from error
            if self.shared.owner is not None:
                self.shared.owner.sign(trial)
            if self.shared.is_too_late(trial.number):
                self._fail(trial)
                return None
            study_params = dict(trial.params)
        return Candidate(
            trial=-2,
            config=sample.config,
            params=sample.params,
            token=trial,
            study_params=study_params,
        )

    def _ask(self) -> tuple[Sample, Any]:
        if self._options.sampler == "random" and self._space.draws_itself:
            return self._space.draw(), self._study.ask()
        return self._space.ask(self._study)

    def tell(self, done: CompletedCandidate, *, is_repeated: bool = False) -> None:
        """Tell the study; a configuration that does not work has no value."""
        import optuna  # noqa: PLC0415

        trial: Any = done.candidate.token
        if trial is None:
            return
        state, values = verdict(done, self._options)
        with storage_errors(self.shared.place), warnings.catch_warnings():
            warnings.simplefilter("ignore", category=optuna.exceptions.ExperimentalWarning)
            told = attributes(done)
            if self.shared.owner is not None:
                told["owner"] = self.shared.owner.name
                self.shared.owner.release(trial.number)
            if is_repeated:
                told[REPEATED] = True
            try:
                trial.set_user_attr(RESULT_ATTRIBUTE, told)
                if state.name == "PRUNED":
                    _constrain(trial)
                self._study.tell(trial, values, state=state, skip_if_finished=True)
            except RuntimeError as error:
                # Samplers that enumerate report the end in this way.
                if "Study.stop" in str(error):
                    self._is_stopped = True
                elif not self.shared.is_lost(trial.number):
                    raise

    def _other_space(self) -> InvalidArgument:
        """Return how the study's space differs; Optuna reports only that it does."""
        mine = _Choices()
        for param in self._space.dimensions().values():
            if isinstance(param, CategoricalParam):
                param.sample_optuna(cast("Any", mine))
        found: dict[str, str] = {}
        for trial in self._study.get_trials(deepcopy=False):
            for name, theirs in trial.distributions.items():
                choices = list(getattr(theirs, "choices", ()))
                if choices and choices != mine.by_name.get(name, choices):
                    here = _listed(mine.by_name[name])
                    found[name] = f"'{name}' is one of {_listed(choices)} there, of {here} here"
        told = f" ({'; '.join(found.values())})" if found else ""
        return InvalidArgument(
            f"study '{self._options.study_name}' was made for another search space{told}: with "
            "other options, or on another kind of device, since the built-in space follows its "
            "limits and its number of multiprocessors; choose another --study-name, one for each "
            "kind of device"
        )

    def give_up(self, candidates: Iterable[Candidate]) -> None:
        """Tell what will never have a result."""
        for candidate in candidates:
            if candidate.token is not None:
                with storage_errors(self.shared.place):
                    self._fail(candidate.token)

    def _fail(self, trial: Any) -> None:  # noqa: ANN401 - a `Trial`
        from optuna.trial import TrialState  # noqa: PLC0415 - slow to import

        if self.shared.owner is not None:
            self.shared.owner.release(trial.number)
        self._study.tell(trial, state=TrialState.FAIL, skip_if_finished=True)

    def learn(self, history: Iterable[CompletedCandidate]) -> None:
        """Tell the study about earlier runs, as far as it does not know them."""
        results = (one.user_attrs.get(RESULT_ATTRIBUTE) for one in self._study.get_trials())
        known = {str(one["config_hash"]) for one in results if one}
        finished = FinishedTrials(self._space.dimensions(), self._options)
        new = (one for one in history if one.candidate.config_hash not in known)
        self._study.add_trials([trial for trial in map(finished.of, new) if trial is not None])


class AutoSearch(OptunaSearch):
    """A search with the sampler `auto`.

    A shared study keeps each trial, and the sampler learns from there what all processes found. One
    that is not shared keeps none, since a trial of Optuna takes as long as all the rest: then the
    sampler is asked, and its portfolio informed, without the study.
    """

    def __init__(
        self, space: SearchSpace, study: Study, options: TuneOptions, *, is_shared: bool
    ) -> None:
        """Search a space."""
        super().__init__(space, study, options, is_shared=is_shared)
        self._sampler: AutoSampler = cast("AutoSampler", study.sampler)
        self._numbers = itertools.count()

    @property
    def portfolio(self) -> Portfolio:
        """What the sampler knows."""
        return self._sampler.portfolio

    def ask(self) -> Candidate | None:
        """Return what to try; None if more trials are not expected to find anything better."""
        if self.portfolio.is_exhausted:
            self.end_note = (
                f"the search ended by itself: nothing better in {self.portfolio.idle:,} trials, "
                "and more trials are not expected to change that"
            )
            return None
        if self.shared.owner is not None:
            return self._ask_shared()
        number = next(self._numbers)
        sample = self._sampler.propose(number).sample
        return Candidate(trial=-2, config=sample.config, params=sample.params, token=number)

    def _ask_shared(self) -> Candidate | None:
        """Return a trial that no process tried before."""
        for _ in range(_KNOWN_IN_A_ROW):
            candidate = super().ask()
            if candidate is None:
                return None
            trial: Any = candidate.token
            if not self.portfolio.is_repeated(trial.number):
                return candidate
            self.give_up([candidate])
        self._is_stopped = True
        return None

    def _ask(self) -> tuple[Sample, Any]:
        trial = self._study.ask()
        return self._sampler.sample_for(trial.number), trial

    def tell(self, done: CompletedCandidate, *, is_repeated: bool = False) -> None:
        """Tell the study, or the portfolio if no other process needs the trial."""
        if self.shared.owner is not None:
            super().tell(done, is_repeated=is_repeated)
            return
        number: Any = done.candidate.token
        self._learn(number, done)

    def give_up(self, candidates: Iterable[Candidate]) -> None:
        """Tell what will never have a result."""
        if self.shared.owner is not None:
            super().give_up(candidates)

    def learn(self, history: Iterable[CompletedCandidate]) -> None:
        """Learn from trials of earlier runs."""
        if self.shared.owner is not None:
            super().learn(history)
            return
        dimensions = self._space.dimensions()
        for done in history:
            number, candidate = next(self._numbers), done.candidate
            params = {
                name: dimensions[name].from_plain(value) if name in dimensions else value
                for name, value in candidate.params.items()
            }
            sample = Sample(params=params, config=candidate.config)
            self.portfolio.begin(number, Proposal(sample))
            self._learn(number, done)

    def _learn(self, number: int, done: CompletedCandidate) -> None:
        value = objective_value(done, self._options.objectives[0]) if done.is_verified else None
        if value is not None and self._options.objectives[0] == "speedup":
            value = 1 / value
        config = done.candidate.config
        code = done.result.image_hash or done.candidate.config_hash
        identity = (code, config.grid, config.block, config.shared_mem)
        self.portfolio.learn(number, value, identity)


class EnumeratedSearch(_StudySearch):
    """Every member of a space, once; processes that share a study begin at different members."""

    def __init__(
        self, space: SearchSpace, study: Study, options: TuneOptions, *, is_shared: bool
    ) -> None:
        """Enumerate a space."""
        super().__init__(space, study, options, is_shared=is_shared)
        self._finished = FinishedTrials(self._space.dimensions(), options)
        self._samples: Iterator[Sample] = self._rotated() if is_shared else self._space.samples()

    def ask(self) -> Candidate | None:
        """Return the next member; None if there is none."""
        with storage_errors(self.shared.place):
            for sample in self._samples:
                candidate = Candidate(trial=-2, config=sample.config, params=sample.params)
                if candidate.config_hash not in self._done_by_others():
                    return candidate
        return None

    def tell(self, done: CompletedCandidate, *, is_repeated: bool = False) -> None:
        """Tell other processes."""
        if self.shared.owner is None or is_repeated:
            return
        trial = self._finished.of(done, {"owner": self.shared.owner.name})
        with storage_errors(self.shared.place):
            if trial is not None:
                self._study.add_trial(trial)

    def give_up(self, candidates: Iterable[Candidate]) -> None:
        """Do nothing: no trial was announced."""

    def _rotated(self) -> Iterator[Sample]:
        samples = list(self._space.samples())
        start = hash((os.getpid(), time.time_ns())) % max(1, len(samples))
        return iter(samples[start:] + samples[:start])

    def _done_by_others(self) -> set[str]:
        found = (trial.user_attrs.get(RESULT_ATTRIBUTE) for trial in self.shared.trials())
        return {str(data["config_hash"]) for data in found if data}


def _constrain(trial: Trial) -> None:
    trial.set_user_attr(CONSTRAINTS_ATTRIBUTE, [1.0])
    set_constraint = getattr(trial, "set_constraint", None)
    if set_constraint is not None:
        set_constraint("mneme", 1.0)


class _Choices:
    """Replaces a trial, to learn the choices of parameters."""

    def __init__(self) -> None:
        self.by_name: dict[str, list[Any]] = {}

    def suggest_categorical(self, name: str, choices: Sequence[Any]) -> Any:  # noqa: ANN401
        """Note the choices, and choose the first."""
        self.by_name[name] = list(choices)
        return choices[0]


def _listed(choices: Sequence[object]) -> str:
    """Return values for a message; only the first of many."""
    told = [str(one) for one in choices[:_TOLD_CHOICES]]
    return ", ".join(told if len(choices) <= _TOLD_CHOICES else [*told, "..."])
