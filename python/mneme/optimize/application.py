"""Runs the program that is to become faster, again and again, and keeps what it prints."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import re
import shutil
import signal
import stat
import subprocess
import sys
import termios
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from mneme.errors import InvalidArgument, NotFound
from mneme.optimize.groups import end_group, is_group_there, signal_group
from mneme.programs.guest import profile_environment, record_environment, run_environment
from mneme.programs.record_request import RecordRequest

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

__all__ = ["Application", "Run", "failure_of", "is_input_waiting", "unrecorded_reasons"]

_TAIL = 400
# What the recorder says in the end of a kernel with launches that it could not record.
_UNRECORDED = re.compile(rb"^mneme: kernel '(.+)':? (.+?)(?: \(\d+ times\))?$", re.MULTILINE)
_LONGEST_WITHOUT_HINT = 24 * 3600.0
# A tuned run may have to compile, and a machine may be busy: what takes longer than this hangs.
_PATIENCE = 5.0
_PATIENCE_SECONDS = 120.0
# A short budget has no such time, where one run that hangs would take many times all of it.
_PART_OF_BUDGET = 0.2
_LEAST_PATIENCE_SECONDS = 10.0
_SCRIPT_HINT = " (a script begins with a line such as #!/bin/sh, which names its interpreter)"
# A slow run goes for so long, then stops for so long, again and again.
_GOES_SECONDS = 0.005
_STOPS_SECONDS = 0.01


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One run of the program."""

    seconds: float
    """From its start to its end."""
    code: int
    """Exit code; negative: the signal that ended it."""
    output: bytes
    """What it wrote to standard output."""
    error: bytes
    """What it wrote to standard error."""
    is_hung: bool = False
    """Whether it was ended because it took much too long."""


def failure_of(run: Run, built: Run) -> str:
    """Return why a run went otherwise than the program as built; empty if it did not."""
    if run.is_hung:
        return f"it did not end within {run.seconds:.0f} s"
    if run.code != built.code:
        return f"it ended with {_how(run.code)}{_last_words(run)}"
    return ""


def unrecorded_reasons(run: Run) -> dict[str, str]:
    """Return why kernels were not recorded in a recorded run, by their names as in the source."""
    found = _UNRECORDED.findall(run.error)
    return {name.decode(errors="replace"): why.decode(errors="replace") for name, why in found}


def _how(code: int) -> str:
    if code >= 0:
        return f"exit code {code}"
    try:
        return signal.Signals(-code).name
    except ValueError:
        return f"signal {-code}"


def _last_words(run: Run) -> str:
    text = (run.error or run.output)[-_TAIL:].decode(errors="replace").strip()
    return f": {text.splitlines()[-1]}" if text else ""


class Application:
    """A program with its arguments, as it is, profiled, recorded or with tuned kernels."""

    def __init__(self, command: Sequence[str], device: str | None, scratch: Path) -> None:
        """Prepare.

        Args:
            command: The program and its arguments.
            device: Device to run on; None or "auto": the first that can.
            scratch: Directory for what runs leave behind; the first run makes it.

        Raises:
            NotFound: If there is no such program.
            InvalidArgument: If it cannot be executed.
        """
        self._command = list(command)
        self._device = device
        self._scratch = scratch
        self._longest = _LONGEST_WITHOUT_HINT
        self._patience = _PATIENCE_SECONDS
        self._groups: list[int] = []
        program = command[0]
        if shutil.which(program) is None:
            if os.sep in program and Path(program).exists():
                raise InvalidArgument(f"the program '{program}' cannot be executed")
            raise NotFound(f"the program '{program}' is not found")

    @property
    def program(self) -> str:
        """The program as the user named it."""
        return self._command[0]

    @property
    def device(self) -> str:
        """The device it runs on."""
        return self._environment({})["MNEME_DEVICE"]

    @property
    def leaves_running(self) -> bool:
        """Whether runs that are over have left something running, as far as that is in their group.

        What ends soon after the program is none of that: ask after another run.
        """
        return any(is_group_there(one) for one in self._groups)

    def give_up_after(self, seconds: float) -> None:
        """Say how long all runs together may take: one that takes as long is ended."""
        self._longest = min(seconds, _LONGEST_WITHOUT_HINT)
        patience = max(_LEAST_PATIENCE_SECONDS, _PART_OF_BUDGET * seconds)
        self._patience = min(patience, _PATIENCE_SECONDS)

    def expect(self, seconds: float) -> None:
        """Say how long a run takes, to know when one hangs."""
        self._longest = _PATIENCE * seconds + self._patience

    def run(
        self,
        *,
        tuned: Path | None = None,
        cache: Path | None = None,
        profile: Path | None = None,
        is_slow: bool = False,
        more_seconds: float = 0.0,
    ) -> Run:
        """Run it unrecorded.

        Args:
            tuned: Tuned-kernels file; None: as built.
            cache: Where tuned code is kept.
            profile: Directory for the times of its kernels; emptied first.
            is_slow: Let it take three times as long, so that times it prints are others.
            more_seconds: What it may take longer than others before it counts as hung.
        """
        variables = {} if tuned is None else {"PROTEUS_TUNED_KERNELS": str(tuned.resolve())}
        if cache is not None:
            variables["PROTEUS_CACHE_DIR"] = str(cache.resolve())
        environment = self._environment(variables)
        if profile is not None:
            shutil.rmtree(profile, ignore_errors=True)
            profile.mkdir(parents=True)
            environment = profile_environment(environment, profile)
        return self._start(environment, self._longest + more_seconds, is_slow=is_slow)

    def record(
        self, directory: Path, *, kernels: str | None, dims: str | None, launches: int
    ) -> Run:
        """Run it recorded; what is recorded, and how much, as `RecordRequest` says it."""
        request = RecordRequest(
            directory=directory,
            kernels=kernels,
            dims=dims,
            max_recordings=launches,
            device=self._device,
            program=self._command[0],
        )
        return self._start(record_environment(os.environ, request), self._longest)

    def _environment(self, variables: Mapping[str, str]) -> dict[str, str]:
        # What is tuned already is no measure for what we find.
        base = {key: value for key, value in os.environ.items() if key != "PROTEUS_TUNED_KERNELS"}
        return run_environment({**base, **variables}, self._device, self._command[0])

    def _start(
        self, environment: Mapping[str, str], longest: float, *, is_slow: bool = False
    ) -> Run:
        began = time.monotonic()
        with self._streams() as (output, error):
            with _input() as given, output.open("wb") as out, error.open("wb") as err:
                child = self._begin(environment, given, out, err)
                is_hung = False
                try:
                    watch = _Watch(child)
                    code = _wait(watch, longest, is_slow=is_slow)
                except subprocess.TimeoutExpired:
                    is_hung, code = True, end_group(child)
                except BaseException:
                    end_group(child)
                    raise
            self._groups.append(child.pid)
            return Run(
                seconds=watch.ended() - began,
                code=code,
                output=output.read_bytes(),
                error=error.read_bytes(),
                is_hung=is_hung,
            )

    @contextlib.contextmanager
    def _streams(self) -> Iterator[tuple[Path, Path]]:
        """Give each run files of its own: what it leaves running may still write into them."""
        self._scratch.mkdir(parents=True, exist_ok=True)
        streams = self._scratch / "stdout", self._scratch / "stderr"
        try:
            for stream in streams:
                stream.unlink(missing_ok=True)
            yield streams
        finally:
            for stream in streams:
                stream.unlink(missing_ok=True)

    def _begin(
        self, environment: Mapping[str, str], given: BinaryIO, out: BinaryIO, err: BinaryIO
    ) -> subprocess.Popen[bytes]:
        try:
            return subprocess.Popen(
                self._command,
                env=dict(environment),
                stdin=given,
                stdout=out,
                stderr=err,
                start_new_session=True,
            )
        except OSError as error:
            # A shell would take a script that names no interpreter for one of its own.
            hint = _SCRIPT_HINT if error.errno in (errno.ENOEXEC, errno.ENOENT) else ""
            raise InvalidArgument(
                f"the program '{self.program}' cannot be executed: {error.strerror}{hint}"
            ) from error


def is_input_waiting(descriptor: int = 0) -> bool:
    """Whether somebody has written into a pipe that programs are not given, since it ends."""
    try:
        if not stat.S_ISFIFO(os.fstat(descriptor).st_mode):
            return False
        waiting = fcntl.ioctl(descriptor, termios.FIONREAD, bytes(4))
    except OSError:
        return False
    return int.from_bytes(waiting, sys.byteorder) > 0


def _input() -> BinaryIO:
    """Open what each run reads: a file that is our standard input from its beginning, or nothing.

    A pipe or a terminal could be read only once.
    """
    try:
        is_file = stat.S_ISREG(os.fstat(0).st_mode)
    except OSError:
        is_file = False
    return Path("/dev/fd/0" if is_file else os.devnull).open("rb")


class _Watch:
    """Sees a program end at the moment it does.

    `Popen.wait` with a limit looks at growing intervals, of 50 ms in the end: a program of 30 ms
    took 16 or 32.
    """

    def __init__(self, child: subprocess.Popen[bytes]) -> None:
        self.child = child
        self._at = 0.0
        self._thread = threading.Thread(target=self._see, daemon=True)
        self._thread.start()

    def wait(self, seconds: float) -> int:
        """Return the exit code.

        Raises:
            subprocess.TimeoutExpired: If the program takes longer.
        """
        self._thread.join(max(0.0, seconds))
        if self._thread.is_alive():
            raise subprocess.TimeoutExpired(self.child.args, seconds)
        return self.child.wait()

    def ended(self) -> float:
        """Return when it ended, of the monotonic clock, once that is known."""
        self._thread.join()
        return self._at

    def _see(self) -> None:
        with contextlib.suppress(ChildProcessError):  # somebody else has its exit code already
            os.waitid(os.P_PID, self.child.pid, os.WEXITED | os.WNOWAIT)
        self._at = time.monotonic()


def _wait(watch: _Watch, longest: float, *, is_slow: bool) -> int:
    """Wait for the end of a program, which leads a group; a slow one is stopped again and again.

    Raises:
        subprocess.TimeoutExpired: If it takes longer.
    """
    end = time.monotonic() + longest
    while is_slow and time.monotonic() < end:
        with contextlib.suppress(subprocess.TimeoutExpired):
            return watch.wait(_GOES_SECONDS)
        try:
            signal_group(watch.child, signal.SIGSTOP)
            time.sleep(_STOPS_SECONDS)
        finally:
            signal_group(watch.child, signal.SIGCONT)
    return watch.wait(end - time.monotonic())
