"""Which configuration is compiled, and which is replayed next."""

from __future__ import annotations

import threading
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mneme._compile_pool import CompileRequest
from mneme.errors import InvalidArgument

if TYPE_CHECKING:
    from collections.abc import Callable

    from mneme._compile_pool import CompilePool
    from mneme._worker_process import CodeTarget
    from mneme.async_executor import EvalFuture

__all__ = ["Schedule"]


@dataclass(eq=False, slots=True)
class _Job:
    """A configuration that is compiled, or compiled and not yet replayed."""

    future: EvalFuture
    worker: int
    """Number of the worker it is compiled for; others take it if that one has no need of it."""

    target: CodeTarget
    is_ready: bool = False


class Schedule:
    """Hands configurations to compilers and workers, oldest first. Thread-safe.

    Without a pool, or before the first worker says what it needs, nothing is compiled ahead. A
    configuration that is compiled earlier than older ones is replayed before them.
    """

    def __init__(
        self, pool: CompilePool | None, ahead: int, fail: Callable[[EvalFuture, int, str], None]
    ) -> None:
        """Make an empty schedule.

        Args:
            pool: Compiles; None to leave that to the workers.
            ahead: Configurations that may be compiled or wait for a worker at once.
            fail: Gives a future a failed result, by worker number and sentence.
        """
        self._pool = pool
        self._ahead_limit = ahead
        self._fail = fail
        self._changed = threading.Condition()
        self._waiting: deque[EvalFuture] = deque()
        self._ahead: list[_Job] = []
        self._targets: dict[int, CodeTarget] = {}
        self._next_worker = 0
        self._is_closed = False

    def add(self, future: EvalFuture) -> None:
        """Queue a configuration.

        Raises:
            InvalidArgument: If the schedule is closed.
        """
        with self._changed:
            if self._is_closed:
                raise InvalidArgument("the executor is shut down and takes no configurations")
            self._waiting.append(future)
            self._advance()
            self._changed.notify_all()

    def close(self) -> bool:
        """Take no more configurations; return whether that is new."""
        with self._changed:
            is_new = not self._is_closed
            self._is_closed = True
            self._changed.notify_all()
            return is_new

    def drop(self) -> list[EvalFuture]:
        """Return everything no worker has taken yet; the schedule forgets it."""
        with self._changed:
            dropped = [*(job.future for job in self._ahead), *self._waiting]
            self._ahead.clear()
            self._waiting.clear()
            self._changed.notify_all()
            return dropped

    def has_work(self) -> bool:
        """Wait until there is something to do; false once there never will be."""
        with self._changed:
            while not self._waiting and not self._ahead:
                if self._is_closed:
                    return False
                self._changed.wait()
            return True

    def take(self, worker: int, target: CodeTarget) -> EvalFuture | None:
        """Wait for a configuration compiled for this target; None if there is nothing left."""
        with self._changed:
            self._targets[worker] = target
            while True:
                self._advance()
                if self._pool is None and self._waiting:
                    return self._waiting.popleft()
                job = self._choose(worker, target)
                if job is not None:
                    self._ahead.remove(job)
                    self._advance()
                    return job.future
                if self._is_closed and not self._waiting and not self._ahead:
                    return None
                self._changed.wait()

    def take_early(self, worker: int) -> EvalFuture | None:
        """Return one more configuration if there are enough for every worker, without waiting."""
        with self._changed:
            target = self._targets.get(worker)
            if self._pool is None:
                ready = list(self._waiting)
            else:
                jobs = (job for job in self._ahead if job.is_ready and job.target == target)
                ready = [job.future for job in jobs]
            # Long IR would fill the pipe to a worker that is busy.
            if target is None or len(ready) < len(self._targets) or ready[0].ir is not None:
                return None
            if self._pool is None:
                return self._waiting.popleft()
            self._ahead = [job for job in self._ahead if job.future is not ready[0]]
            self._advance()
            return ready[0]

    def take_uncompiled(self) -> EvalFuture | None:
        """Return the oldest configuration, compiled or not, without waiting."""
        with self._changed:
            if self._ahead:
                return self._ahead.pop(0).future
            return self._waiting.popleft() if self._waiting else None

    def retire(self, worker: int) -> None:
        """Let nothing more be compiled for a worker."""
        with self._changed:
            self._targets.pop(worker, None)

    def _choose(self, worker: int, target: CodeTarget) -> _Job | None:
        """Return a job to replay now; one compiled for another target is compiled again first."""
        own = [job for job in self._ahead if job.target == target]
        for job in own:
            if job.is_ready:
                return job
        if not own:
            for job in self._ahead:
                if job.is_ready:
                    self._compile(job, worker, target)
                    break
        return None

    def _advance(self) -> None:
        """Have the next configurations compiled."""
        if self._pool is None:
            return
        while self._targets and self._waiting and len(self._ahead) < self._ahead_limit:
            workers = list(self._targets)
            worker = workers[self._next_worker % len(workers)]
            self._next_worker += 1
            job = _Job(self._waiting.popleft(), worker, self._targets[worker])
            self._ahead.append(job)
            self._compile(job, worker, job.target)

    def _compile(self, job: _Job, worker: int, target: CodeTarget) -> None:
        job.worker, job.target, job.is_ready = worker, target, False
        future = job.future
        request = CompileRequest(configuration=future.config.to_dict(), target=target, ir=future.ir)
        if self._pool is not None:
            self._pool.submit(request, lambda sentence: self._compiled(job, sentence))

    def _compiled(self, job: _Job, sentence: str) -> None:
        with self._changed:
            if job not in self._ahead:
                return
            if sentence:
                self._ahead.remove(job)
                self._advance()
            job.is_ready = True
            self._changed.notify_all()
        if sentence:
            self._fail(job.future, job.worker, sentence)
