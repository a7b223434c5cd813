"""Runs the program to optimize, repeatedly, and keeps its output."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import math
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
from mneme.process_groups import end_group, is_group_there, signal_group
from mneme.programs.guest import profile_environment, record_environment, run_environment
from mneme.programs.record_request import RecordRequest

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

__all__ = [
    "Application",
    "Disturbance",
    "Run",
    "failure_of",
    "is_input_waiting",
    "refused_launches",
    "unrecorded_reasons",
]

_TAIL = 400
# The recorder's final message about a kernel with launches that it could not record.
_UNRECORDED = re.compile(rb"^mneme: kernel '(.+)':? (.+?)( \(\d+ times\))?$", re.MULTILINE)
# Its message about a graph that it leaves whole, which names no kernels.
_GRAPH = re.compile(
    rb"^mneme: (a graph was launched whose kernels are not recorded: .+?)( \(\d+ times\))?$",
    re.MULTILINE,
)
_REFUSED = "its launch was refused"
_LONGEST_WITHOUT_HINT = 24 * 3600.0
# A run that takes longer than this many times the usual hangs: a tuned run may have to compile, and
# the machine may be busy.
_PATIENCE = 5.0
_PATIENCE_SECONDS = 120.0
# Limit for a short budget, of which a single hanging run would take many times the whole.
_PART_OF_BUDGET = 0.2
_LEAST_PATIENCE_SECONDS = 10.0
_SCRIPT_HINT = " (a script begins with a line such as #!/bin/sh, which names its interpreter)"
# A slow run alternates between running and stopping for these times.
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Disturbance:
    """A way to make a run slower without changing what it computes."""

    is_stopped: bool = False
    """Whether it is stopped for moments, so that it takes three times as long."""
    delays: Path | None = None
    """File with the delays of launches (runtime/jit/rt/rt_launch.h)."""


_UNDISTURBED = Disturbance()


def failure_of(run: Run, built: Run) -> str:
    """Return how a run ended differently from the program as built; empty if it did not."""
    if run.is_hung:
        return f"it did not end within {run.seconds:.0f} s"
    if run.code != built.code:
        return f"it ended with {_how(run.code)}{_last_words(run)}"
    return ""


def unrecorded_reasons(run: Run) -> dict[str, str]:
    """Return why kernels were not recorded in a recorded run, by their names as in the source.

    What may be the reason for any kernel has an empty name.
    """
    reasons = {}
    if graph := _GRAPH.search(run.error):
        reasons[""] = graph[1].decode(errors="replace")
    for found in _UNRECORDED.finditer(run.error):
        name, why, times = (part.decode(errors="replace") for part in found.groups(b""))
        reasons[name] = why + (times if _REFUSED in why else "")
    return reasons


def refused_launches(reasons: Mapping[str, str]) -> str:
    """Return which kernels the device did not launch, and why; empty if none."""
    return "; ".join(f"kernel '{name}' {why}" for name, why in reasons.items() if _REFUSED in why)


def _how(code: int) -> str:
    if code >= 0:
        return f"exit code {code}"
    try:
        return signal.Signals(-code).name
    except ValueError:
        return f"signal {-code}"


def _last_words(run: Run) -> str:
    text = (run.error or run.output)[-_TAIL:].decode(errors="replace").strip()
    lines = text.splitlines()
    # Not the rule below a table.
    words = next((one for one in reversed(lines) if any(map(str.isalnum, one))), text)
    return f": {words.strip()}" if text else ""


class Application:
    """A program with its arguments, run as built, profiled, recorded or with tuned kernels."""

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
    def command(self) -> Sequence[str]:
        """The program and its arguments."""
        return self._command

    @property
    def device(self) -> str:
        """The device it runs on."""
        return self._environment({})["MNEME_DEVICE"]

    @property
    def leaves_running(self) -> bool:
        """Whether finished runs have left processes of their group running.

        Processes that end soon after the program do not count: ask after another run.
        """
        return any(is_group_there(one) for one in self._groups)

    def give_up_after(self, seconds: float) -> None:
        """Limit the total time of all runs: a run that exceeds it is ended."""
        self._longest = min(seconds, _LONGEST_WITHOUT_HINT)
        patience = max(_LEAST_PATIENCE_SECONDS, _PART_OF_BUDGET * seconds)
        self._patience = min(patience, _PATIENCE_SECONDS)

    def expect(self, seconds: float) -> None:
        """Set the usual time of a run, to detect hanging ones."""
        self._longest = _PATIENCE * seconds + self._patience

    def run(  # noqa: PLR0913 - all that a run may be
        self,
        *,
        tuned: Path | None = None,
        cache: Path | None = None,
        profile: Path | None = None,
        disturbed: Disturbance = _UNDISTURBED,
        more_seconds: float = 0.0,
        at_most: float = math.inf,
    ) -> Run:
        """Run it unrecorded.

        Args:
            tuned: Tuned-kernels file; None: run as built.
            cache: Where tuned code is kept.
            profile: Directory for the times of its kernels; emptied first.
            disturbed: What makes it slower.
            more_seconds: Additional time before it counts as hung.
            at_most: Time limit in any case.
        """
        variables = {} if tuned is None else {"PROTEUS_TUNED_KERNELS": str(tuned.resolve())}
        if cache is not None:
            variables["PROTEUS_CACHE_DIR"] = str(cache.resolve())
        if disturbed.delays is not None:
            variables["MNEME_DELAYS"] = str(disturbed.delays.resolve())
        environment = self._environment(variables)
        if profile is not None:
            shutil.rmtree(profile, ignore_errors=True)
            profile.mkdir(parents=True)
            environment = profile_environment(environment, profile)
        longest = min(self._longest + more_seconds, at_most)
        return self._start(environment, longest, is_slow=disturbed.is_stopped)

    def record(
        self, directory: Path, *, kernels: str | None, dims: str | None, launches: int
    ) -> Run:
        """Run it recorded; `RecordRequest` describes the arguments."""
        request = RecordRequest(
            directory=directory,
            kernels=kernels,
            dims=dims,
            max_recordings=launches,
            sections=False,
            device=self._device,
            program=self._command[0],
        )
        return self._start(record_environment(os.environ, request), self._longest)

    def _environment(self, variables: Mapping[str, str]) -> dict[str, str]:
        # Kernels that are tuned already cannot show what our search gains.
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
        """Give each run its own files: processes it leaves running may still write there."""
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
            # A shell would run a script without an interpreter line as its own.
            hint = _SCRIPT_HINT if error.errno in (errno.ENOEXEC, errno.ENOENT) else ""
            raise InvalidArgument(
                f"the program '{self.program}' cannot be executed: {error.strerror}{hint}"
            ) from error


def is_input_waiting(descriptor: int = 0) -> bool:
    """Whether there is input in a pipe; runs do not get it, because it could be read only once."""
    try:
        if not stat.S_ISFIFO(os.fstat(descriptor).st_mode):
            return False
        waiting = fcntl.ioctl(descriptor, termios.FIONREAD, bytes(4))
    except OSError:
        return False
    return int.from_bytes(waiting, sys.byteorder) > 0


def _input() -> BinaryIO:
    """Open the input of each run: our standard input from its begin if it is a file, or nothing.

    A pipe or a terminal could be read only once.
    """
    try:
        is_file = stat.S_ISREG(os.fstat(0).st_mode)
    except OSError:
        is_file = False
    return Path("/dev/fd/0" if is_file else os.devnull).open("rb")


class _Watch:
    """Notices the end of a program immediately.

    `Popen.wait` with a limit polls at growing intervals of up to 50 ms: a program of 30 ms took 16
    or 32.
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
        """Return the monotonic time of its end, once known."""
        self._thread.join()
        return self._at

    def _see(self) -> None:
        with contextlib.suppress(ChildProcessError):  # somebody else has its exit code already
            os.waitid(os.P_PID, self.child.pid, os.WEXITED | os.WNOWAIT)
        self._at = time.monotonic()


def _wait(watch: _Watch, longest: float, *, is_slow: bool) -> int:
    """Wait for the end of a program, which leads a group; stop a slow one repeatedly.

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
