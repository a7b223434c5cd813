"""Jobs that are compiled and wait for a worker."""

from __future__ import annotations

import heapq
from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mneme.measure.compile_pool import CodeTarget
    from mneme.measure.job import Job

__all__ = ["ReadyJobs"]

_Heap = list[tuple[int, "Job"]]


class ReadyJobs:
    """Compiled jobs, by target and by the worker that must take them; the oldest come first."""

    def __init__(self) -> None:
        """Make it empty."""
        self._heaps: dict[tuple[CodeTarget | None, int | None], _Heap] = {}
        self._expected: Counter[CodeTarget] = Counter()

    def expect(self, target: CodeTarget) -> None:
        """Note that a job is being compiled for a target."""
        self._expected[target] += 1

    def arrived(self, target: CodeTarget) -> None:
        """Note that a job for a target is compiled."""
        self._expected[target] -= 1

    def add(self, job: Job, target: CodeTarget | None) -> None:
        """Take a job that is compiled for `target`."""
        heap = self._heaps.setdefault((target, job.worker), [])
        heapq.heappush(heap, (job.future.job_id, job))

    def count(self, target: CodeTarget) -> int:
        """Return the number of jobs that any worker with this target may take."""
        return len(self._heaps.get((target, None), ()))

    def take(self, worker: int, target: CodeTarget) -> Job | None:
        """Return the oldest job this worker may take."""
        heaps = [heap for place in (worker, None) if (heap := self._heaps.get((target, place)))]
        if not heaps:
            return None
        return heapq.heappop(min(heaps, key=lambda heap: heap[0][0]))[1]

    def steal(self, target: CodeTarget) -> Job | None:
        """Return a job of another target, unless a job is being compiled for this one."""
        if self._expected[target] > 0:
            return None
        for (other, worker), heap in self._heaps.items():
            if other != target and worker is None and heap:
                return heapq.heappop(heap)[1]
        return None

    def take_others(self, targets: Mapping[int, CodeTarget]) -> list[Job]:
        """Return, newest first, the jobs that no worker can take any more, given all targets."""
        jobs: list[Job] = []
        for (target, worker), heap in self._heaps.items():
            if target not in (targets.values() if worker is None else (targets.get(worker),)):
                jobs += [job for _, job in heap]
                heap.clear()
        return sorted(jobs, key=lambda job: -job.future.job_id)
