"""One worker process as its owner sees it: started, asked, replaced when it dies."""

from __future__ import annotations

import json
import os
import time
from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from mneme import errors
from mneme.executors.child_process import ChildProcess, ChildSpec
from mneme.mneme_types import ExperimentResult

if TYPE_CHECKING:
    import asyncio
    from pathlib import Path

    from mneme.executors.compile_pool import CodeTarget
    from mneme.executors.job import Job

__all__ = ["TuneWorkerHandle", "WorkerOwner", "WorkerSpec"]

_COMMAND = "from mneme.executors.tune_worker import main; main()"
_GRACE_SECONDS = 10.0
_SECONDS_AFTER_FAILED_START = 0.05
# Jobs a worker has at once, the one under way included.
_LONG_DEPTH, _SHORT_DEPTH = 2, 4
_SHORT_SECONDS = 0.01


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerSpec:
    """What every worker of one executor has in common."""

    record_db: Path
    record_id: str
    results_db_dir: Path
    max_startup_failures: int
    """Processes that may die before the first answer until the worker gives up."""

    timeout: float | None
    """Seconds one evaluation may take, compiling included; None for no limit."""

    environment: dict[str, str] = field(default_factory=dict)
    """Added to that of this process."""


class WorkerOwner(Protocol):
    """Learns what becomes of the jobs of a worker."""

    def worker_ready(self, worker: TuneWorkerHandle) -> None:
        """The recording is open; `worker.target` says what code is made for."""

    def worker_built(self, worker: TuneWorkerHandle, job: Job, statistics: str) -> None:
        """A job sent to be built is built."""

    def worker_finished(self, worker: TuneWorkerHandle, job: Job, result: ExperimentResult) -> None:
        """A job has a result."""

    def worker_broken(
        self, worker: TuneWorkerHandle, jobs: list[Job], error: errors.MnemeError
    ) -> None:
        """No process starts; `jobs` are those the worker had."""

    def worker_gone(self, worker: TuneWorkerHandle) -> None:
        """After `close`: there is no process any more."""


class TuneWorkerHandle:
    """Owns one worker process, pinned to one device. Calls come from the thread of the loop.

    Jobs sent after one that costs the worker its process, or leaves its device unusable, go to the
    process that replaces it. Once that happened a spare process is kept, with the recording open:
    on a GPU a process takes long to end and to start.
    """

    def __init__(self, index: int, device: str, spec: WorkerSpec) -> None:
        """Describe a worker without a process."""
        self.index = index
        self.device = device
        self.target: CodeTarget | None = None
        self.is_ready = False
        self.restarts = 0
        self._spec = spec
        self._child: ChildProcess | None = None
        self._spare: ChildProcess | None = None
        self._spare_answer: tuple[Any, ...] | None = None
        self._retired: set[ChildProcess] = set()
        self._tasks: deque[tuple[str, Job]] = deque()
        self._failed_starts = 0
        self._refusal: tuple[str, str] | None = None
        self._is_late = False
        self._keeps_spare = True
        self._waits_for_room = False
        self._is_closing = False
        self._ir_number = 0
        self._head_since = 0.0
        self._recent_seconds = _SHORT_SECONDS
        self._timer: asyncio.TimerHandle | None = None

    @property
    def pid(self) -> int | None:
        """Process id, None while there is no process; for any thread."""
        child = self._child or next(iter((*self._retired, self._spare)), None)
        return child.pid if child is not None else None

    @property
    def spare_pid(self) -> int | None:
        """Process id of the process kept to replace this one; for any thread."""
        spare = self._spare
        return spare.pid if spare is not None else None

    @property
    def load(self) -> int:
        """How many jobs the worker has."""
        return len(self._tasks)

    @property
    def depth(self) -> int:
        """How many jobs it should have, so that short ones follow each other without a gap."""
        return _SHORT_DEPTH if self._recent_seconds < _SHORT_SECONDS else _LONG_DEPTH

    @property
    def jobs(self) -> list[Job]:
        """What the worker has to do, the job under way first."""
        return [job for _, job in self._tasks]

    def attach(self, loop: asyncio.AbstractEventLoop, owner: WorkerOwner) -> None:
        """Say who calls, and who is called back."""
        self._loop = loop
        self._owner = owner

    def start(self) -> None:
        """Start a process unless there is one."""
        if self._child is not None or self._is_closing:
            return
        self._refusal, self._is_late, self._ir_number = None, False, 0
        if self._spare is not None and self._keeps_spare:
            self._child, self._spare = self._spare, None
            answer, self._spare_answer = self._spare_answer, None
            if answer is not None:
                self._answered(self._child, answer)
            return
        try:
            self._child = self._new_process()
        except OSError as error:
            self._refusal = ("BackendUnavailable", str(error))
            self._loop.call_soon(self._not_started, -1)

    def _new_process(self) -> ChildProcess:
        spec = self._spec
        settings = {
            "parent": os.getpid(),
            "record_db": spec.record_db,
            "record_id": spec.record_id,
            "device_id": self.index,
            "device": self.device,
        }
        child = ChildSpec(
            command=_COMMAND, settings=settings, log=self.log, environment=spec.environment
        )
        return ChildProcess(self._loop, child, self._answered, self._ended)

    def _start_spare(self) -> None:
        if self._spare is None and self._keeps_spare and not self._is_closing:
            try:
                self._spare = self._new_process()
            except OSError:
                self._keeps_spare = False

    def _replace(self) -> None:
        """Have another process in the place of one whose device does not work any more."""
        assert self._child is not None  # noqa: S101 - it has just answered
        self._child.kill()
        self._retired.add(self._child)
        self._child, self.is_ready = None, False
        self.restarts += not self._is_closing
        self.start()

    @property
    def log(self) -> Path:
        """What the process prints."""
        return self._spec.results_db_dir / f"Worker-{self.index}.log"

    def build(self, job: Job) -> None:
        """Have a job compiled by the worker; `worker_built` follows, or `worker_finished`."""
        self._send("build", job)

    def run(self, job: Job) -> None:
        """Have a job verified and measured; `worker_finished` follows."""
        self._send("run", job)

    def failed(self, sentence: str, *, died: bool = False) -> ExperimentResult:
        """Return the result of a configuration that did not run."""
        return ExperimentResult(
            failed=True,
            error=sentence,
            result_class="failed",
            gpu_id=self.index,
            device=self.device,
            worker_died=died,
        )

    def close(self, *, kill: bool = False) -> None:
        """End the process, at once or when it has answered."""
        self._is_closing = True
        if self._spare is not None:
            self._spare.kill()
        if self._child is None:
            return
        self._child.finish()
        if kill:
            self._child.kill()
        else:
            self._loop.call_later(_GRACE_SECONDS, self._child.kill)

    def _send(self, verb: str, job: Job) -> None:
        self._tasks.append((verb, job))
        if self.is_ready:
            self._deliver(verb, job)
            if len(self._tasks) == 1:
                self._begin_head()

    def _deliver(self, verb: str, job: Job) -> None:
        ir = job.ir if job.ir_number != self._ir_number else b""
        self._ir_number = job.ir_number
        assert self._child is not None  # noqa: S101 - ready ones have a process
        self._child.send((verb, job.text, job.options, job.ir_number, ir))

    def _begin_head(self) -> None:
        self._head_since = time.monotonic()
        limit = self._spec.timeout
        if limit is not None and self._tasks:
            left = max(0.0, limit - self._tasks[0][1].spent_seconds)
            self._timer = self._loop.call_later(left, self._late)

    def _end_head(self) -> Job:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        _, job = self._tasks.popleft()
        self._recent_seconds = time.monotonic() - self._head_since
        job.spent_seconds += self._recent_seconds
        return job

    def _late(self) -> None:
        self._timer = None
        self._is_late = True
        if self._child is not None:
            self._child.kill()

    def _answered(self, child: ChildProcess, message: tuple[Any, ...]) -> None:
        kind, *content = message
        if child is self._spare:
            self._spare_answer = message
            self._keeps_spare = kind == "ready"  # no room for two, for example
        if child is not self._child:
            return
        if kind == "ready":
            name, globals_ = content[0]
            self.target = (name, tuple(tuple(place) for place in globals_))
            self.is_ready, self._failed_starts = True, 0
            for verb, job in self._tasks:
                self._deliver(verb, job)
            self._begin_head()
            if self.restarts:  # and only now, so that the two do not compete for memory
                self._start_spare()
            self._owner.worker_ready(self)
        elif kind == "broken":
            self._refusal = (content[0], content[1])
        elif self.is_ready and not self._is_late:
            self._task_answered(kind, content[0])

    def _task_answered(self, kind: str, text: str) -> None:
        job = self._end_head()
        if kind == "built":
            self._begin_head()
            self._owner.worker_built(self, job, text)
            return
        if kind == "failed":
            result = self.failed(text)
        else:
            result = ExperimentResult.from_dict(json.loads(text))
        if result.device_usable:
            self._begin_head()
            self._owner.worker_finished(self, job, result)
            return
        self.is_ready = False
        self._owner.worker_finished(self, job, result)
        self._replace()

    def _ended(self, child: ChildProcess, code: int) -> None:
        if child is not self._child:
            self._forget(child)
            return
        self._child = None
        was_ready, self.is_ready = self.is_ready, False
        if not was_ready:
            self._not_started(code)
            return
        self.restarts += not self._is_closing
        crashed = None
        if was_ready and self._tasks:
            job = self._end_head()
            how = f"crashed (exit code: {code})"
            if self._is_late:
                how = f"timed out after {self._spec.timeout} s"
            sentence = f"Worker {how} running on device {self.device}"
            crashed = (job, self.failed(sentence, died=True))
        self.start()
        if crashed is not None:
            self._owner.worker_finished(self, *crashed)
        if self._is_closing:
            self._owner.worker_gone(self)

    def _forget(self, child: ChildProcess) -> None:
        """Note the end of a process that was replaced, or not yet needed."""
        self._retired.discard(child)
        if child is self._spare:
            self._spare = self._spare_answer = None
        if self._waits_for_room:
            self._waits_for_room = False
            self.start()
        if self._is_closing:
            self._owner.worker_gone(self)

    def _not_started(self, code: int) -> None:
        self._failed_starts += 1
        kind, sentence = self._refusal or ("", f"it ended with exit code {code}")
        if self._is_closing:
            self._owner.worker_gone(self)
        elif kind == "OutOfMemory" and (self._retired or self._spare is not None):
            self._waits_for_room, self._keeps_spare = True, False  # those still have it
            if self._spare is not None:
                self._spare.kill()
        elif kind not in {"", "AddressUnavailable"}:
            # Nothing but an address gets better by trying again.
            self._give_up(getattr(errors, kind)(sentence))
        elif self._failed_starts >= max(1, self._spec.max_startup_failures):
            self._give_up(
                errors.BackendUnavailable(
                    f"worker {self.index} on device {self.device} cannot start: {sentence}; "
                    f"see '{self.log}'"
                )
            )
        else:
            self._loop.call_later(_SECONDS_AFTER_FAILED_START * self._failed_starts, self.start)

    def _give_up(self, error: errors.MnemeError) -> None:
        self._failed_starts = 0
        jobs = self.jobs
        self._tasks.clear()
        self._owner.worker_broken(self, jobs, error)
