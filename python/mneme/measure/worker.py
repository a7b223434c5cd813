"""The life of a process that answers requests: start, ready, request, answer, deadline, end."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from mneme.measure.child import ChildProcess
from mneme.measure.content import Kept

if TYPE_CHECKING:
    import asyncio

    from mneme.measure.child import ChildSpec
    from mneme.measure.content import Content

__all__ = ["Lifecycle", "Refusal", "Request", "Worker"]

_SECONDS_AFTER_FAILED_START = 0.05
Subject = TypeVar("Subject")


@dataclass(frozen=True, slots=True, kw_only=True)
class Lifecycle:
    """The differences between kinds of workers."""

    attempts: int
    """Number of processes in a row that may end before they are ready, until the worker gives
    up."""

    start_seconds: float | None = None
    """Time limit for getting ready; None: no limit."""

    grace_seconds: float
    """Time limit for ending by itself."""

    keeps_spare: bool = False
    """Whether to keep a spare process ready once one had to be replaced."""


@dataclass(eq=False, slots=True, kw_only=True)
class Request(Generic[Subject]):
    """A request to a process."""

    subject: Subject
    """The subject of the request; it is not sent."""

    message: object
    content: Content | None = None
    """Sent with the message to a process that does not have it."""

    seconds: float | None
    """Time limit for the answer, from when the process starts on it; None: no limit."""

    spent_seconds: float = 0.0
    """The time it took, once there is an answer or none will come."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a process cannot start."""

    kind: str
    """Name of the `MnemeError` that it raised; empty if it just ended."""

    sentence: str

    @property
    def may_pass(self) -> bool:
        """Whether another process may succeed: with an address, it may."""
        return self.kind in {"", "AddressUnavailable"}


class Worker(ABC, Generic[Subject]):
    """One process at a time, which is replaced when it dies. Calls come from its loop's thread.

    Requests after one that kills the process go to its replacement. A spare process is kept only
    once a process was replaced: on a GPU a process takes long to end and to start, and two may not
    fit into its memory.
    """

    def __init__(self, lifecycle: Lifecycle) -> None:
        """Describe a worker without a process; call `attach` before `start`."""
        self.is_ready = False
        self.restarts = 0
        self._lifecycle = lifecycle
        self._child: ChildProcess | None = None
        self._spare: ChildProcess | None = None
        self._spare_answer: tuple[Any, ...] | None = None
        self._retired: set[ChildProcess] = set()
        self._requests: deque[Request[Subject]] = deque()
        self._kept = Kept()
        self._failed_starts = 0
        self._refusal: Refusal | None = None
        self._is_late = False
        self._keeps_spare = lifecycle.keeps_spare
        self._waits_for_room = False
        self._is_closing = False
        self._head_since = 0.0
        self._longest_seconds = 0.0
        self._timer: asyncio.TimerHandle | None = None

    def run_in(self, loop: asyncio.AbstractEventLoop) -> None:
        """Set the event loop."""
        self._loop = loop

    # Messages from and to a kind of worker.

    @abstractmethod
    def _child_spec(self) -> ChildSpec:
        """Return the process to start now."""

    @abstractmethod
    def _on_ready(self, content: Any) -> None:  # noqa: ANN401 - the kind's own
        """The process is ready, with this content."""

    @abstractmethod
    def _on_answer(self, request: Request[Subject], kind: str, content: Any) -> None:  # noqa: ANN401
        """The oldest request has its answer."""

    @abstractmethod
    def _on_lost(self, request: Request[Subject], code: int, *, is_late: bool) -> None:
        """The process ended during a request, by itself or because it took too long."""

    @abstractmethod
    def _on_refusal(self, requests: list[Request[Subject]], refusal: Refusal) -> None:
        """No process can be started; `requests` are those that were waiting."""

    @abstractmethod
    def _on_gone(self) -> None:
        """After `close`: a process has ended."""

    # What an owner sees and asks.

    @property
    def pid(self) -> int | None:
        """Process id, None while there is no process; for any thread."""
        child = self._child or next(iter((*self._retired, self._spare)), None)
        return child.pid if child is not None else None

    @property
    def spare_pid(self) -> int | None:
        """Process id of the spare process; may be called by any thread."""
        spare = self._spare
        return spare.pid if spare is not None else None

    @property
    def load(self) -> int:
        """The number of requests without an answer."""
        return len(self._requests)

    def start(self) -> None:
        """Start a process unless there is one."""
        if self._child is not None or self._is_closing:
            return
        self._refusal, self._is_late, self._kept = None, False, Kept()
        if self._spare is not None and self._keeps_spare:
            self._child, self._spare = self._spare, None
            answer, self._spare_answer = self._spare_answer, None
            if answer is not None:
                self._answered(self._child, answer)
            return
        try:
            self._child = self._new_process()
        except OSError as error:
            self._refusal = Refusal("BackendUnavailable", str(error))
            self._loop.call_soon(self._not_started, -1)
            return
        if self._lifecycle.start_seconds is not None:
            self._timer = self._loop.call_later(self._lifecycle.start_seconds, self._late)

    def send(self, request: Request[Subject]) -> None:
        """Send a request to the process once it is ready and has answered earlier requests."""
        self._requests.append(request)
        if self.is_ready:
            self._deliver(request)
            if len(self._requests) == 1:
                self._begin_head()

    def end_hanging(self, least_seconds: float, factor: float) -> None:
        """End the process if a request takes this long and much longer than all before.

        Args:
            least_seconds: Smallest time of an ended request.
            factor: Smallest ratio to the longest answer.
        """
        is_at_it = self.is_ready and bool(self._requests) and not self._is_late
        limit = max(least_seconds, factor * self._longest_seconds)
        if is_at_it and self._longest_seconds and time.monotonic() - self._head_since > limit:
            self._stop_timer()
            self._late()

    def replace(self) -> None:
        """Replace a process that cannot be used any more."""
        assert self._child is not None  # noqa: S101 - it has just answered
        self._stop_timer()
        self._child.kill()
        self._retired.add(self._child)
        self._child, self.is_ready = None, False
        self.restarts += not self._is_closing
        self.start()

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
            self._loop.call_later(self._lifecycle.grace_seconds, self._child.kill)

    # How a process is asked.

    def _deliver(self, request: Request[Subject]) -> None:
        assert self._child is not None  # noqa: S101 - ready ones have a process
        name, data = b"", b""
        if request.content is not None:
            name = request.content.name
            data = b"" if self._kept.use(request.content) else request.content.data
        self._child.send((request.message, name, data))

    def _begin_head(self) -> None:
        self._head_since = time.monotonic()
        if self._requests and (seconds := self._requests[0].seconds) is not None:
            self._timer = self._loop.call_later(max(0.0, seconds), self._late)

    def _end_head(self) -> Request[Subject]:
        self._stop_timer()
        request = self._requests.popleft()
        request.spent_seconds = time.monotonic() - self._head_since
        return request

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _late(self) -> None:
        self._timer = None
        self._is_late = True
        if self._child is not None:
            self._child.kill()

    # What a process says.

    def _answered(self, child: ChildProcess, message: tuple[Any, ...]) -> None:
        kind, *content = message
        if child is self._spare:
            self._spare_answer = message
            self._keeps_spare = kind == "ready"  # no room for two, for example
        if child is not self._child or self._is_late:
            return
        if kind == "ready":
            self._began(content[0])
        elif kind == "broken":
            self._refusal = Refusal(content[0], content[1])
        elif self.is_ready:
            request = self._end_head()
            self._longest_seconds = max(self._longest_seconds, request.spent_seconds)
            self._begin_head()
            self._on_answer(request, kind, content[0])

    def _began(self, content: Any) -> None:  # noqa: ANN401 - the kind's own
        self._stop_timer()
        self.is_ready, self._failed_starts = True, 0
        for request in self._requests:
            self._deliver(request)
        self._begin_head()
        if self.restarts:  # and only now, so that the two do not compete for memory
            self._start_spare()
        self._on_ready(content)

    # How a process ends, and what comes after it.

    def _ended(self, child: ChildProcess, code: int) -> None:
        if child is not self._child:
            self._forget(child)
            return
        self._stop_timer()
        self._child = None
        was_ready, self.is_ready = self.is_ready, False
        if not was_ready:
            self._not_started(code)
            return
        self.restarts += not self._is_closing
        lost, is_late = None, self._is_late
        if self._requests:
            lost = self._end_head()
        self.start()
        if lost is not None:
            self._on_lost(lost, code, is_late=is_late)
        if self._is_closing:
            self._on_gone()

    def _new_process(self) -> ChildProcess:
        return ChildProcess(self._loop, self._child_spec(), self._answered, self._ended)

    def _start_spare(self) -> None:
        if self._spare is None and self._keeps_spare and not self._is_closing:
            try:
                self._spare = self._new_process()
            except OSError:
                self._keeps_spare = False

    def _forget(self, child: ChildProcess) -> None:
        """Note the end of a process that was replaced, or not yet needed."""
        self._retired.discard(child)
        if child is self._spare:
            self._spare = self._spare_answer = None
        if self._waits_for_room:
            self._waits_for_room = False
            self.start()
        if self._is_closing:
            self._on_gone()

    def _not_started(self, code: int) -> None:
        self._failed_starts += 1
        if self._is_closing:
            self._on_gone()
            return
        refusal = self._refusal or Refusal("", self._why_not_ready(code))
        if refusal.kind == "OutOfMemory" and (self._retired or self._spare is not None):
            self._waits_for_room, self._keeps_spare = True, False  # those still have it
            if self._spare is not None:
                self._spare.kill()
        elif refusal.may_pass and self._failed_starts < self._lifecycle.attempts:
            self._loop.call_later(_SECONDS_AFTER_FAILED_START * self._failed_starts, self.start)
        else:
            self._failed_starts = 0
            waiting = list(self._requests)
            self._requests.clear()
            self._on_refusal(waiting, refusal)

    def _why_not_ready(self, code: int) -> str:
        if self._is_late:
            return f"no answer within {self._lifecycle.start_seconds:g} s"
        return f"it ended with exit code {code}"
