"""The work of a pool's process for a `FuturesReplayExecutor`.

Each process keeps the recording open in a child process: a kernel or a compiler that crashes or
hangs ends that child, never the pool's process.
"""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import os
import sys
import tempfile
import threading
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import mneme
from mneme.devices import device_by_number, device_limits, list_devices
from mneme.errors import BackendUnavailable, MnemeError
from mneme.files.scratch import ScratchDirectory
from mneme.measure.async_executor import AsyncReplayExecutor
from mneme.measure.eval_future import results_of
from mneme.measure.sent_errors import sends_errors
from mneme.measure.sent_recordings import (
    digest_of,
    find_sent,
    remove_killed,
    remove_sent,
    sent_name,
)
from mneme.mneme_types import ExperimentConfiguration, ExperimentResult
from mneme.recording.configured import configured
from mneme.recording.recorded_execution import RecordedExecution
from mneme.recording.records import find_instance

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mneme.measure.measuring import Measuring
    from mneme.measure.tolerance import Tolerance

__all__ = [
    "LacksRecording",
    "RefusedProcess",
    "RemoteSpec",
    "UnfitProcess",
    "UnknownProcess",
    "admit",
    "end_search",
    "evaluate",
    "examine",
    "hold",
    "model_here",
    "place_here",
    "why_not_replayed",
]

# A process that cannot measure waits this long, so that tasks come to others meanwhile.
_PAUSE_SECONDS = 0.5
_HOLD_SECONDS = 2.0
# A search that was killed cannot say that it has ended: what nothing uses for so long is closed,
# since it occupies memory of a GPU. What is used again is opened again.
_IDLE_SECONDS = 600.0
_IDLE_POLL_SECONDS = 30.0
_USUAL = ExperimentResult().to_dict()


class UnfitProcess(BackendUnavailable):
    """A process of a pool that cannot measure, whatever the configuration; names its host."""


class LacksRecording(UnfitProcess):
    """A process that could measure if it had the recording."""


class RefusedProcess(UnfitProcess):
    """A process that could measure, but is not to: another one takes what it was given."""


class UnknownProcess(UnfitProcess):
    """A process that joined and was not looked at yet: another one takes what it was given."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoteSpec:
    """Settings shared by all configurations of an executor."""

    record_db: str
    record_id: str | None
    iterations: int
    warmup: int
    tolerances: tuple[Tolerance, ...]
    measuring: Measuring | None
    timeout: float | None
    device: str | None
    log_directory: str | None
    digest: str = ""
    """The digest of the record file; empty: any file of that name is meant."""
    sender: str = ""
    """The search that may have sent the recording to this machine; empty: none."""
    model: str = ""
    """The vendor's name of the device that measures; empty: any."""
    generation: int = 0
    """How often the recording was opened anew."""
    compile_workers: int = 0
    """Processes that compile ahead for one that measures; 0: as many as Dask gives it threads,
    but one core is left to measuring."""
    refused: frozenset[str] = field(default=frozenset(), compare=False)
    """The places of processes that are not to measure, as `place_here` names them; what is open
    stays open when they change."""
    is_for_admitted: bool = field(default=False, compare=False)
    """Whether only processes measure that `admit` was called in, for this sender."""


@dataclass(slots=True)
class _Opened:
    """An executor of this process."""

    executor: AsyncReplayExecutor
    logs: ScratchDirectory | None
    ir: bytes = b""
    users: int = 0
    used: float = field(default_factory=time.monotonic)
    """When something used it last."""

    def close(self, *, cancel: bool = False) -> None:
        self.executor.shutdown(cancel=cancel)
        if self.logs is not None:
            self.logs.cleanup()


@dataclass(slots=True)
class _Process:
    """The state of this process."""

    pid: int = field(default_factory=os.getpid)
    lock: threading.Lock = field(default_factory=threading.Lock)
    opened: dict[RemoteSpec, _Opened] = field(default_factory=dict)
    admitted: set[str] = field(default_factory=set)
    device: str | None = None
    claim: IO[bytes] | None = None
    is_watched: bool = False
    """Whether a thread closes what nothing uses."""


_process = _Process()


@sends_errors
def examine(spec: RemoteSpec, version: str, number: int) -> dict[str, Any]:
    """Return the fields of this process's `PoolProcess` as plain values.

    Args:
        spec: What it is to open.
        version: The version of mneme that asks.
        number: Unique per call.

    Raises:
        UnfitProcess: If it cannot measure.
    """
    del number
    if mneme.__version__ != version:
        raise _unfit(f"has mneme {mneme.__version__}, not {version}")
    remove_killed(keep=spec.sender)
    try:
        path, record_id = find_instance(_record_file(spec), spec.record_id)
        RecordedExecution.from_json(path).get(record_id)
        process = _this_process()
        with process.lock:
            device = spec.device or _claim_device(process)
            limits = device_limits(device)
    except LacksRecording:
        raise
    except MnemeError as error:
        raise _unfit(str(error)) from error
    return {
        "host": os.uname().nodename,
        "pid": os.getpid(),
        "limits": asdict(limits),
        "cores": sorted(os.sched_getaffinity(0)),
        "unusable": {} if spec.device or device != "cpu" else _unusable_devices(),
    }


def _unusable_devices() -> dict[str, str]:
    """Return why there is no GPU, by vendor."""
    return {one.id: one.why_unavailable for one in list_devices() if not one.is_available}


@sends_errors
def admit(sender: str) -> None:
    """Let this process measure for a search, which has looked at it."""
    _this_process().admitted.add(sender)


async def why_not_replayed(spec: RemoteSpec) -> str:
    """Return why the launch does not replay here as recorded; empty if it does."""
    return await asyncio.to_thread(_why_not_replayed, spec)


def _why_not_replayed(spec: RemoteSpec) -> str:
    process = _this_process()
    try:
        with process.lock:
            device = spec.device or _claim_device(process)
        file = _record_file(spec)
        record = RecordedExecution.from_json(file)
        config = configured(record, record.get(str(spec.record_id)))
        with (
            ScratchDirectory("logs") as logs,
            AsyncReplayExecutor(
                *(file, spec.record_id, 1, logs, 1, 0),
                device=device,
                timeout=spec.timeout,
                tolerances=spec.tolerances,
                compile_workers=0,
            ) as executor,
        ):
            (result,) = results_of([executor.submit(config)])
    except (MnemeError, OSError) as error:
        return str(error)
    return "" if result.verified else result.error or "the result is wrong"


def end_search(sender: str) -> None:
    """Close what this process has opened for a search, and remove what was sent for it."""
    process = _this_process()
    process.admitted.discard(sender)
    with process.lock:
        for spec in [one for one in process.opened if one.sender == sender]:
            process.opened.pop(spec).close(cancel=True)
    remove_sent(sender)


def hold(spec: RemoteSpec, number: int) -> None:
    """Keep a process that is not to measure busy, so that others take what comes next."""
    del number
    if place_here() in spec.refused:
        time.sleep(_HOLD_SECONDS)


def place_here() -> str:
    """Return the name of this process in its cluster."""
    return f"{os.uname().nodename}:{os.getpid()}"


@sends_errors
def model_here(device: str | None) -> str:
    """Return the vendor's name of the device on which this process measures.

    Args:
        device: As in `RemoteSpec`.
    """
    process = _this_process()
    with process.lock:
        return device_limits(device or _claim_device(process)).name


def _record_file(spec: RemoteSpec) -> str:
    """Return the record file here: at its own place, or where it was sent."""
    is_there = Path(spec.record_db).is_file()
    if is_there and spec.digest in ("", digest_of(spec.record_db)):
        return spec.record_db
    for is_part in (False, True) if spec.sender else ():
        name = sent_name(spec.digest, spec.record_id, is_part=is_part)
        if sent := find_sent(spec.sender, name, spec.record_db):
            return str(sent)
    what = "is another recording" if is_there else "does not exist"
    raise LacksRecording(f"{os.uname().nodename}: '{spec.record_db}' {what} there")


def _unfit(why: str) -> UnfitProcess:
    return UnfitProcess(f"{os.uname().nodename}: {why}")


@sends_errors
def evaluate(
    spec: RemoteSpec,
    number: int,
    configurations: Sequence[dict[str, Any]],
    ir: bytes,
    options: dict[str, Any],
) -> dict[str, Any]:
    """Evaluate configurations in this process, in turn.

    Returns the name of this host, "host", of this process, "place", the results as plain values,
    "results", and how long all took, "seconds".

    Args:
        spec: What to open.
        number: Unique per configuration, so that schedulers never treat two calls as equal.
        configurations: For each the fields of `ExperimentConfiguration`.
        ir: Replaces the recorded IR unless empty.
        options: Keywords of `AsyncReplayExecutor.submit`.

    Raises:
        UnfitProcess: If the recording cannot be opened here.
        RefusedProcess: If this process is not to measure.
        UnknownProcess: If nobody has looked at this process.
        MnemeError: If it cannot be replayed at all.
    """
    if spec.is_for_admitted and spec.sender not in _this_process().admitted:
        raise UnknownProcess(f"{os.uname().nodename}: was not looked at")
    if place_here() in spec.refused:
        time.sleep(_PAUSE_SECONDS)
        raise RefusedProcess(f"{os.uname().nodename}: is not to measure")
    del number
    began = time.monotonic()
    process = _this_process()
    with process.lock:
        try:
            opened = _open(process, spec)
        except (MnemeError, OSError) as error:  # such as a disk that is full
            time.sleep(_PAUSE_SECONDS)
            raise _unfit(str(error)) from error
        if ir != opened.ir:
            opened.executor.set_ir(ir or None)
            opened.ir = ir
        submit = opened.executor.submit
        futures = [
            submit(ExperimentConfiguration.from_dict(one), **options) for one in configurations
        ]
        opened.users += 1  # what cannot be submitted occupies nothing
    try:
        results = results_of(futures)
    finally:
        with process.lock:
            opened.users -= 1
            opened.used = time.monotonic()
    plain = [_plain(result) for result in results]
    seconds = time.monotonic() - began
    told = {"host": os.uname().nodename, "place": place_here()}
    return {**told, "results": plain, "seconds": seconds}


def _plain(result: ExperimentResult) -> dict[str, Any]:
    """Return what differs from a result that says nothing: it is sent for each configuration."""
    return {name: one for name, one in result.to_dict().items() if one != _USUAL[name]}


def _this_process() -> _Process:
    global _process  # noqa: PLW0603 - one for each process
    if _process.pid != os.getpid():  # a fork has none of its parent's threads
        _process = _Process()
    return _process


def _open(process: _Process, spec: RemoteSpec) -> _Opened:
    if spec in process.opened:
        return process.opened[spec]
    for other in [other for other, opened in process.opened.items() if opened.users == 0]:
        process.opened.pop(other).close()
    logs = None
    if spec.log_directory is None:
        logs = ScratchDirectory("logs")
    try:
        device = spec.device or _claim_device(process)
        _check_model(spec, device)
        helpers = spec.compile_workers or _helpers_of(_threads_of_process())
        executor = AsyncReplayExecutor(
            _record_file(spec),
            spec.record_id,
            spec.iterations,
            _log_directory(spec.log_directory) if logs is None else logs.name,
            1,
            spec.warmup,
            device=device,
            timeout=spec.timeout,
            tolerances=spec.tolerances,
            measuring=spec.measuring,
            compile_workers=helpers if device != "cpu" else 0,
        )
    except BaseException:
        if logs is not None:
            logs.cleanup()
        raise
    process.opened[spec] = _Opened(executor, logs)
    if not process.is_watched:
        process.is_watched = True
        threading.Thread(target=_close_idle, args=[process], name="mneme-idle", daemon=True).start()
    # What compiles starts while the recording is opened and the first configuration is measured.
    executor.prepare()
    return process.opened[spec]


def _close_idle(process: _Process) -> None:
    while True:
        time.sleep(_IDLE_POLL_SECONDS)
        with process.lock:
            latest = time.monotonic() - _IDLE_SECONDS
            idle = [one for one, at in process.opened.items() if not at.users and at.used < latest]
            for spec in idle:
                with contextlib.suppress(Exception):  # nobody is there to hear of it
                    process.opened.pop(spec).close(cancel=True)


def _check_model(spec: RemoteSpec, device: str) -> None:
    model = device_limits(device).name
    if spec.model not in ("", model):
        raise BackendUnavailable(f"measures on {model}, the others on {spec.model}")


def _helpers_of(threads: int) -> int:
    """Return how many processes compile ahead for a process that has so many threads.

    One of the cores is left to the process that measures.
    """
    return max(1, min(threads, len(os.sched_getaffinity(0)) - 1)) if threads > 1 else 0


def _threads_of_process() -> int:
    """Return how many tasks the scheduler gives this process at a time, within such a task.

    0 if unknown.
    """
    distributed = sys.modules.get("distributed")
    try:
        return 0 if distributed is None else int(distributed.get_worker().state.nthreads)
    except ValueError:  # this is not one of Dask's
        return 0


def _log_directory(parent: str | None) -> Path:
    directory = Path(parent or ".") / f"{os.uname().nodename}-{os.getpid()}"
    directory.mkdir(parents=True, exist_ok=True)
    return directory


def _claim_device(process: _Process) -> str:
    """Return a device that no other such process on this machine uses, or the first one."""
    if process.device is None:
        process.device = os.environ.get("MNEME_DEVICE") or device_by_number(0)
        gpus = [one.id for one in list_devices() if one.is_available and one.id != "cpu"]
        if process.device in gpus and "MNEME_DEVICE" not in os.environ:
            for name in gpus:
                if _lock(process, name):
                    process.device = name
                    break
    return process.device


def _lock(process: _Process, device: str) -> bool:
    name = f"mneme-{os.getuid()}-{device.replace(':', '-')}.lock"
    try:
        # Other users can guess the name: do not follow links, and do not wait for pipes.
        flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
        claim = os.fdopen(os.open(Path(tempfile.gettempdir()) / name, flags, 0o600), "rb")
    except OSError:
        return False
    try:
        fcntl.flock(claim, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        claim.close()
        return False
    process.claim = claim  # held as long as the process lives
    return True
