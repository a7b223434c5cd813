"""Processes that compile configurations into the cache that replays look into."""

from __future__ import annotations

import logging
import os
import tempfile
from collections import deque
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mneme.executors.child_process import ChildProcess, ChildSpec

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable, Hashable, Mapping

    from mneme.mneme_types import ExperimentConfiguration

__all__ = [
    "CodeTarget",
    "CompileAnswer",
    "CompilePool",
    "CompileRequest",
    "PoolSpec",
    "usable_cache_directory",
]

CodeTarget = tuple[str, tuple[tuple[str, int], ...]]
"""What code is made for: "sm_90"; names and addresses of globals that are compiled in."""

_COMMAND = "from mneme.executors.compile_worker import main; main()"
# How long a process may take to import Python modules and load LLVM from a slow file system.
_STARTUP_SECONDS = 120.0
_STARTUP_ATTEMPTS = 3
# Less would not show a file system or a quota that is full.
_PROBE_BYTES = 1 << 16
# Started before there is work for each.
_EAGER_WORKERS = 16
_GRACE_SECONDS = 5.0
_MEMORY = 1 << 16


def usable_cache_directory() -> Path | None:
    """Return the directory of the compile cache if images can be stored there, else None."""
    from mneme import _native  # noqa: PLC0415 - loads native code

    directory = _native.cache_directory()
    if not directory:
        return None
    try:
        with tempfile.TemporaryFile(dir=directory, buffering=0) as probe:
            probe.write(bytes(_PROBE_BYTES))
    except OSError:
        return None
    return Path(directory).absolute()


@dataclass(frozen=True, slots=True, kw_only=True)
class CompileRequest:
    """What one configuration needs compiled."""

    configuration: ExperimentConfiguration

    text: str
    """The configuration as JSON."""

    target: CodeTarget
    """What the device that will run it takes."""

    ir_number: int = 0
    """Number of the IR that replaces the recorded one; 0: none does."""

    ir: bytes = b""
    """The IR of that number."""

    def key(self) -> Hashable:
        """Return what differs wherever the code may differ, and for little else."""
        return (self.configuration.code_key(), self.target, self.ir_number)


@dataclass(frozen=True, slots=True)
class CompileAnswer:
    """What came of a request. Empty: nobody tried; whoever replays compiles by itself."""

    failure: str = ""
    """Why it cannot be compiled."""

    statistics: str = ""
    """JSON of the compiler."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolSpec:
    """What every compile worker of one pool has in common."""

    record_db: Path
    record_id: str
    log_directory: Path
    timeout: float
    """Seconds one compilation may take."""

    environment: Mapping[str, str] = field(default_factory=dict)
    """Added to that of this process."""


class _Compiler:
    """One compile worker and what it does."""

    def __init__(self, index: int) -> None:
        """Describe a worker without a process."""
        self.index = index
        self.child: ChildProcess | None = None
        self.is_ready = False
        self.failed_starts = 0
        self.sentence = ""
        self.key: Hashable = None
        self.ir_number = 0
        self.why_killed = ""
        self.timer: asyncio.TimerHandle | None = None

    def cancel_timer(self) -> None:
        if self.timer is not None:
            self.timer.cancel()
            self.timer = None


class CompilePool:
    """Compiles in up to `workers` processes. All calls come from the thread of its event loop.

    What was asked for before, or is being compiled, is not compiled again.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, spec: PoolSpec, workers: int) -> None:
        """Make a pool without processes."""
        self._loop = loop
        self._spec = spec
        self._workers = workers
        self._queue: deque[tuple[Hashable, CompileRequest]] = deque()
        self._waiting: dict[Hashable, list[Callable[[CompileAnswer], None]]] = {}
        self._known: dict[Hashable, CompileAnswer] = {}
        self._compilers: list[_Compiler] = []
        self._idle: list[_Compiler] = []
        self._is_closing = False
        self._on_closed: Callable[[], None] | None = None
        self.compiled = 0
        self.restarts = 0

    @property
    def pids(self) -> list[int]:
        """Process ids of the workers there are; for any thread."""
        return [one.child.pid for one in list(self._compilers) if one.child is not None]

    def prepare(self) -> None:
        """Start a few processes, as there will be something to compile."""
        for _ in range(len(self._compilers), min(self._workers, _EAGER_WORKERS)):
            self._add()

    def submit(self, request: CompileRequest, done: Callable[[CompileAnswer], None]) -> None:
        """Have something compiled; `done` is called later."""
        key = request.key()
        known = self._known.get(key)
        if known is not None or self._workers == 0:
            self._loop.call_soon(done, known or CompileAnswer())
        elif key in self._waiting:
            self._waiting[key].append(done)
        else:
            self._waiting[key] = [done]
            self._queue.append((key, request))
            self._dispatch()

    def close(self, on_closed: Callable[[], None], *, kill: bool = False) -> None:
        """End the processes; what they do is dropped. `on_closed` is called when they are gone."""
        self._is_closing = True
        self._on_closed = on_closed
        self._queue.clear()
        for one in self._compilers:
            if one.child is not None:
                one.child.finish()
                if kill or one.key is not None:
                    one.child.kill()
                else:
                    self._loop.call_later(_GRACE_SECONDS, one.child.kill)
        self._check_closed()

    def _check_closed(self) -> None:
        if self._on_closed is not None and not self.pids:
            on_closed, self._on_closed = self._on_closed, None
            self._loop.call_soon(on_closed)

    def _dispatch(self) -> None:
        while self._queue and self._idle:
            one = self._idle.pop()
            one.key, request = self._queue.popleft()
            is_new = request.ir_number != one.ir_number
            one.ir_number = request.ir_number
            assert one.child is not None  # noqa: S101 - idle ones have a process
            one.child.send(
                (request.text, request.target, request.ir_number, request.ir if is_new else b"")
            )
            one.timer = self._loop.call_later(self._spec.timeout, self._late, one)
        starting = sum(not one.is_ready for one in self._compilers) if self._queue else 0
        for _ in range(starting, min(len(self._queue), starting + self._room())):
            self._add()

    def _room(self) -> int:
        return self._workers - len(self._compilers)

    def _add(self) -> None:
        used = {one.index for one in self._compilers}
        one = _Compiler(next(i for i in range(len(used) + 1) if i not in used))
        self._compilers.append(one)
        self._start(one)

    def _start(self, one: _Compiler) -> None:
        spec = self._spec
        settings = {
            "parent": os.getpid(),
            "record": str(spec.record_db),
            "record_id": spec.record_id,
        }
        one.is_ready, one.ir_number, one.why_killed = False, 0, ""
        child = ChildSpec(
            command=_COMMAND,
            settings=settings,
            log=self._log(one),
            environment=spec.environment,
        )
        try:
            one.child = ChildProcess(
                self._loop,
                child,
                lambda _, message: self._answered(one, message),
                lambda _, code: self._ended(one, code),
            )
        except OSError as error:
            one.sentence = str(error)
            one.failed_starts = _STARTUP_ATTEMPTS
            self._loop.call_soon(self._ended, one, -1)
            return
        one.timer = self._loop.call_later(_STARTUP_SECONDS, self._late, one)

    def _log(self, one: _Compiler) -> Path:
        return self._spec.log_directory / f"Compiler-{one.index}.log"

    def _answered(self, one: _Compiler, message: tuple[str, Any]) -> None:
        kind, text = message
        one.cancel_timer()
        if kind == "broken":
            one.sentence, one.failed_starts = text, _STARTUP_ATTEMPTS
            return
        key, one.key = one.key, None
        self._idle.append(one)
        if kind == "ready":
            one.is_ready, one.failed_starts = True, 0
        else:
            self.compiled += kind == "done"
            answer = CompileAnswer("", text) if kind == "done" else CompileAnswer(text)
            if len(self._known) >= _MEMORY:
                self._known.clear()
            self._known[key] = answer
            self._finish(key, answer)
        self._dispatch()

    def _finish(self, key: Hashable, answer: CompileAnswer) -> None:
        for done in self._waiting.pop(key, ()):
            done(answer)

    def _late(self, one: _Compiler) -> None:
        one.timer = None
        if one.child is None:
            return
        one.sentence = f"no answer within {_STARTUP_SECONDS:g} s"
        one.why_killed = f"Compiling took longer than {self._spec.timeout:g} s"
        if one in self._idle:
            self._idle.remove(one)
        one.child.kill()

    def _ended(self, one: _Compiler, code: int) -> None:
        one.cancel_timer()
        one.child = None
        if one in self._idle:
            self._idle.remove(one)
        if self._is_closing:
            self._check_closed()
            return
        key, one.key = one.key, None
        if one.is_ready:
            self.restarts += 1
            if key is not None:
                how = f"signal {-code}" if code < 0 else f"exit code {code}"
                crash = (
                    f"The compiler crashed ({how}) on this configuration; see '{self._log(one)}'"
                )
                self._finish(key, CompileAnswer(one.why_killed or crash))
        else:
            one.failed_starts += 1
            one.sentence = one.sentence or f"it ended with exit code {code}"
        if one.failed_starts >= _STARTUP_ATTEMPTS:
            self._give_up(one)
        else:
            self._start(one)
        self._dispatch()

    def _give_up(self, one: _Compiler) -> None:
        """Do without a worker; without the last one, whoever replays compiles."""
        self._workers = len(self._compilers) - 1
        self._compilers.remove(one)
        logging.getLogger("mneme").warning(
            "a compile worker does not start, so configurations are compiled %s: %s; see '%s'",
            "by fewer of them" if self._workers else "where they run",
            one.sentence,
            self._log(one),
        )
        if self._workers == 0:
            self._queue.clear()
            for key in list(self._waiting):
                self._finish(key, CompileAnswer())
