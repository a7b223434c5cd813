"""Coordinates processes that share a study."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from mneme.search.search_space import CONSTRAINTS_ATTRIBUTE
from mneme.search.study_trials import RESULT_ATTRIBUTE
from mneme.session.owners import owner_of
from mneme.session.trials import CompletedCandidate

if TYPE_CHECKING:
    from optuna.study import Study
    from optuna.trial import FrozenTrial

    from mneme.session.options import TuneOptions

__all__ = ["REPEATED", "SharedStudy"]

REPEATED = "repeated"
"""Key of that attribute: the configuration was known, the trial does not count."""

_REFRESH_SECONDS = 0.5


class SharedStudy:
    """A study and the processes that work on it; only this process if it is not shared."""

    def __init__(self, study: Study, options: TuneOptions, *, is_shared: bool) -> None:
        """Take part in a study."""
        self.study = study
        self.options = options
        self.place = options.optuna_storage or "memory"
        self.owner = owner_of(study) if is_shared else None
        self._all: list[FrozenTrial] = []
        self._refreshed = 0.0

    def trials(self, *, is_newest: bool = False) -> list[FrozenTrial]:
        """Return the evaluated or running trials of all processes; may be slightly outdated."""
        return [one for one in self._every_trial(is_newest=is_newest) if _counts(one)]

    def beat(self) -> None:
        """Tell the others that this process is alive; cheap if that was done recently."""
        if self.owner is not None:
            self.owner.beat()

    def is_lost(self, number: int) -> bool:
        """Whether another process took this one for dead and reported the trial as failed."""
        return any(
            one.number == number and one.state.is_finished()
            for one in self.study.get_trials(deepcopy=False)
        )

    def is_full(self) -> bool:
        """Whether all processes together have the requested number of trials."""
        wanted = self.options.trials
        if self.owner is None or wanted is None or len(self.trials()) < wanted:
            return False
        # A running trial may have turned out to be known, and then does not count.
        return len(self.trials(is_newest=True)) >= wanted

    def is_too_late(self, number: int) -> bool:
        """Whether this trial exceeds the requested number because others were quicker."""
        wanted = self.options.trials
        if self.owner is None or wanted is None:
            return False
        for is_newest in (False, True):
            void = [one for one in self._every_trial(is_newest=is_newest) if not _counts(one)]
            if number - sum(one.number < number for one in void) < wanted:
                return False
        return True

    def _every_trial(self, *, is_newest: bool) -> list[FrozenTrial]:
        if self.owner is None:
            return []
        now = time.monotonic()
        if is_newest or now - self._refreshed > _REFRESH_SECONDS:
            self._refreshed = now
            self.owner.beat()
            self._all = self.study.get_trials(deepcopy=False)
        return self._all

    def others(self) -> list[CompletedCandidate]:
        """Return what other processes found, numbered from -2 downwards."""
        if self.owner is None:
            return []
        found: list[CompletedCandidate] = []
        for trial in self.trials(is_newest=True):
            data = trial.user_attrs.get(RESULT_ATTRIBUTE)
            if data is None or data.get("owner") == self.owner.name:
                continue
            done = CompletedCandidate.from_dict(data)
            done.candidate.trial = -2 - len(found)
            found.append(done)
        return found


def _counts(trial: FrozenTrial) -> bool:
    data = trial.user_attrs.get(RESULT_ATTRIBUTE) or {}
    is_repeated = bool(data.get(REPEATED))
    is_lost = trial.state.name == "FAIL" and not data
    return CONSTRAINTS_ATTRIBUTE not in trial.user_attrs and not is_repeated and not is_lost
