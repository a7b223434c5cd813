"""Processes that compile configurations into the cache that replays read."""

from __future__ import annotations

import logging
import tempfile
from collections import deque
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from mneme.code_texts import present_plugins
from mneme.measure.child import ChildSpec
from mneme.measure.worker import Lifecycle, Refusal, Request, Worker

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable, Hashable, Mapping

    from mneme.measure.content import Content
    from mneme.mneme_types import ExperimentConfiguration

__all__ = [
    "CodeTarget",
    "CompileAnswer",
    "CompilePool",
    "CompileRequest",
    "Launch",
    "PoolSpec",
    "usable_cache_directory",
]

CodeTarget = tuple[str, tuple[tuple[str, int], ...] | None]
"""Target of code: "sm_90"; names and addresses of globals compiled in, None: as recorded."""

Launch = tuple[str, str]
"""Path of a record and id of a launch in it."""

_COMMAND = "from mneme.measure.compile_worker import main; main()"
# Fewer bytes would not detect a full file system or quota.
_PROBE_BYTES = 1 << 16
# Number of processes started before there is work for each.
_EAGER_WORKERS = 16
_LIFECYCLE = Lifecycle(
    attempts=3,
    # Enough to import Python modules and load LLVM from a slow file system.
    start_seconds=120.0,
    grace_seconds=5.0,
)
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
    """The compilation that a configuration needs."""

    configuration: ExperimentConfiguration

    text: str
    """The configuration as JSON."""

    target: CodeTarget
    """The target of the device that will run it."""

    ir: Content | None = None
    """Replaces the recorded IR."""

    launch: Launch | None = None
    """What is compiled; None: the launch of the pool."""

    wants_texts: bool = False
    """Return the final IR and assembly, too."""

    def key(self) -> Hashable:
        """Return a key that differs whenever the code may differ, and rarely otherwise."""
        plugins = self.configuration.pass_plugins
        contents = present_plugins(plugins) if plugins else ""
        code = self.configuration.code_key()
        return (code, contents, self.target, self.ir, self.launch, self.wants_texts)


@dataclass(frozen=True, slots=True)
class CompileAnswer:
    """The result of a request. Empty: not compiled; the replaying worker compiles by itself."""

    failure: str = ""
    """The reason if it cannot be compiled."""

    statistics: str = ""
    """The compiler's statistics as JSON."""

    ir: str = ""
    """Final IR, if requested."""

    assembly: str = ""
    """Final assembly, if requested."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolSpec:
    """Settings shared by all compile workers of a pool."""

    launch: Launch | None
    """What most requests are for; None: each names its own."""

    log_directory: Path
    timeout: float
    """Time limit of one compilation in seconds."""

    environment: Mapping[str, str] = field(default_factory=dict)
    """Added to that of this process."""


class _Compiler(Worker["Hashable"]):
    """One compile worker; its pool handles its events."""

    def __init__(self, pool: CompilePool, index: int) -> None:
        """Describe a worker without a process."""
        super().__init__(_LIFECYCLE)
        self.index = index
        self._pool = pool

    @property
    def log(self) -> Path:
        """What the process prints."""
        return self._pool.spec.log_directory / f"Compiler-{self.index}.log"

    def _child_spec(self) -> ChildSpec:
        spec = self._pool.spec
        return ChildSpec(
            command=_COMMAND,
            settings={"launch": spec.launch},
            log=self.log,
            environment=spec.environment,
        )

    def _on_ready(self, content: object) -> None:
        del content
        self._pool.compiler_ready(self)

    def _on_answer(
        self, request: Request[Hashable], kind: str, content: str | tuple[str, str, str]
    ) -> None:
        del kind  # a failure is a sentence
        if isinstance(content, str):
            answer = CompileAnswer(failure=content)
        else:
            statistics, ir, assembly = content
            answer = CompileAnswer(statistics=statistics, ir=ir, assembly=assembly)
        self._pool.compiler_answered(self, request.subject, answer)

    def _on_lost(self, request: Request[Hashable], code: int, *, is_late: bool) -> None:
        how = f"signal {-code}" if code < 0 else f"exit code {code}"
        sentence = f"The compiler crashed ({how}) on this configuration; see '{self.log}'"
        if is_late:
            sentence = f"Compiling took longer than {self._pool.spec.timeout:g} s"
        self._pool.compiler_lost(request.subject, sentence)

    def _on_refusal(self, requests: list[Request[Hashable]], refusal: Refusal) -> None:
        del requests  # none is sent to a worker that is not ready
        self._pool.compiler_broken(self, refusal.sentence)

    def _on_gone(self) -> None:
        self._pool.compiler_gone()


class CompilePool:
    """Compiles in up to `workers` processes. All calls come from the thread of its event loop.

    Requests that are finished or running are not compiled again.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, spec: PoolSpec, workers: int) -> None:
        """Make a pool without processes."""
        self.spec = spec
        self._loop = loop
        self._workers = workers
        self._queue: deque[tuple[Hashable, CompileRequest]] = deque()
        self._waiting: dict[Hashable, list[Callable[[CompileAnswer], None]]] = {}
        self._known: dict[Hashable, CompileAnswer] = {}
        self._compilers: list[_Compiler] = []
        self._idle: dict[_Compiler, None] = {}  # the last one was busy last
        self._on_closed: Callable[[], None] | None = None
        self._is_closing = False
        self._restarts_of_broken = 0
        self.compiled = 0

    @property
    def restarts(self) -> int:
        """How many processes were replaced."""
        return self._restarts_of_broken + sum(one.restarts for one in list(self._compilers))

    @property
    def pids(self) -> list[int]:
        """Process ids of the present workers; may be called by any thread."""
        return [pid for one in list(self._compilers) if (pid := one.pid) is not None]

    def prepare(self) -> None:
        """Start a few processes before there is work."""
        for _ in range(len(self._compilers), min(self._workers, _EAGER_WORKERS)):
            self._add()

    def submit(self, request: CompileRequest, done: Callable[[CompileAnswer], None]) -> None:
        """Compile a request; `done` is called later."""
        key = request.key()
        known = self._known.get(key)
        if known is not None or self._workers == 0 or self._is_closing:
            self._loop.call_soon(done, known or CompileAnswer())
        elif key in self._waiting:
            self._waiting[key].append(done)
        else:
            self._waiting[key] = [done]
            self._queue.append((key, request))
            self._dispatch()

    def close(self, on_closed: Callable[[], None], *, kill: bool = False) -> None:
        """End the processes and drop their work; `on_closed` is called when they are gone."""
        self._is_closing = True
        self._on_closed = on_closed
        self._queue.clear()
        for one in self._compilers:
            one.close(kill=kill or one.load > 0)
        self.compiler_gone()

    # Messages from workers.

    def compiler_ready(self, one: _Compiler) -> None:
        """A worker has started and is idle."""
        self._idle[one] = None
        self._dispatch()

    def compiler_answered(self, one: _Compiler, key: Hashable, answer: CompileAnswer) -> None:
        """Keep the answer, for this and later equal requests."""
        self._idle[one] = None
        self.compiled += not answer.failure
        if len(self._known) >= _MEMORY:
            self._known.clear()
        if not answer.ir:  # texts are large
            self._known[key] = answer
        self._finish(key, answer)
        self._dispatch()

    def compiler_lost(self, key: Hashable, sentence: str) -> None:
        """Finish a request that will get no answer."""
        if not self._is_closing:
            self._finish(key, CompileAnswer(failure=sentence))

    def compiler_broken(self, one: _Compiler, sentence: str) -> None:
        """Continue without a compiler; when none is left, the replaying workers compile."""
        self._workers = len(self._compilers) - 1
        self._compilers.remove(one)
        self._restarts_of_broken += one.restarts
        self._idle.pop(one, None)
        logging.getLogger("mneme").warning(
            "a compile worker does not start, so configurations are compiled %s: %s; see '%s'",
            "by fewer workers" if self._workers else "where they run",
            sentence,
            one.log,
        )
        if self._workers == 0:
            self._queue.clear()
            for key in list(self._waiting):
                self._finish(key, CompileAnswer())

    def compiler_gone(self) -> None:
        """Note that a process has ended."""
        if self._on_closed is not None and not self.pids:
            on_closed, self._on_closed = self._on_closed, None
            self._loop.call_soon(on_closed)

    def _dispatch(self) -> None:
        while self._queue and self._idle:
            one, _ = self._idle.popitem()
            if not one.is_ready:  # it ended meanwhile, and will say when it is ready again
                continue
            key, request = self._queue.popleft()
            message = (request.text, request.target, request.launch, request.wants_texts)
            one.send(
                Request(subject=key, message=message, content=request.ir, seconds=self.spec.timeout)
            )
        starting = sum(not one.is_ready for one in self._compilers) if self._queue else 0
        room = self._workers - len(self._compilers)
        for _ in range(starting, min(len(self._queue), starting + room)):
            self._add()

    def _add(self) -> None:
        used = {one.index for one in self._compilers}
        one = _Compiler(self, next(i for i in range(len(used) + 1) if i not in used))
        one.run_in(self._loop)
        self._compilers.append(one)
        one.start()

    def _finish(self, key: Hashable, answer: CompileAnswer) -> None:
        for done in self._waiting.pop(key, ()):
            done(answer)
