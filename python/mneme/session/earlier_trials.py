"""Reuses the trials of earlier sessions when a session resumes a results directory."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from mneme.errors import InvalidArgument
from mneme.recording.launch_facts import static_hash_text
from mneme.session.origin import asked_before, asked_multiprocessors
from mneme.session.trials import FEW_ULP, metric_value

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from mneme.recording.recorded_execution import KernelInstance, RecordedExecution
    from mneme.session.options import TuneOptions
    from mneme.session.result_store import ResultStore
    from mneme.session.trials import CompletedCandidate

__all__ = ["EarlierTrials", "check_results", "earlier_trials"]

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


def check_results(store: ResultStore, record: RecordedExecution, instance: KernelInstance) -> None:
    """Make sure that what an earlier session left can be compared with what this one measures.

    Args:
        store: The results directory.
        record: The record of the launch.
        instance: The launch.

    Raises:
        InvalidArgument: If another launch, or on another part of the device, was measured.
        ArtifactCorrupt: If a file is damaged.
    """
    # A session that was killed left no summary.
    for name in ("baseline.json", "summary.json"):
        _check_record(store.directory, record, instance, store.read(name))
    then, now = asked_before(store), asked_multiprocessors()
    if then is not None and then != now:
        raise InvalidArgument(
            f"'{store.directory}' was measured where MNEME_MULTIPROCESSORS was "
            f"{then or 'not set'}, and it is {now or 'not set'}: times on different parts of a "
            "device cannot be compared; set it as it was, or name another --results-dir"
        )


def _check_record(
    directory: Path,
    record: RecordedExecution,
    instance: KernelInstance,
    earlier: dict[str, Any] | None,
) -> None:
    """Make sure that a file of an earlier session belongs to this launch of this code."""
    told = (earlier or {}).get("record") or {}
    kernel, code = record.kernel_name, static_hash_text(record.static_hash)
    old_kernel, old_code = told.get("kernel_name", kernel), told.get("static_hash", code)
    if (old_kernel, old_code) != (kernel, code):
        raise InvalidArgument(
            f"'{directory}' holds measurements of kernel {old_kernel} with static "
            f"hash {old_code}, and this is {kernel} with static hash {code}: times of "
            "different code cannot be compared; name another --results-dir"
        )
    found = told.get("record_id", instance.dynamic_hash)
    if str(found) != instance.dynamic_hash:
        raise InvalidArgument(
            f"'{directory}' tuned instance {found}, not "
            f"{instance.dynamic_hash}; name another --results-dir"
        )
