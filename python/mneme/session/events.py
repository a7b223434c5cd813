"""Events that a tuning session sends to its listener. Nothing here prints."""

from __future__ import annotations

import inspect
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from mneme.errors import MnemeError
    from mneme.measure.statistics import NodeStatistics
    from mneme.session.final_round import Gain
    from mneme.session.near import Near
    from mneme.session.trials import CompletedCandidate

__all__ = ["NodeReport", "Outcome", "Progress", "Summary", "TuneListener", "tell_failure"]


@dataclass(kw_only=True)
class NodeReport:
    """What the hosts of a cluster have done for a search."""

    hosts: Mapping[str, NodeStatistics]
    """By their names."""
    left_out: Mapping[str, str]
    """Why a process cannot measure, by host or address."""
    seconds: float = 0.0
    """From the first configuration to the last result."""

    def busy_share(self, host: str) -> float:
        """Return the share of the time in which the devices of a host ran kernels."""
        node = self.hosts[host]
        whole = max(1, node.processes) * self.seconds
        return node.device_busy_seconds / whole if whole else 0.0


@dataclass(kw_only=True)
class Progress:
    """The state of a search."""

    done: int = 0
    """Trials with a result, including those of earlier runs."""
    total: int | None = None
    """The final number of trials; None if unknown."""
    reused: int = 0
    """Trials whose binary had been measured before."""
    repeated: int = 0
    """Suggestions of the sampler that were known already; they are not trials."""
    left_out: int = 0
    """Suggestions with a block shape that was refused or wrong before; they are not trials."""
    failures: dict[str, int] = field(default_factory=dict)
    """Trials that are not verified, by reason."""
    errors: dict[str, str] = field(default_factory=dict)
    """The message of the first trial of each reason that has one."""
    note: str = ""
    """The explanation of the wrong trial with the largest deviation."""
    baseline_ns: float | None = None
    """Time of the baseline."""
    best: CompletedCandidate | None = None
    """The fastest so far, not confirmed yet; None: the baseline."""
    seconds: float = 0.0
    """Since this search began."""
    done_now: int = 0
    """Trials of this run."""
    busy_share: float | None = None
    """Share of the time in which a device ran kernels, after the search; None if unknown."""
    time_left: float | None = None
    """Seconds until the search has to end."""

    @property
    def rate(self) -> float:
        """Trials per second in this run."""
        return self.done_now / self.seconds if self.seconds > 0 else 0.0

    @property
    def eta(self) -> float | None:
        """Estimated seconds until the search ends; None if unknown."""
        left: list[float] = [] if self.time_left is None else [self.time_left]
        if self.total is not None and self.rate > 0:
            left.append(max(0, self.total - self.done) / self.rate)
        return min(left) if left else None


@dataclass(kw_only=True)
class Outcome:
    """The result of a session."""

    status: str
    """completed, timeout, failed_fast, interrupted, baseline_only or baseline_failed."""
    kernel: str = ""
    """Name as in the source."""
    directory: Path | None = None
    """Where the results are."""
    baseline: CompletedCandidate | None = None
    """What gains are relative to: the program's own build if the baseline differs from it."""
    best: CompletedCandidate | None = None
    """The winner; the baseline if nothing is significantly better."""
    gain: Gain | None = None
    """The gain of the winner or, if it is not significant, of the best candidate."""
    near: Near | None = None
    """A configuration that is faster than the winner, but a few ULP off."""
    progress: Progress = field(default_factory=Progress)
    """The final state of the search."""
    tuned_file: Path | None = None
    """What production runs read."""
    details: dict[str, Any] = field(default_factory=dict)
    """The content of best.json."""


@dataclass(kw_only=True)
class Summary:
    """The result of tuning every launch of a recording."""

    directory: Path
    """Where the directories of the launches are."""
    instances: list[dict[str, Any]]
    """The content of `all.json`."""
    tuned_file: Path | None = None
    """What production runs read."""
    launched_otherwise: int = 0
    """How many launches are best with other dimensions, which that file does not give them."""


class TuneListener:
    """Receives every step; this one does nothing. Called from the thread that runs the session."""

    def note(self, sentence: str) -> None:
        """Information for the user."""

    def warn(self, sentence: str) -> None:
        """Something went wrong that does not end the session."""

    def failed(self, sentence: str, error: MnemeError | None = None) -> None:
        """The session ends without result, by an error where it was one."""

    def space(self, description: dict[str, Any], candidates: list[dict[str, Any]]) -> None:
        """What --print-space and --dry-run show."""

    def started(self, kernel: str, record_id: str, directory: Path) -> None:
        """A session begins."""

    def baseline(self, done: CompletedCandidate) -> None:
        """The baseline is measured."""

    def as_built(self, done: CompletedCandidate) -> None:
        """The kernel as the program was built is other than the baseline, and is measured, too."""

    def progress(self, progress: Progress) -> None:
        """A trial is done. Called for every one, so it has to be quick."""

    def final_round(self, done: int, total: int) -> None:
        """The final measurements make progress."""

    def nodes(self, found: NodeReport) -> None:
        """What the hosts of a cluster have done, before the end of each session there."""

    def finished(self, outcome: Outcome) -> None:
        """The session is over."""

    def finished_all(self, summary: Summary) -> None:
        """Every launch of a recording is tuned."""


def tell_failure(listener: TuneListener, sentence: str, error: MnemeError) -> None:
    """Report the error that ends a session; listeners of old take its sentence only."""
    parameters = inspect.signature(listener.failed).parameters.values()
    is_of_old = "error" not in {one.name for one in parameters} and not any(
        one.kind in (one.VAR_POSITIONAL, one.VAR_KEYWORD) for one in parameters
    )
    if is_of_old:
        listener.failed(sentence)
    else:
        listener.failed(sentence, error)
