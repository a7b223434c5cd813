"""Processes that compile configurations into the cache that replays look into."""

from __future__ import annotations

import json
import logging
import os
import pickle
import queue
import select
import signal
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from mneme._worker_process import CodeTarget

__all__ = ["CompilePool", "CompileRequest", "PoolSpec", "usable_cache_directory"]

_COMMAND = "from mneme._compile_worker import main; main()"
# Of a process that imports Python modules and loads LLVM, from a slow file system.
_STARTUP_SECONDS = 120.0
_STARTUP_ATTEMPTS = 3
# Less would not show a file system or a quota that is full.
_PROBE_BYTES = 1 << 16
# Started before there is work for each.
_EAGER_WORKERS = 16
# From the end of its answers to its exit code.
_LAST_WORDS_SECONDS = 5.0


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

    configuration: Mapping[str, Any]
    """The fields of `ExperimentConfiguration`."""

    target: CodeTarget
    """Of the device that will run it."""

    ir: bytes | None = None
    """Replaces the recorded IR."""

    def key(self) -> str:
        """Return a text that differs wherever the code may differ, and for little else."""
        relevant = dict(self.configuration)
        del relevant["shared_mem"]
        if not relevant["specialize_dims"]:
            del relevant["grid"]
            if not relevant["set_launch_bounds"]:
                del relevant["block"]
        if not relevant["set_launch_bounds"]:
            del relevant["max_threads"], relevant["min_blocks_per_sm"]
        return repr((relevant, self.target, self.ir))


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


class _CompileProcess:
    """Owns one compile worker. One thread at a time; `kill` from any."""

    def __init__(self, index: int, spec: PoolSpec) -> None:
        """Describe a worker; its process starts with the first compilation."""
        self._spec = spec
        self._log = spec.log_directory / f"Compiler-{index}.log"
        self._process: subprocess.Popen[bytes] | None = None
        self._rest = b""
        self._is_broken = False

    @property
    def pid(self) -> int | None:
        """Process id, None while there is no process."""
        process = self._process
        return process.pid if process is not None else None

    def compile(self, request: CompileRequest) -> str:
        """Compile into the cache; return why it cannot be done, or nothing.

        A worker that cannot start returns nothing: who replays compiles by itself then.
        """
        process = self.start()
        if process is None or process.stdin is None:
            return ""
        text = json.dumps(request.configuration)
        try:
            pickle.dump((text, request.target, request.ir), process.stdin)
            process.stdin.flush()
            kind, sentence = self._answer(self._spec.timeout)
        except TimeoutError:
            self._end()
            return f"Compiling took longer than {self._spec.timeout:g} s"
        except (EOFError, OSError, ValueError):
            code = self._end(_LAST_WORDS_SECONDS)
            how = f"signal {-code}" if code < 0 else f"exit code {code}"
            return f"The compiler crashed ({how}) on this configuration; see '{self._log}'"
        return sentence if kind == "failed" else ""

    def start(self) -> subprocess.Popen[bytes] | None:
        """Return the process, started if there is none; None if it does not start."""
        sentence = ""
        for _ in range(_STARTUP_ATTEMPTS):
            if self._is_broken:
                return None
            if self._process is not None and self._process.poll() is None:
                return self._process
            self._end()
            try:
                self._spawn()
                kind, sentence = self._answer(_STARTUP_SECONDS)
            except (EOFError, OSError, ValueError) as error:
                code = self._end(_LAST_WORDS_SECONDS)
                sentence = str(error) or f"it ended with exit code {code}"
                continue
            if kind == "ready":
                return self._process
            break
        self._end()
        self._is_broken = True
        logging.getLogger("mneme").warning(
            "a compile worker does not start, so configurations are compiled where they run: %s; "
            "see '%s'",
            sentence,
            self._log,
        )
        return None

    def kill(self) -> None:
        """End the process whatever it does, and its assembler with it."""
        process = self._process
        if process is not None and process.returncode is None:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)

    def close(self) -> None:
        """End the process and wait for it."""
        self._is_broken = True
        self._end()

    def _spawn(self) -> None:
        spec = self._spec
        settings = {
            "parent": os.getpid(),
            "record": str(spec.record_db),
            "record_id": spec.record_id,
        }
        path = os.pathsep.join(entry for entry in sys.path if entry)
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-c", _COMMAND, json.dumps(settings)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                env={**os.environ, **spec.environment, "PYTHONPATH": path},
                # A group of its own: interrupts of the terminal are its parent's, and it can be
                # killed with the assembler it runs.
                start_new_session=True,
            )
        self._rest = b""

    def _answer(self, timeout: float) -> tuple[str, str]:
        """Wait for a line.

        Raises:
            TimeoutError: If it does not come in time.
            EOFError: If the process ends without.
        """
        if self._process is None or self._process.stdout is None:
            raise EOFError
        descriptor = self._process.stdout.fileno()
        poll = select.poll()
        poll.register(descriptor, select.POLLIN)
        deadline = time.monotonic() + timeout
        while b"\n" not in self._rest:
            left = deadline - time.monotonic()
            if left <= 0 or not poll.poll(left * 1000):
                raise TimeoutError(f"no answer within {timeout:g} s")
            chunk = os.read(descriptor, 1 << 16)
            if not chunk:
                raise EOFError
            self._rest += chunk
        line, _, self._rest = self._rest.partition(b"\n")
        kind, sentence = json.loads(line)
        return kind, sentence

    def _end(self, grace: float = 0.0) -> int:
        """Kill the process unless it ends within `grace` seconds, and return its exit code."""
        process = self._process
        if process is None:
            return 0
        with suppress(subprocess.TimeoutExpired):
            process.wait(grace)
        self.kill()
        code = process.wait()
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                with suppress(OSError):
                    stream.close()
        self._process = None
        return code


class CompilePool:
    """Compiles in up to `workers` processes. Thread-safe.

    A few start with the first request, while the device is being opened; others as they are needed.

    What is asked for twice while it is compiled is compiled once.
    """

    def __init__(self, spec: PoolSpec, workers: int) -> None:
        """Make a pool without processes."""
        self._spec = spec
        self._workers = workers
        self._lock = threading.Lock()
        self._queue: queue.SimpleQueue[tuple[str, CompileRequest] | None] = queue.SimpleQueue()
        self._running: dict[str, list[Callable[[str], None]]] = {}
        self._processes: list[_CompileProcess] = []
        self._threads: list[threading.Thread] = []

    @property
    def pids(self) -> list[int]:
        """Process ids of the workers there are."""
        return [process.pid for process in self._processes if process.pid is not None]

    def submit(self, request: CompileRequest, done: Callable[[str], None]) -> None:
        """Have something compiled; `done` is called with why it cannot be, or nothing.

        The call comes from a thread of the pool.
        """
        key = request.key()
        with self._lock:
            if key in self._running:
                self._running[key].append(done)
                return
            self._running[key] = [done]
            self._queue.put((key, request))
            wanted = min(self._workers, max(len(self._running), _EAGER_WORKERS))
            for _ in range(len(self._threads), wanted):
                self._add_worker()

    def close(self, *, kill: bool = False) -> None:
        """Finish what is asked for, or with `kill` drop it, and end the processes."""
        with self._lock:
            threads, processes = list(self._threads), list(self._processes)
        if kill:
            with suppress(queue.Empty):
                while True:
                    self._queue.get_nowait()
        for _ in threads:
            self._queue.put(None)
        if kill:
            for process in processes:
                process.kill()
        for thread in threads:
            thread.join()

    def _add_worker(self) -> None:
        process = _CompileProcess(len(self._processes), self._spec)
        thread = threading.Thread(target=self._serve, args=(process,), daemon=True)
        self._processes.append(process)
        self._threads.append(thread)
        thread.start()

    def _serve(self, process: _CompileProcess) -> None:
        process.start()
        while (item := self._queue.get()) is not None:
            key, request = item
            sentence = ""
            try:
                sentence = process.compile(request)
            finally:
                with self._lock:
                    waiting = self._running.pop(key)
                for done in waiting:
                    done(sentence)
        process.close()
