"""The owner's side of a process that goes from recording to recording on one device."""

from __future__ import annotations

import json
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from mneme import errors
from mneme.measure.child import ChildSpec
from mneme.measure.worker import Lifecycle, Refusal, Request, Worker
from mneme.mneme_types import ExperimentResult

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Mapping
    from pathlib import Path

__all__ = ["SuiteProcess", "Task"]

_COMMAND = "from mneme.measure.suite_worker import main; main()"
_GRACE_SECONDS = 10.0
_MOST_STARTS = 3
# A recorded address can be taken in one process and free in the next.
_MOST_OPENINGS = 3


@dataclass(eq=False, slots=True, kw_only=True)
class Task:
    """One request."""

    message: tuple[object, ...]
    """As `mneme.measure.suite_worker.main` takes it."""

    future: Future[Any] = field(default_factory=Future)
    """The `ExperimentResult` of a replay, else None."""

    openings: int = 0
    """Processes that could not open the launch."""

    @property
    def is_replay(self) -> bool:
        """Whether its answer is a result."""
        return self.message[0] == "run"


class SuiteProcess(Worker[Task]):
    """A process on one device, replaced when it dies. Calls come from its loop's thread."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        device: str,
        *,
        log: Path,
        timeout: float | None,
        environment: Mapping[str, str],
    ) -> None:
        """Describe it; it starts with the first task.

        Args:
            loop: The event loop.
            device: What it measures on.
            log: Receives what it prints.
            timeout: Seconds that a task may take; None: no limit but that of each launch.
            environment: Added to that of this process.
        """
        super().__init__(
            Lifecycle(attempts=_MOST_STARTS, grace_seconds=_GRACE_SECONDS, keeps_spare=True)
        )
        self.run_in(loop)
        self.device = device
        self._log = log
        self._timeout = timeout
        self.idle_seconds = 0.0
        """How long processes have waited for requests, as of the last answer; for any thread."""
        self._environment = environment

    def ask(self, task: Task) -> None:
        """Queue a task; its future gets the answer, or says why the launch cannot be opened."""
        if self._is_closing:
            task.future.set_exception(errors.InvalidArgument("the executor is shut down"))
            return
        if task.message[0] == "close" and self._child is None:
            task.future.set_result(None)  # nothing is open
            return
        self.start()
        self.send(Request(subject=task, message=task.message, seconds=self._timeout))

    def close(self, *, kill: bool = False) -> None:
        """End the process; tasks without an answer fail."""
        if kill:
            self._is_late = True  # no answer counts any more
            waiting = [request.subject for request in self._requests]
            self._requests.clear()
            self._stop_timer()
            for task in waiting:
                task.future.set_exception(errors.InvalidArgument("the executor is shut down"))
        super().close(kill=kill)

    def _child_spec(self) -> ChildSpec:
        return ChildSpec(
            command=_COMMAND,
            settings={"device": self.device},
            log=self._log,
            environment=self._environment,
        )

    def _on_ready(self, content: Any) -> None:  # noqa: ANN401 - the target
        del content

    def _on_answer(
        self,
        request: Request[Task],
        kind: str,
        content: Any,  # noqa: ANN401 - by the kind
    ) -> None:
        task = request.subject
        if kind == "unopened":
            self._unopened(task, *content)
            return
        if not task.is_replay:
            self._done(task, content if kind == "failed" else "")
            return
        if kind == "failed":
            result = self._failed(content)
        else:
            text, idle = content
            self.idle_seconds += idle
            result = ExperimentResult.from_dict(json.loads(text))
        # On the CPU device wrong code may have written into the process.
        if not result.device_usable or (self.device == "cpu" and not result.verified):
            self.replace()
        task.future.set_result(result)

    def _unopened(self, task: Task, kind: str, sentence: str) -> None:
        task.openings += 1
        if kind == errors.AddressUnavailable.__name__ and task.openings < _MOST_OPENINGS:
            self.replace()
            self.ask(task)
            return
        task.future.set_exception(getattr(errors, kind)(sentence))

    def _on_lost(self, request: Request[Task], code: int, *, is_late: bool) -> None:
        how = f"crashed (exit code: {code})"
        if is_late:
            how = f"timed out after {request.spent_seconds:.1f} s"
        sentence = f"Worker {how} running on device {self.device}"
        task = request.subject
        if task.future.done():
            return
        if task.is_replay:
            task.future.set_result(self._failed(sentence, died=True))
        else:
            self._done(task, sentence)

    @staticmethod
    def _done(task: Task, failure: str) -> None:
        """Answer a task that is not a replay; a process that ended has closed its launch, too."""
        if failure and task.message[0] == "open":
            task.future.set_exception(errors.DeviceFailed(failure))
        else:
            task.future.set_result(None)

    def _on_refusal(self, requests: list[Request[Task]], refusal: Refusal) -> None:
        sentence = (
            f"no process can measure on device {self.device}: {refusal.sentence}; see '{self._log}'"
        )
        for request in requests:
            request.subject.future.set_exception(errors.BackendUnavailable(sentence))

    def _on_gone(self) -> None:
        pass  # the executor looks for itself

    def _failed(self, sentence: str, *, died: bool = False) -> ExperimentResult:
        return ExperimentResult(
            failed=True,
            error=sentence,
            result_class="failed",
            device=self.device,
            worker_died=died,
        )
