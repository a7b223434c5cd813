"""One worker process as its owner sees it: started, asked, replaced when it dies."""

from __future__ import annotations

import multiprocessing
import os
from collections import deque
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from typing import TYPE_CHECKING, Any

from mneme import errors
from mneme.mneme_types import ExperimentConfiguration, ExperimentResult
from mneme.tune_worker import TuneWorker

if TYPE_CHECKING:
    from multiprocessing.context import SpawnProcess
    from pathlib import Path

__all__ = ["CodeTarget", "TuneWorkerHandle", "WorkerSpec"]

CodeTarget = tuple[str, list[tuple[str, int]]]
"""What code is made for: "sm_90"; names and addresses of globals that are compiled in."""


class _Pipe:
    """A connection with the two verbs of a queue."""

    def __init__(self, connection: Connection[Any, Any]) -> None:
        """Wrap one end of a pipe."""
        self._connection = connection

    def get(self) -> Any:  # noqa: ANN401 - whatever was put
        """Wait for the next object."""
        return self._connection.recv()

    def put(self, item: Any) -> None:  # noqa: ANN401
        """Hand an object over."""
        self._connection.send(item)


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerSpec:
    """What every worker of one executor has in common."""

    record_db: Path
    record_id: str
    iterations: int
    warmup: int
    results_db_dir: Path
    max_startup_failures: int
    """Processes that may die before the first answer until the worker gives up."""

    timeout: float | None
    """Seconds one evaluation may take, compiling included; None for no limit."""

    environment: dict[str, str] = field(default_factory=dict)
    """Added to that of this process."""

    options: dict[str, Any] = field(default_factory=dict)
    """Further keywords of `BaseExecutor`."""


class TuneWorkerHandle:
    """Owns one worker process, pinned to one device. One thread at a time."""

    def __init__(self, index: int, device: str, spec: WorkerSpec) -> None:
        """Describe a worker; its process starts with the first evaluation."""
        self.index = index
        self.device = device
        self._spec = spec
        self._process: SpawnProcess | None = None
        self._connection: Connection[Any, Any] | None = None
        self._target: CodeTarget = ("", [])
        self._sent: deque[tuple[Any, ...]] = deque()
        self._is_killed = False
        self._delivered = 0  # of those sent, oldest first, to the process there is

    @property
    def pid(self) -> int | None:
        """Process id, None while there is no process."""
        return self._process.pid if self._process else None

    def start(self) -> CodeTarget:
        """Have the recording open in a process, and return what code has to be made for.

        Raises:
            MnemeError: If the worker cannot be started.
        """
        self._ready()
        return self._target

    def evaluate(
        self, job_id: int, ir: bytes | None, config: ExperimentConfiguration
    ) -> ExperimentResult:
        """Have one configuration evaluated; see `send` and `receive`."""
        self.send(job_id, ir, config)
        return self.receive()

    def send(
        self,
        job_id: int,
        ir: bytes | None,
        config: ExperimentConfiguration,
        overrides: dict[str, Any] | None = None,
    ) -> None:
        """Give the worker something to do after what it does now.

        Raises:
            MnemeError: If the worker cannot be started; the configuration is not kept.
        """
        self._sent.append((job_id, ir, config.to_dict(), overrides or {}))
        try:
            with suppress(EOFError, OSError):  # receive() finds that out again
                self._deliver()
        except BaseException:
            self._sent.pop()
            raise

    def receive(self) -> ExperimentResult:
        """Return the result of the oldest configuration; a dead or late worker gives a failed one.

        Configurations sent after one that costs the worker its process, or leaves its device
        unusable, go to the process that replaces it.

        Raises:
            MnemeError: If the worker cannot be started; the configuration is not kept.
        """
        try:
            self._deliver()
            answer = self._receive(self._spec.timeout)
            self._delivered -= answer is not None
        except (EOFError, OSError):
            return self.failed(
                f"Worker crashed (exit code: {self._reap()}) running on device {self.device}"
            )
        finally:
            self._sent.popleft()
        if answer is None:
            self._reap(kill=True)
            return self.failed(
                f"Worker timed out after {self._spec.timeout} s running on device {self.device}"
            )
        result = ExperimentResult.from_dict(answer[2])
        if not result.device_usable:
            # The next configuration gets a process in which the device works again.
            self._reap(kill=True)
        return result

    def _deliver(self) -> None:
        """Hand what was sent to the process; one that died of it is not replaced here."""
        connection = self._connection if self._delivered else self._ready()
        if connection is None:
            raise EOFError
        for job in list(self._sent)[self._delivered :]:
            connection.send(job)
            self._delivered += 1

    def failed(self, error: str) -> ExperimentResult:
        """Return the result of a configuration that did not run."""
        return ExperimentResult(
            failed=True, error=error, result_class="failed", gpu_id=self.index, device=self.device
        )

    def kill(self) -> None:
        """End the process whatever it does, and start no other; for any thread."""
        self._is_killed = True
        process = self._process
        if process is not None:
            with suppress(ValueError):  # closed meanwhile
                process.kill()

    def close(self) -> None:
        """Ask the process to end and wait for it."""
        if self._connection is not None:
            with suppress(OSError):
                self._connection.send(None)
            if self._process is not None:
                self._process.join(timeout=10)
        self._reap(kill=True)

    def _ready(self) -> Connection[Any, Any]:
        """Return the connection to a process that has opened the recording."""
        if self._process is not None and not self._process.is_alive():
            # Ended while it had nothing to do: no configuration is to blame.
            self._reap()
        if self._is_killed:
            raise errors.InvalidArgument("the executor was shut down before this ran")
        sentence = ""
        for _ in range(max(1, self._spec.max_startup_failures)):
            if self._connection is not None:
                return self._connection
            self._start()
            try:
                answer = self._receive(None)
            except (EOFError, OSError):
                sentence = f"it ended with exit code {self._reap()}"
                continue
            if answer is not None and answer[0] == "ready":
                self._target = answer[1]
                continue
            kind, sentence = answer[1:] if answer else ("InternalError", "no answer")
            self._reap()
            # An address may be free in the next process; nothing else gets better by trying again.
            if kind != "AddressUnavailable":
                raise getattr(errors, kind)(sentence)
        if self._connection is not None:
            return self._connection
        raise errors.BackendUnavailable(
            f"worker {self.index} on device {self.device} cannot start: {sentence}; "
            f"see '{self._spec.results_db_dir / f'Worker-{self.index}.log'}'"
        )

    def _start(self) -> None:
        context = multiprocessing.get_context("spawn")
        self._connection, theirs = context.Pipe()
        channel = _Pipe(theirs)
        spec = self._spec
        self._process = context.Process(
            target=TuneWorker.run,
            args=(channel, channel, spec.record_db, spec.record_id, self.index, spec.iterations),
            kwargs={
                "results_db_dir": spec.results_db_dir,
                "warmup": spec.warmup,
                "device": self.device,
                "environment": spec.environment,
                "parent": os.getpid(),
                **spec.options,
            },
            name=f"mneme-worker-{self.index}",
            daemon=True,
        )
        self._process.start()
        theirs.close()

    def _receive(self, timeout: float | None) -> Any:  # noqa: ANN401 - a tuple, or None when late
        if self._connection is None or self._process is None:
            raise EOFError
        ready = wait([self._connection, self._process.sentinel], timeout)
        if not ready:
            return None
        if self._connection in ready:
            return self._connection.recv()
        raise EOFError

    def _reap(self, *, kill: bool = False) -> int | None:
        """Forget the process and return its exit code."""
        self._delivered = 0
        process, self._process = self._process, None
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()
        if process is None:
            return None
        if kill and process.is_alive():
            process.kill()
        process.join()
        code = process.exitcode
        process.close()
        return code
