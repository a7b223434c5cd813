"""The owner's side of the process in which trials run."""

from __future__ import annotations

import os
import pickle
import select
import signal
import subprocess
import sys
import time
from contextlib import suppress
from typing import IO, TYPE_CHECKING, Any

from mneme import errors
from mneme.measure.serving import LENGTH

if TYPE_CHECKING:
    from types import TracebackType

    from typing_extensions import Self

__all__ = ["ProcessLost", "TrialProcess"]

_COMMAND = "from mneme.trim.trial_worker import main; main()"
# A recorded address can be taken in one process and free in the next.
_MOST_OPENINGS = 3


class ProcessLost(Exception):  # noqa: N818 - what happened
    """The process has ended, or did not answer in time, and is gone."""


class TrialProcess:
    """A process that has one launch open. A context manager."""

    def __init__(self, record: str, record_id: str, device: str, log: IO[bytes]) -> None:
        """Start it and open the launch.

        Raises:
            MnemeError: If the launch cannot be opened.
            ProcessLost: If the process ends before.
        """
        self._settings = {"record": record, "record_id": record_id, "device": device}
        self._log = log
        self._process: subprocess.Popen[bytes] | None = None
        self.recorded = ""
        """The recorded configuration, as JSON."""
        self._start()

    def ask(self, name: str, *values: object, seconds: float | None = None) -> Any:  # noqa: ANN401
        """Call a method of the launch there.

        Args:
            name: As in `trial_worker`.
            values: Its arguments.
            seconds: How long to wait; None: as long as it takes.

        Raises:
            ProcessLost: If there is no answer.
            MnemeError: If the method raised one.
        """
        self._send(((name, *values), "", b""))
        answer = self._receive(seconds)
        if answer[0] == "failed":
            raise errors.DeviceFailed(answer[1])
        return answer[1]

    def close(self) -> None:
        """End the process."""
        process, self._process = self._process, None
        if process is None:
            return
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                with suppress(OSError):
                    pipe.close()
        process.wait()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def _start(self) -> None:
        for opening in range(_MOST_OPENINGS):
            self._spawn()
            kind, *content = self._receive(None)
            if kind == "ready":
                self.recorded = content[0]
                return
            self.close()
            is_last = opening == _MOST_OPENINGS - 1
            if content[0] != errors.AddressUnavailable.__name__ or is_last:
                raise getattr(errors, content[0], errors.MnemeError)(content[1])

    def _spawn(self) -> None:
        path = os.pathsep.join(entry for entry in sys.path if entry)
        self._process = subprocess.Popen(
            [sys.executable, "-c", _COMMAND],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            bufsize=0,
            env={**os.environ, "PYTHONPATH": path},
            # Interrupts of the terminal go to the parent only.
            start_new_session=True,
        )
        self._send({**self._settings, "parent": os.getpid()})

    def _send(self, message: object) -> None:
        if self._process is None or self._process.stdin is None:
            raise ProcessLost
        data = memoryview(pickle.dumps(message, pickle.HIGHEST_PROTOCOL))
        try:
            while data:
                data = data[self._process.stdin.write(data) or 0 :]
        except OSError:
            self.close()
            raise ProcessLost from None

    def _receive(self, seconds: float | None) -> Any:  # noqa: ANN401 - by the request
        ends = None if seconds is None else time.monotonic() + seconds
        head = self._read(LENGTH.size, ends)
        return pickle.loads(self._read(LENGTH.unpack(head)[0], ends))  # noqa: S301 - our child

    def _read(self, count: int, ends: float | None) -> bytes:
        process = self._process
        assert process is not None  # noqa: S101 - it was just sent something
        assert process.stdout is not None  # noqa: S101 - a pipe
        data = b""
        while len(data) < count:
            rest = None if ends is None else max(0.0, ends - time.monotonic())
            if not select.select([process.stdout], [], [], rest)[0]:
                self.close()
                raise ProcessLost
            got = process.stdout.read(count - len(data))
            if not got:
                self.close()
                raise ProcessLost
            data += got
        return data
