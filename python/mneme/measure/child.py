"""A process and the pipes to it, in the owner's event loop."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import dataclass, field
from typing import IO, TYPE_CHECKING, Any

from mneme.measure.serving import LENGTH

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable, Mapping
    from pathlib import Path

__all__ = ["ChildProcess", "ChildSpec"]

_CHUNK = 1 << 16
# Time from the end of its answers to its exit code.
_LAST_WORDS_SECONDS = 5.0
_SECONDS_BETWEEN_LOOKS = 0.005


@dataclass(frozen=True, slots=True, kw_only=True)
class ChildSpec:
    """The process to start."""

    command: str
    """Python source; it calls `mneme.measure.serving.serve`."""

    settings: Mapping[str, Any]
    """The keyword arguments of the function that opens the served object."""

    log: Path
    """Its output is appended to this file."""

    environment: Mapping[str, str] = field(default_factory=dict)
    """Added to that of this process."""


class ChildProcess:
    """One process. All calls come from the thread of its event loop; nothing here waits."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        spec: ChildSpec,
        on_message: Callable[[ChildProcess, Any], None],
        on_exit: Callable[[ChildProcess, int], None],
    ) -> None:
        """Start the process.

        Args:
            loop: The event loop for callbacks.
            spec: The process to start.
            on_message: Receives every answer.
            on_exit: Receives the exit code after the process has ended and its last answer.

        Raises:
            OSError: If no process can be started.
        """
        self._loop = loop
        self._on_message = on_message
        self._on_exit = on_exit
        self._process = _start(spec)
        self.pid = self._process.pid
        assert self._process.stdin is not None  # noqa: S101 - both are pipes
        assert self._process.stdout is not None  # noqa: S101
        self._in: IO[bytes] = self._process.stdin
        self._out: IO[bytes] = self._process.stdout
        self._unsent = bytearray()
        self._received = bytearray()
        self._ends_at = 0.0
        os.set_blocking(self._in.fileno(), False)
        os.set_blocking(self._out.fileno(), False)
        loop.add_reader(self._out.fileno(), self._readable)
        self.send({**spec.settings, "parent": os.getpid()})

    def send(self, message: object) -> None:
        """Send a message; it is lost if the process ends before reading it."""
        data = pickle.dumps(message, pickle.HIGHEST_PROTOCOL)
        if self._in.closed:
            return
        if not self._unsent:
            with suppress(BlockingIOError):
                try:
                    data = data[os.write(self._in.fileno(), data) :]
                except BrokenPipeError:
                    return
            if not data:
                return
            self._loop.add_writer(self._in.fileno(), self._writable)
        self._unsent += data

    def kill(self) -> None:
        """Kill the process and its assembler; may be called by any thread."""
        if self._process.returncode is None:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self.pid, signal.SIGKILL)

    def finish(self) -> None:
        """Let the process end when it has answered everything."""
        self._close_input()

    def _readable(self) -> None:
        try:
            data = os.read(self._out.fileno(), _CHUNK)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self._loop.remove_reader(self._out.fileno())
            self._out.close()
            self._ends_at = time.monotonic() + _LAST_WORDS_SECONDS
            self._await_exit()
            return
        buffer = self._received
        buffer += data
        while len(buffer) >= LENGTH.size:
            end = LENGTH.size + LENGTH.unpack_from(buffer)[0]
            if len(buffer) < end:
                break
            message = pickle.loads(memoryview(buffer)[LENGTH.size : end].tobytes())  # noqa: S301
            del buffer[:end]
            self._on_message(self, message)

    def _writable(self) -> None:
        try:
            del self._unsent[: os.write(self._in.fileno(), self._unsent)]
        except BlockingIOError:
            return
        except OSError:
            self._unsent.clear()
        if not self._unsent:
            self._loop.remove_writer(self._in.fileno())

    def _close_input(self) -> None:
        if self._in.closed:
            return
        self._loop.remove_writer(self._in.fileno())
        self._unsent.clear()
        with suppress(OSError):
            self._in.close()

    def _await_exit(self) -> None:
        code = self._process.poll()
        if code is None:
            if time.monotonic() > self._ends_at:
                self.kill()
            self._loop.call_later(_SECONDS_BETWEEN_LOOKS, self._await_exit)
            return
        self._close_input()
        self._on_exit(self, code)


def _start(spec: ChildSpec) -> subprocess.Popen[bytes]:
    path = os.pathsep.join(entry for entry in sys.path if entry)
    with spec.log.open("ab") as log:
        return subprocess.Popen(
            [sys.executable, "-c", spec.command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            bufsize=0,
            env={**os.environ, **spec.environment, "PYTHONPATH": path},
            # Its own group: interrupts of the terminal go to the parent only, and it can be killed
            # together with its assembler.
            start_new_session=True,
        )
