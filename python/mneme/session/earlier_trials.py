"""Reuses the trials of earlier sessions when a session resumes a results directory."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from mneme.session.trials import FEW_ULP, metric_value

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mneme.session.options import TuneOptions
    from mneme.session.trials import CompletedCandidate

__all__ = ["EarlierTrials", "earlier_trials"]

# Number of trials to try first because other tolerances may accept them.
_MOST_FIRST = 8
_WITHIN = ("within_tolerance", "nondeterministic")


@dataclass(slots=True, kw_only=True)
class EarlierTrials:
    """Trials of earlier sessions."""

    known: list[CompletedCandidate] = field(default_factory=list)
    """Trials that are not repeated."""
    first: list[dict[str, Any]] = field(default_factory=list)
    """Parameters to try first: results a few ULP off, judged by other tolerances."""


def earlier_trials(found: Iterable[CompletedCandidate], options: TuneOptions) -> EarlierTrials:
    """Divide trials into those whose verdict still holds and those to repeat.

    Args:
        found: In the order they finished; if a configuration has two, the later one counts.
        options: The options of the resumed session; other tolerances give other verdicts.
    """
    latest = {one.candidate.config.key(): one for one in found}.values()
    tolerance = tuple(options.tolerance)
    earlier = EarlierTrials()
    near: list[tuple[float, CompletedCandidate]] = []
    for done in latest:
        # A trial without any result is ignored.
        if done.status == "internal_error":
            continue
        if done.tolerance == tolerance or not _follows_from_tolerance(done):
            earlier.known.append(done)
        elif done.failure == FEW_ULP and (taken := metric_value(done.result, options.metric)):
            near.append((taken, done))
    near.sort(key=lambda one: (one[0], one[1].candidate.trial))
    earlier.first = [dict(done.candidate.params) for _, done in near[:_MOST_FIRST]]
    return earlier


def _follows_from_tolerance(done: CompletedCandidate) -> bool:
    is_within = done.is_verified and done.result.result_class in _WITHIN
    return is_within or done.status == "failed_verification"
