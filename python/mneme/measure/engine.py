"""The thread that hands configurations to compilers and workers."""

from __future__ import annotations

import asyncio
import contextlib
import threading
import time
from collections import deque
from typing import TYPE_CHECKING, Any

from mneme.errors import InternalError, InvalidArgument, MnemeError
from mneme.measure.compile_pool import CompileAnswer, CompilePool, CompileRequest
from mneme.measure.interpreter_settings import quick_switches
from mneme.measure.job import Job, Known
from mneme.measure.ready import ReadyJobs
from mneme.measure.statistics import ExecutorStatistics

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mneme.measure.compile_pool import CodeTarget, PoolSpec
    from mneme.measure.worker_process import TuneWorkerHandle
    from mneme.mneme_types import ExperimentResult

__all__ = ["Engine"]

_DROPPED = "the executor was shut down before this ran"
_UNKNOWN = "no configuration with this binary and launch was measured so far"


class Engine:
    """Owns the workers and the compile pool, in a thread of its own that never waits for either.

    With a pool, a limited number of jobs is compiled ahead. Compiled jobs are measured next, oldest
    first, by any worker that the code fits. Without a pool the workers compile. A job whose binary
    and launch were measured before takes that result; if they are being measured, it waits.
    """

    def __init__(
        self,
        workers: Sequence[TuneWorkerHandle],
        pool: PoolSpec | None,
        compilers: int,
        ahead: int,
    ) -> None:
        """Start the thread; processes start with the first job."""
        self._loop = asyncio.new_event_loop()
        self._loop.set_exception_handler(self._broken)
        self.pool = CompilePool(self._loop, pool, compilers) if pool is not None else None
        self._workers = list(workers)
        for worker in self._workers:
            worker.attach(self._loop, self)
        self._serving = set(self._workers)
        self._ahead_limit = ahead
        self._ahead = 0  # being compiled, or compiled and not yet with a worker
        self._next_worker = 0
        self._waiting: deque[Job] = deque()
        self._parked: dict[int, list[Job]] = {}  # for workers that are not ready
        self._ready = ReadyJobs()
        self._known = Known()
        self._open: set[Job] = set()
        self._lock = threading.Lock()
        self._inbox: list[Job] = []
        self._is_woken = False
        self._is_closed = False
        self._is_ending = False
        self._pool_is_gone = self.pool is None
        self._counts = dict.fromkeys(ExecutorStatistics.__dataclass_fields__, 0)
        self._busy_ns = 0
        self.stop_above_ns = 0
        """Limit above which stoppable jobs are stopped; 0: each job's own."""
        self._times = [0.0, 0.0]
        self._thread = threading.Thread(target=self._run, name="mneme-executor", daemon=True)
        self._thread.start()

    # For any thread.

    def submit(self, job: Job) -> None:
        """Take a job.

        Raises:
            InvalidArgument: If the engine is closed.
        """
        with self._lock:
            if self._is_closed:
                raise InvalidArgument("the executor is shut down and takes no configurations")
            self._inbox.append(job)
            if self._is_woken:
                return
            self._is_woken = True
        self._loop.call_soon_threadsafe(self._take_in)

    def prepare(self) -> None:
        """Start the processes."""
        with contextlib.suppress(RuntimeError):  # it has ended
            self._loop.call_soon_threadsafe(self._start_processes)

    def close(self, *, cancel: bool) -> None:
        """Take no more jobs, finish or drop the present ones, and end all processes."""
        with self._lock:
            self._is_closed = True
        with contextlib.suppress(RuntimeError):  # it has ended
            self._loop.call_soon_threadsafe(self._close, cancel)

    def end_hanging(self, least_seconds: float, factor: float) -> None:
        """End evaluations that take much longer than all before them."""
        for worker in self._workers:
            with contextlib.suppress(RuntimeError):  # it has ended
                self._loop.call_soon_threadsafe(worker.end_hanging, least_seconds, factor)

    def join(self, timeout: float | None = None) -> None:
        """Wait for the thread, unless this is the thread."""
        if threading.current_thread() is not self._thread:
            self._thread.join(timeout)

    def statistics(self) -> ExecutorStatistics:
        """Return the statistics so far."""
        values: dict[str, Any] = dict(self._counts)
        if self.pool is not None:
            values["compiled"] = self.pool.compiled
            values["compile_restarts"] = self.pool.restarts
        values["worker_restarts"] = sum(worker.restarts for worker in self._workers)
        values["device_busy_seconds"] = self._busy_ns * 1e-9
        values["wall_seconds"] = max(0.0, self._times[1] - self._times[0])
        return ExecutorStatistics(**values)

    # Messages from workers.

    def worker_ready(self, worker: TuneWorkerHandle) -> None:
        """Note that jobs can be compiled for the worker."""
        self._waiting.extendleft(reversed(self._parked.pop(worker.index, [])))
        # A replaced worker may have its globals at other addresses.
        fitting = {one.index: one.target for one in self._serving if one.target is not None}
        for job in self._ready.take_others(fitting):
            self._ahead -= 1
            self._waiting.appendleft(job)
        self._advance()

    def worker_built(self, worker: TuneWorkerHandle, job: Job, statistics: str) -> None:
        """Measure the worker's compiled job, unless the result is known."""
        self._identify(job, statistics)
        if job in self._open and self._claim(job):
            self._measure(worker, job)
        self._advance()

    def worker_finished(self, worker: TuneWorkerHandle, job: Job, result: ExperimentResult) -> None:
        """Give the result to the job and to jobs that wait for it."""
        del worker
        self._counts["measured"] += result.executed or result.worker_died
        self._busy_ns += result.launched_ns
        self._finish(job, result)
        self._advance()

    def worker_broken(self, worker: TuneWorkerHandle, jobs: list[Job], error: MnemeError) -> None:
        """Give the work to other workers; without any, nothing can be evaluated."""
        worker.target = None
        is_last = self._serving <= {worker}
        if not is_last:
            self._serving.discard(worker)
        lost = [job for job in self._open if is_last or job.worker == worker.index]
        for job in lost:
            self._finish(job, error)
        for job in reversed(jobs):
            if job in self._open:
                self._requeue(job)
        self._advance()

    def worker_gone(self, worker: TuneWorkerHandle) -> None:
        """Note that a process has ended."""
        del worker
        self._check_end()

    # The thread.

    def _run(self) -> None:
        try:
            with quick_switches():
                self._loop.run_forever()
        finally:
            self._loop.close()

    def _take_in(self) -> None:
        with self._lock:
            jobs, self._inbox = self._inbox, []
            self._is_woken = False
        if not jobs:
            return
        if not self._counts["submitted"]:
            self._times[0] = time.monotonic()
            self._start_processes()
        for job in jobs:
            self._counts["submitted"] += 1
            self._open.add(job)
            self._waiting.append(job)
        for worker in self._serving:
            worker.start()
        for worker in self._workers:
            if worker not in self._serving:
                self._refuse_pinned(worker)
        self._advance()

    def _start_processes(self) -> None:
        if self._is_ending:
            return
        for worker in self._serving:
            worker.start()  # before compilers: a device takes longest to open
        if self.pool is not None:
            self.pool.prepare()

    def _refuse_pinned(self, worker: TuneWorkerHandle) -> None:
        for job in [job for job in self._waiting if job.worker == worker.index]:
            sentence = f"worker {worker.index} does not start any more; see '{worker.log}'"
            self._finish(job, InvalidArgument(sentence))

    def _advance(self) -> None:
        """Compile the next jobs, and give work to workers."""
        if self.pool is None:
            self._dispatch_waiting()
        else:
            while self._waiting and self._ahead < self._ahead_limit and self._compile_next():
                pass
            self._dispatch_ready()
        if self._is_closed and not self._open and not self._inbox:
            self._end()

    def _compile_next(self) -> bool:
        ready = [worker for worker in self._workers if worker.target and worker in self._serving]
        if not ready:
            return False
        job = self._waiting.popleft()
        if job not in self._open:
            return True
        worker = ready[self._next_worker % len(ready)]
        if job.worker is not None:
            worker = self._workers[job.worker]
        else:
            self._next_worker += 1
        if worker.target is None:
            self._parked.setdefault(worker.index, []).append(job)
            return True
        self._ahead += 1
        self._compile(job, worker.target)
        return True

    def _compile(self, job: Job, target: CodeTarget) -> None:
        request = CompileRequest(
            configuration=job.future.config,
            text=job.text,
            target=target,
            ir=job.ir,
        )
        assert self.pool is not None  # noqa: S101 - asked before
        self._ready.expect(target)
        self.pool.submit(request, lambda answer: self._compiled(job, target, answer))

    def _compiled(self, job: Job, target: CodeTarget, answer: CompileAnswer) -> None:
        self._ready.arrived(target)
        self._ahead -= 1
        if job not in self._open:
            pass
        elif answer.failure:
            self._counts["compile_failures"] += 1
            self._finish(job, self._workers[job.worker or 0].failed(answer.failure))
        else:
            self._identify(job, answer.statistics)
            if self._claim(job):
                self._ahead += 1
                self._ready.add(job, target)
        self._advance()

    def _identify(self, job: Job, statistics: str) -> None:
        with contextlib.suppress(ValueError):
            job.identify(statistics)

    def _claim(self, job: Job) -> bool:
        """Return whether the job must be measured; otherwise it has, or will get, a result."""
        job.tighten(self.stop_above_ns)
        known = self._known.result_for(job) if job.only_known else self._known.claim(job)
        if known is None:
            self._finish(job, self._workers[0].failed(_UNKNOWN), is_measured=False)
            return False
        if isinstance(known, bool):
            return known
        self._counts["reused"] += 1
        self._finish(job, known, is_measured=False)
        return False

    def _measure(self, worker: TuneWorkerHandle, job: Job) -> None:
        job.tighten(self.stop_above_ns)
        worker.run(job)

    def _dispatch_ready(self) -> None:
        """Give every worker a job, then more if there are enough for all."""
        for depth in range(1, 1 + max((worker.depth for worker in self._serving), default=0)):
            for worker in self._serving:
                if not worker.is_ready or worker.target is None or worker.load >= depth:
                    continue
                is_early = depth > 1
                if is_early and (
                    depth > worker.depth or self._ready.count(worker.target) < len(self._serving)
                ):
                    continue
                job = self._take_ready(worker.index, worker.target)
                if job is not None:
                    self._measure(worker, job)
                elif depth == 1 and (other := self._ready.steal(worker.target)) is not None:
                    self._compile(other, worker.target)
        while self._waiting and self._ahead < self._ahead_limit and self._compile_next():
            pass

    def _take_ready(self, worker: int, target: CodeTarget) -> Job | None:
        while (job := self._ready.take(worker, target)) is not None:
            self._ahead -= 1
            if job in self._open:
                break
        return job

    def _dispatch_waiting(self) -> None:
        for depth in (1, 2):
            for worker in self._serving:
                while worker.is_ready and self._waiting and worker.load < depth:
                    if depth > 1 and len(self._waiting) < len(self._serving):
                        break
                    if not self._hand_over(worker):
                        break

    def _hand_over(self, worker: TuneWorkerHandle) -> bool:
        """Give a worker the oldest job that it may run."""
        for place, job in enumerate(self._waiting):
            if job not in self._open or job.worker in {None, worker.index}:
                del self._waiting[place]
                if job in self._open and (job.fresh or job.is_leader):
                    self._measure(worker, job)
                elif job in self._open:
                    worker.build(job)
                return True
        return False

    def _finish(
        self, job: Job, outcome: ExperimentResult | BaseException, *, is_measured: bool = True
    ) -> None:
        if job not in self._open:
            return
        self._open.discard(job)
        self._counts["finished"] += 1
        self._times[1] = time.monotonic()
        if isinstance(outcome, BaseException):
            followers = self._known.settle(job, None) if is_measured else []
            job.future.set_error(outcome)
        else:
            self._counts["failures"] += outcome.failed
            followers = self._known.settle(job, outcome) if is_measured else []
            job.future.set_result(outcome)
        for follower in followers:
            if follower in self._open and self._claim(follower):
                self._requeue(follower)

    def _requeue(self, job: Job) -> None:
        """Queue a job again whose expected result, or worker, was lost."""
        target = next((one.target for one in self._serving if one.target is not None), None)
        if job.worker is not None:
            target = self._workers[job.worker].target
        if self.pool is None:
            self._waiting.appendleft(job)
        else:
            self._ahead += 1
            self._ready.add(job, target)

    # The end.

    def _close(self, cancel: bool) -> None:  # noqa: FBT001 - called by the loop
        self._take_in()
        if cancel:
            running = {worker.jobs[0] for worker in self._workers if worker.pid and worker.jobs}
            for job in list(self._open - running):
                self._finish(job, InvalidArgument(_DROPPED))
            self._end(kill=True)
        self._advance()

    def _end(self, *, kill: bool = False) -> None:
        if self._is_ending and not kill:
            return
        if not self._is_ending and self.pool is not None:
            self.pool.close(self._pool_gone, kill=kill)
        self._is_ending = True
        for worker in self._workers:
            worker.close(kill=kill)
        self._check_end()

    def _pool_gone(self) -> None:
        self._pool_is_gone = True
        self._check_end()

    def _check_end(self) -> None:
        if self._is_ending and self._pool_is_gone and not any(one.pid for one in self._workers):
            for job in list(self._open):
                self._finish(job, InvalidArgument(_DROPPED))
            self._loop.stop()

    def _broken(self, _: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        """Fail all jobs after a bug here, so that nobody waits for ever."""
        cause = context.get("exception")
        error = InternalError(f"the executor failed: {cause!r}: {context.get('message')}")
        with self._lock:
            self._is_closed = True
            self._open.update(self._inbox)
        for job in list(self._open):
            self._open.discard(job)
            job.future.set_error(error)
        self._end(kill=True)
