"""The owner's side of a worker process that measures."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from mneme import errors
from mneme.measure.child import ChildSpec
from mneme.measure.worker import Lifecycle, Refusal, Request, Worker
from mneme.mneme_types import ExperimentResult

if TYPE_CHECKING:
    import asyncio
    from pathlib import Path

    from mneme.measure.compile_pool import CodeTarget
    from mneme.measure.job import Job

__all__ = ["TuneWorkerHandle", "WorkerOwner", "WorkerSpec"]

_COMMAND = "from mneme.measure.tune_worker import main; main()"
_GRACE_SECONDS = 10.0
# Number of jobs a worker has at once, including the running one.
_LONG_DEPTH, _SHORT_DEPTH = 2, 4
_SHORT_SECONDS = 0.01


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerSpec:
    """Settings shared by all workers of an executor."""

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
    """Receives the events of a worker's jobs."""

    def worker_ready(self, worker: TuneWorkerHandle) -> None:
        """The recording is open; `worker.target` is the target of code."""

    def worker_built(self, worker: TuneWorkerHandle, job: Job, statistics: str) -> None:
        """A job was built."""

    def worker_finished(self, worker: TuneWorkerHandle, job: Job, result: ExperimentResult) -> None:
        """A job has a result."""

    def worker_broken(
        self, worker: TuneWorkerHandle, jobs: list[Job], error: errors.MnemeError
    ) -> None:
        """No process can be started; `jobs` are the worker's."""

    def worker_gone(self, worker: TuneWorkerHandle) -> None:
        """After `close`: the process has ended."""


class TuneWorkerHandle(Worker["Job"]):
    """A worker pinned to one device, with the recording open on it."""

    def __init__(self, index: int, device: str, spec: WorkerSpec) -> None:
        """Describe a worker without a process."""
        super().__init__(
            Lifecycle(
                attempts=spec.max_startup_failures, grace_seconds=_GRACE_SECONDS, keeps_spare=True
            )
        )
        self.index = index
        self.device = device
        self.target: CodeTarget | None = None
        self._spec = spec
        self._recent_seconds = _SHORT_SECONDS

    @property
    def depth(self) -> int:
        """The number of jobs it should have, so that short ones follow without gaps."""
        return _SHORT_DEPTH if self._recent_seconds < _SHORT_SECONDS else _LONG_DEPTH

    @property
    def jobs(self) -> list[Job]:
        """The worker's jobs, the running one first."""
        return [request.subject for request in self._requests]

    @property
    def log(self) -> Path:
        """What the process prints."""
        return self._spec.results_db_dir / f"Worker-{self.index}.log"

    def attach(self, loop: asyncio.AbstractEventLoop, owner: WorkerOwner) -> None:
        """Set the event loop and the owner."""
        self.run_in(loop)
        self._owner = owner

    def build(self, job: Job) -> None:
        """Make the worker compile a job; `worker_built` follows, or `worker_finished`."""
        self._ask("build", job)

    def run(self, job: Job) -> None:
        """Make the worker verify and measure a job; `worker_finished` follows."""
        self._ask("run", job)

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

    def _ask(self, verb: str, job: Job) -> None:
        limit = self._spec.timeout
        self.send(
            Request(
                subject=job,
                message=(verb, job.text, job.options),
                content=job.ir,
                seconds=None if limit is None else limit - job.spent_seconds,
            )
        )

    def _child_spec(self) -> ChildSpec:
        spec = self._spec
        return ChildSpec(
            command=_COMMAND,
            settings={
                "record_db": spec.record_db,
                "record_id": spec.record_id,
                "device_id": self.index,
                "device": self.device,
            },
            log=self.log,
            environment=spec.environment,
        )

    def _on_ready(self, content: tuple[str, list[tuple[str, int]]]) -> None:
        name, globals_ = content
        self.target = (name, tuple((symbol, address) for symbol, address in globals_))
        self._owner.worker_ready(self)

    def _on_answer(self, request: Request[Job], kind: str, content: str) -> None:
        job = self._note_time(request)
        if kind == "built":
            self._owner.worker_built(self, job, content)
            return
        if kind == "failed":
            result = self.failed(content)
        else:
            result = ExperimentResult.from_dict(json.loads(content))
        if not result.device_usable:
            self.replace()
        self._owner.worker_finished(self, job, result)

    def _on_lost(self, request: Request[Job], code: int, *, is_late: bool) -> None:
        how = f"crashed (exit code: {code})"
        if is_late:
            taken = round(request.spent_seconds, 1)
            limit = self._spec.timeout
            how = f"timed out after {taken if limit is None else min(limit, taken)} s"
        sentence = f"Worker {how} running on device {self.device}"
        job = self._note_time(request)
        self._owner.worker_finished(self, job, self.failed(sentence, died=True))

    def _on_refusal(self, requests: list[Request[Job]], refusal: Refusal) -> None:
        if refusal.may_pass:
            error: errors.MnemeError = errors.BackendUnavailable(
                f"worker {self.index} on device {self.device} cannot start: {refusal.sentence}; "
                f"see '{self.log}'"
            )
        else:
            error = getattr(errors, refusal.kind)(refusal.sentence)
        self._owner.worker_broken(self, [request.subject for request in requests], error)

    def _on_gone(self) -> None:
        self._owner.worker_gone(self)

    def _note_time(self, request: Request[Job]) -> Job:
        self._recent_seconds = request.spent_seconds
        request.subject.spent_seconds += request.spent_seconds
        return request.subject
