"""What a tuning session tells whoever watches it. Nothing here prints."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

    from mneme.tuning.final_round import Gain
    from mneme.tuning.trials import CompletedCandidate

__all__ = ["Outcome", "Progress", "Summary", "TuneListener"]


@dataclass(kw_only=True)
class Progress:
    """Where a search stands."""

    done: int = 0
    """Trials with a result, those of earlier runs too."""
    total: int | None = None
    """Trials there will be; None if that is not known."""
    in_flight: int = 0
    """Configurations being compiled or measured."""
    reused: int = 0
    """Trials whose binary had been measured before."""
    repeated: int = 0
    """Configurations the sampler named that were known; they are no trials."""
    left_out: int = 0
    """Configurations with a block shape that was refused or wrong before; they are no trials."""
    failures: dict[str, int] = field(default_factory=dict)
    """Trials that are not verified, by reason."""
    note: str = ""
    """What the replay of a wrong trial says about it; of the one that is furthest off."""
    baseline_ns: float | None = None
    """Time of the baseline."""
    best: CompletedCandidate | None = None
    """The fastest so far, not confirmed yet; None: the baseline."""
    seconds: float = 0.0
    """Since this search began."""
    done_now: int = 0
    """Trials of this run."""
    busy_share: float | None = None
    """Part of the time a device ran kernels, once the search is over; None if unknown."""
    time_left: float | None = None
    """Seconds until the search has to end."""

    @property
    def rate(self) -> float:
        """Trials per second in this run."""
        return self.done_now / self.seconds if self.seconds > 0 else 0.0

    @property
    def eta(self) -> float | None:
        """Seconds the search will go on, as far as can be told."""
        left: list[float] = [] if self.time_left is None else [self.time_left]
        if self.total is not None and self.rate > 0:
            left.append(max(0, self.total - self.done) / self.rate)
        return min(left) if left else None


@dataclass(kw_only=True)
class Outcome:
    """What a session found."""

    status: str
    """completed, timeout, failed_fast, interrupted, baseline_only or baseline_failed."""
    kernel: str = ""
    """Name as in the source."""
    directory: Path | None = None
    """Where the results are."""
    baseline: CompletedCandidate | None = None
    """What gains are stated over: the program's own build where the baseline is other than that."""
    best: CompletedCandidate | None = None
    """The winner; the baseline if nothing is significantly better."""
    gain: Gain | None = None
    """What the winner gains, or the best candidate if that is not significant."""
    progress: Progress = field(default_factory=Progress)
    """How the search went."""
    tuned_file: Path | None = None
    """What production runs read."""
    details: dict[str, Any] = field(default_factory=dict)
    """The content of best.json."""


@dataclass(kw_only=True)
class Summary:
    """What tuning every launch of a recording found."""

    directory: Path
    """Where the directories of the launches are."""
    instances: list[dict[str, Any]]
    """The content of `all.json`."""
    tuned_file: Path | None = None
    """What production runs read."""


class TuneListener:
    """Hears of every step; does nothing. Called from the thread that runs the session."""

    def note(self, sentence: str) -> None:
        """Something people may want to know."""

    def warn(self, sentence: str) -> None:
        """Something went wrong that does not end the session."""

    def failed(self, sentence: str) -> None:
        """The session ends without result."""

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
        """The last measurements go on."""

    def finished(self, outcome: Outcome) -> None:
        """The session is over."""

    def finished_all(self, summary: Summary) -> None:
        """Every launch of a recording is tuned."""
