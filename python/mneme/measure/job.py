"""A configuration on its way through an executor."""

from __future__ import annotations

import functools
import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from mneme.mneme_types import ExperimentResult

if TYPE_CHECKING:
    from collections.abc import Hashable

    from mneme.measure.content import Content
    from mneme.measure.eval_future import EvalFuture
    from mneme.measure.measuring import Measuring

__all__ = ["Job", "Known"]


@dataclass(eq=False, slots=True, kw_only=True)
class Job:
    """One configuration, and how to evaluate it."""

    future: EvalFuture

    text: str
    """The configuration as JSON."""

    options: str
    """Options of the runtime as JSON."""

    iterations: int
    measuring: Measuring
    ir: Content | None = None
    """Replaces the recorded IR."""

    fresh: bool = False
    """Measure even if a result is known."""

    worker: int | None = None
    """The only worker that may run it."""

    only_known: bool = False
    """Never measure: take the result of an equal measured job, or fail."""

    statistics: str = ""
    """The compiler's statistics as JSON, once it is compiled."""

    key: Hashable = None
    """Identity of the measurement, once it is compiled."""

    is_leader: bool = False
    """Whether it must be measured while jobs with the same key wait for it."""

    spent_seconds: float = 0.0
    """Time that workers have spent on it."""

    def identify(self, statistics: str) -> None:
        """Note the compiler's statistics; a leader keeps its key, so that others find it."""
        self.statistics = statistics
        if self.is_leader:
            return
        image = json.loads(statistics).get("image_hash") if statistics else None
        if image and not self.fresh:
            config = self.future.config
            launch = (config.grid, config.block, config.shared_mem)
            how = _without_stop(self.measuring)
            self.key = (image, launch, self.iterations, how, self.worker)

    def tighten(self, stop_above_ns: int) -> None:
        """Stop measuring above this limit, unless there is no limit or a lower one."""
        if 0 < stop_above_ns < self.measuring.stop_above_ns:
            self.measuring = replace(self.measuring, stop_above_ns=stop_above_ns)
            self.options = json.dumps({**json.loads(self.options), "stop_above_ns": stop_above_ns})

    def copy_of(self, result: ExperimentResult) -> ExperimentResult:
        """Return this job's result, given that of another job with the same binary and launch."""
        values = result.to_dict()
        compiled = json.loads(self.statistics)
        for name in ("preprocess_ir_time", "opt_time", "codegen_time", "ir_hash"):
            values[name] = compiled.get(name, values[name])
        return ExperimentResult(**{**values, "reused": True, "launches": 0, "launched_ns": 0})


@functools.lru_cache(maxsize=256)
def _without_stop(measuring: Measuring) -> Measuring:
    return replace(measuring, stop_above_ns=0)


class Known:
    """Finished and running measurements, by binary, launch and way of measuring."""

    def __init__(self) -> None:
        """Know nothing."""
        self._results: dict[Hashable, tuple[ExperimentResult, int]] = {}
        self._followers: dict[Hashable, list[Job]] = {}

    def claim(self, job: Job) -> ExperimentResult | bool:
        """Return the result of an equal job, or whether this one must be measured.

        If not, `settle` returns it later.
        """
        if job.key is None or job.is_leader:
            return True
        if job.key in self._followers:
            self._followers[job.key].append(job)
            return False
        if (known := self.result_for(job)) is not None:
            return known
        self._followers[job.key] = []
        job.is_leader = True
        return True

    def result_for(self, job: Job) -> ExperimentResult | None:
        """Return the result of an equal job that was measured, None if there is none."""
        known = self._results.get(job.key)
        return job.copy_of(known[0]) if known is not None and _serves(*known, job) else None

    def settle(self, job: Job, result: ExperimentResult | None) -> list[Job]:
        """Note the result of a measured job; return the jobs that wait for it.

        They must call `claim` again, with or without a result.
        """
        if job.key is None:
            return []
        if result is not None and not result.failed:
            self._results[job.key] = (result, job.measuring.stop_above_ns)
        return self._followers.pop(job.key, [])


def _serves(result: ExperimentResult, stopped_above_ns: int, job: Job) -> bool:
    """Whether a measurement that may have been stopped early satisfies the job."""
    return not result.stopped_early or 0 < job.measuring.stop_above_ns <= stopped_above_ns
