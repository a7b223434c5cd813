"""Replays launches of many recordings: processes of a device go from recording to recording.

Starting a GPU takes longer than measuring most kernels, so a process keeps it and opens one launch
after the other. Where a device has two processes, the next launch is opened in one while the other
one measures. Code is compiled ahead, in other processes, into the cache that replays read.
"""

from __future__ import annotations

import asyncio
import os
import threading
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mneme.devices import choose_device, device_limits, list_devices
from mneme.errors import BackendUnavailable, InvalidArgument
from mneme.files.scratch import ScratchDirectory
from mneme.measure.compile_pool import (
    CompileAnswer,
    CompilePool,
    CompileRequest,
    PoolSpec,
    usable_cache_directory,
)
from mneme.measure.interpreter_settings import quick_switches
from mneme.measure.measuring import Measuring
from mneme.measure.replay_executor import options_text
from mneme.measure.suite_process import SuiteProcess, Task

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import TracebackType

    from typing_extensions import Self

    from mneme.measure.compile_pool import Launch
    from mneme.measure.tolerance import Tolerance
    from mneme.mneme_types import ExperimentConfiguration, ExperimentResult

__all__ = ["SuiteExecutor", "SuiteOptions", "devices_to_use"]

_CPU = "cpu"
_END_SECONDS = 20.0


def devices_to_use(wanted: str | None = None) -> list[str]:
    """Return the devices that measure: wanted ones, else all GPUs, else the CPU device.

    Args:
        wanted: Their names, divided by commas. The CPU device may be named more than once: then
            several processes measure on it, which disturb each other.

    Raises:
        InvalidArgument: If no device has a wanted name, if a GPU is named twice, or if code for
            one is not code for another.
        BackendUnavailable: If one is not available; the message says why.
    """
    named = wanted or os.environ.get("MNEME_DEVICE", "")
    if named:
        devices = [choose_device(name.strip()) for name in named.split(",") if name.strip()]
        if not devices:
            raise InvalidArgument(f"--device is '{named}', which names no device")
        _check_together(devices)
        return devices
    first = choose_device()
    if first == _CPU:
        return [first]
    family = first.partition(":")[0]
    return [
        one.id for one in list_devices() if one.is_available and one.id.partition(":")[0] == family
    ]


def _check_together(devices: Sequence[str]) -> None:
    for device in devices:
        if device != _CPU and devices.count(device) > 1:
            raise InvalidArgument(f"--device names {device} twice; a GPU measures one at a time")
    targets = {device: device_limits(device).target for device in devices}
    if len(set(targets.values())) > 1:
        texts = ", ".join(f"{device} ({target})" for device, target in targets.items())
        raise InvalidArgument(f"code for one of these devices is not for all: {texts}")


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteOptions:
    """How launches are replayed."""

    iterations: int = 3
    """Measured launches."""

    warmup: int = 2
    """Launches before those."""

    tolerances: Sequence[Tolerance] = ()
    """Allowed differences from the recorded memory."""

    measuring: Measuring = field(default_factory=lambda: Measuring(in_series=True))
    """How launches are measured."""

    timeout: float | None = None
    """Seconds that one replay may take; None: 1000 times the recorded time a launch, at least 60
    s."""

    lanes: int = 1
    """Processes of each device, each with a launch open. At least 1."""

    compile_workers: int | None = None
    """Processes that compile; None: one per core, but for those that measure on GPUs."""

    compile_timeout: float = 60.0
    """Seconds that one compilation may take."""


class SuiteExecutor:
    """Processes that measure and processes that compile. Thread-safe; a context manager."""

    def __init__(self, devices: Sequence[str], logs: Path, options: SuiteOptions) -> None:
        """Make it; processes start with the first requests.

        Args:
            devices: What measures.
            logs: Existing directory for what processes print.
            options: How launches are replayed.
        """
        self.devices = list(devices)
        self._options = options
        cores = len(os.sched_getaffinity(0))
        busy = sum(device != _CPU for device in devices) * options.lanes
        wanted = options.compile_workers
        self.compile_workers = max(1, cores - busy) if wanted is None else wanted
        self._own_cache: ScratchDirectory | None = None
        environment = self._cache_environment()
        self._loop = asyncio.new_event_loop()
        spec = PoolSpec(
            launch=None,
            log_directory=logs.absolute(),
            timeout=options.compile_timeout,
            environment=environment,
        )
        self._pool = CompilePool(self._loop, spec, self.compile_workers)
        self._lanes = [
            [
                SuiteProcess(
                    self._loop,
                    device,
                    log=logs.absolute()
                    / (f"Worker-{at}-{lane}.log" if lane else f"Worker-{at}.log"),
                    timeout=options.timeout,
                    environment=environment,
                )
                for lane in range(options.lanes)
            ]
            for at, device in enumerate(devices)
        ]
        self._processes = [one for several in self._lanes for one in several]
        self._is_closed = False
        self._thread = threading.Thread(target=self._run, name="mneme-suite", daemon=True)
        self._thread.start()

    @property
    def pids(self) -> list[int]:
        """Process ids of the present processes that measure."""
        return [pid for one in self._processes if (pid := one.pid) is not None]

    def prepare(self) -> None:
        """Start the processes, which otherwise happens with the first requests."""

        def start() -> None:
            for one in self._processes:
                one.start()
            self._pool.prepare()

        self._loop.call_soon_threadsafe(start)

    def compile(
        self,
        launch: Launch,
        config: ExperimentConfiguration,
        target: str,
        *,
        wants_texts: bool = False,
    ) -> Future[CompileAnswer]:
        """Compile a configuration into the cache.

        Args:
            launch: What is compiled.
            config: How.
            target: What for: "sm_90", "cpu".
            wants_texts: Return final IR and assembly, too.
        """
        future: Future[CompileAnswer] = Future()
        request = CompileRequest(
            configuration=config,
            text=config.launch_text(),
            target=(target, None),
            launch=launch,
            wants_texts=wants_texts,
        )
        self._loop.call_soon_threadsafe(self._pool.submit, request, future.set_result)
        return future

    def open(
        self, device: int, launch: Launch, prologue: str, *, lane: int = 0, most_part: float = 0.0
    ) -> Callable[[], None]:
        """Open a launch before its replays come; return a function that waits for that.

        The function raises the `MnemeError` that says why it is not open: replays try again.

        Args:
            device: Number of the device in `devices`.
            launch: What is opened; what the lane has open is closed.
            prologue: File with its memory.
            lane: Which process of the device.
            most_part: It is not opened if it has more than this part of the memory that the device
                has left; 0: no limit.
        """
        return self._ask(device, lane, Task(message=("open", launch, prologue, most_part)))

    def close_others(self, device: int, lane: int) -> None:
        """Wait until the other processes of a device have no launch open."""
        self._close_all(device, [at for at in range(len(self._lanes[device])) if at != lane])

    def close(self, device: int, lane: int) -> None:
        """Wait until a process of a device has no launch open."""
        self._close_all(device, [lane])

    def _close_all(self, device: int, lanes: Sequence[int]) -> None:
        for wait in [self._ask(device, at, Task(message=("close",))) for at in lanes]:
            with suppress(BackendUnavailable):  # it has none open either
                wait()

    def _ask(self, device: int, lane: int, task: Task) -> Callable[[], Any]:
        self._loop.call_soon_threadsafe(self._lanes[device][lane].ask, task)
        return task.future.result

    def submit(  # noqa: PLR0913 - all that a replay depends on
        self,
        device: int,
        launch: Launch,
        config: ExperimentConfiguration,
        *,
        lane: int = 0,
        iterations: int | None = None,
        measuring: Measuring | None = None,
    ) -> Callable[[], ExperimentResult]:
        """Queue a replay; return a function that waits for its result.

        The function raises the `MnemeError` that says why the launch cannot be opened, or the
        device not be used.

        Args:
            device: Number of the device in `devices`.
            launch: What is replayed.
            config: How it is compiled and launched.
            lane: Which process of the device.
            iterations: Measured launches; None: those of the options.
            measuring: How launches are measured; None: as the options say.
        """
        options = options_text(
            iterations=iterations or self._options.iterations,
            warmup=self._options.warmup,
            tolerances=self._options.tolerances,
            measuring=measuring or self._options.measuring,
        )
        return self._ask(device, lane, Task(message=("run", launch, config.launch_text(), options)))

    def idle_seconds(self, device: int, lane: int = 0) -> float:
        """Return how long a process of a device has waited for replays to do, in all.

        Args:
            device: Number of the device in `devices`.
            lane: Which of its processes.
        """
        return self._lanes[device][lane].idle_seconds

    def finish(self) -> None:
        """Let all processes end, without waiting for that; nothing can be queued any more."""
        if not self._is_closed:
            self._is_closed = True
            self._loop.call_soon_threadsafe(self._close, False)  # noqa: FBT003 - as the loop calls

    def shutdown(self, *, cancel: bool = False) -> None:
        """End all processes, and wait for that; further calls do nothing.

        Args:
            cancel: End them at once.
        """
        if not self._is_closed:
            self._is_closed = True
            self._loop.call_soon_threadsafe(self._close, cancel)
        self._thread.join(_END_SECONDS)
        if self._own_cache is not None:
            self._own_cache.cleanup()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.shutdown(cancel=kind is not None)

    def _cache_environment(self) -> dict[str, str]:
        """Return the cache setting for every process; our own directory if there is no cache."""
        directory = usable_cache_directory()
        if directory is None:
            self._own_cache = ScratchDirectory("cache")
            directory = Path(self._own_cache.name)
        return {"MNEME_CACHE_DIR": str(directory)}

    # The thread.

    def _run(self) -> None:
        try:
            with quick_switches():
                self._loop.run_forever()
        finally:
            self._loop.close()

    def _close(self, cancel: bool) -> None:  # noqa: FBT001 - called by the loop
        def look() -> None:
            if self._pool.pids or any(one.pid for one in self._processes):
                self._loop.call_later(0.01, look)
            else:
                self._loop.stop()

        self._pool.close(lambda: None, kill=cancel)
        for one in self._processes:
            one.close(kill=cancel)
        look()
