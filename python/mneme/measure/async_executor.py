"""Replays one recorded launch in worker processes, compiling ahead in others."""

from __future__ import annotations

import functools
import itertools
import os
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

from mneme.devices import choose_device, device_by_number
from mneme.errors import InvalidArgument, NotFound
from mneme.files.scratch import ScratchDirectory
from mneme.measure.compile_pool import PoolSpec, usable_cache_directory
from mneme.measure.content import Content
from mneme.measure.engine import Engine
from mneme.measure.eval_future import EvalFuture, as_completed
from mneme.measure.job import Job
from mneme.measure.measuring import Measuring
from mneme.measure.replay_executor import ir_bytes, options_text
from mneme.measure.submitting import SubmittingExecutor
from mneme.measure.worker_process import TuneWorkerHandle, WorkerSpec
from mneme.recording.records import find_instance

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mneme.measure.statistics import ExecutorStatistics
    from mneme.measure.tolerance import Tolerance
    from mneme.mneme_types import ExperimentConfiguration

__all__ = ["AsyncReplayExecutor", "EvalFuture", "TuneWorkerHandle", "as_completed"]

# A plugin that hangs ends within this part of the limit, so that its compiler can say why.
_PART_OF_PLUGINS = 0.9
# Number of compiled configurations that may wait for each worker.
_READY_AHEAD = 4
_CANCEL_SECONDS = 5.0


class AsyncReplayExecutor(SubmittingExecutor):
    """A pool of worker processes, each with the recording open on its own device.

    A configuration that crashes, hangs or leaves the device unusable fails, and its process is
    replaced. Thread-safe.

    Attributes:
        can_pin: Whether `worker` selects the process that runs a configuration: it does.
    """

    can_pin = True

    def __init__(  # noqa: PLR0913, PLR0917 - documented signature
        self,
        record_db: str | Path,
        record_id: str | None,
        iterations: int,
        results_db_dir: str | Path,
        num_workers: int,
        warmup: int = 2,
        max_startup_failures: int = 3,
        *,
        device: str | None = None,
        timeout: float | None = None,
        tolerances: Sequence[Tolerance] = (),
        measuring: Measuring | None = None,
        compile_workers: int | None = None,
        compile_timeout: float = 60.0,
    ) -> None:
        """Make the pool; processes start with the first configurations, or `prepare`.

        Args:
            record_db: A `<static hash>.json` file, or a directory of them.
            record_id: Dynamic hash of the launch; None if there is only one.
            iterations: Measured launches per configuration. At least 0.
            results_db_dir: Existing directory for the logs of the workers.
            num_workers: Number of processes, at least 1. Worker i has device i, so there are at
                most as many as GPUs, with a warning if more were requested. Any number on the CPU
                device.
            warmup: Launches before the measured ones. At least 0.
            max_startup_failures: Processes of one worker that may die before their first answer.
            device: Device of every worker; None gives worker i device i.
            timeout: Time limit of one configuration in seconds; None: 1000 times the recorded time
                for each launch, at least 60 s.
            tolerances: Allowed differences from the recorded memory.
            measuring: How launches are measured; None: `iterations` of them.
            compile_workers: Number of processes that compile ahead of the workers; 0 for none.
                None: one per core not used by workers, at least 1; none on the CPU device, whose
                times they would disturb.
            compile_timeout: Time limit of one compilation in seconds.

        Raises:
            NotFound: If record, instance or directory do not exist.
            InvalidArgument: If the number of workers is too small.
        """
        _check(num_workers, iterations, warmup, compile_workers, compile_timeout)
        logs = _directory(results_db_dir)
        path, found_id = find_instance(record_db, record_id)
        devices = _devices(device, num_workers)
        self._own_cache: ScratchDirectory | None = None
        compilers = _compilers(devices) if compile_workers is None else compile_workers
        environment = self._cache_environment() if compilers else {}
        # Pass plugins are compiled with in processes of their own, whose end says which they were.
        limit = _PART_OF_PLUGINS * min(compile_timeout, timeout or compile_timeout)
        environment["MNEME_COMPILE_TIMEOUT"] = f"{limit:g}"
        # Processes are started at any time, and the caller may have changed the directory by then.
        spec = WorkerSpec(
            record_db=path.absolute(),
            record_id=found_id,
            results_db_dir=logs.absolute(),
            max_startup_failures=max_startup_failures,
            timeout=timeout,
            environment=environment,
        )
        self.iterations = iterations
        self.warmup = warmup
        self.tolerances = tuple(tolerances)
        self.measuring = measuring or Measuring()
        self.compile_workers = compilers
        self.workers = [TuneWorkerHandle(i, name, spec) for i, name in enumerate(devices)]
        pool = _pool_spec(spec, compile_timeout) if compilers else None
        self._ahead = compilers + _READY_AHEAD * len(self.workers)
        self._engine = Engine(self.workers, pool, compilers, self._ahead)
        self._ir: Content | None = None
        self._ids = itertools.count()
        self._options = functools.lru_cache(maxsize=256)(self._options_text)

    def prepare(self) -> None:
        """Start the processes, which otherwise happens with the first configuration."""
        self._engine.prepare()

    def set_ir(self, ir: object) -> None:
        """Use other IR for later submissions: text, a path, bitcode, a module, None."""
        content = ir_bytes(ir)
        self._ir = Content.of(content) if content else None

    @property
    def capacity(self) -> int:
        """Useful number of configurations in flight: with fewer, a device may have to wait."""
        return self._ahead + _READY_AHEAD * len(self.workers)

    @property
    def compiler_pids(self) -> list[int]:
        """Process ids of the present compile workers."""
        pool = self._engine.pool
        return pool.pids if pool is not None else []

    @property
    def statistics(self) -> ExecutorStatistics:
        """Statistics so far."""
        return self._engine.statistics()

    def submit(  # noqa: PLR0913 - each has its own meaning, by name only
        self,
        config: ExperimentConfiguration,
        *,
        iterations: int | None = None,
        measuring: Measuring | None = None,
        fresh: bool = False,
        worker: int | None = None,
        only_known: bool = False,
    ) -> EvalFuture:
        """Queue a configuration.

        If binary and launch equal those of a configuration that was measured in the same way, the
        result is a copy of that result, with `reused` set.

        Args:
            config: How to compile and launch; copied.
            iterations: Measured launches; None: those of the executor.
            measuring: How launches are measured; None: the executor's way.
            fresh: Measure even if it was measured already.
            worker: Number of the worker that must run it; None: any.
            only_known: Compile without launching: if no configuration with this binary and launch
                was measured in the same way, the result is a failure.

        Raises:
            InvalidArgument: If the executor is shut down, or has no such worker.
        """
        wanted = self.iterations if iterations is None else iterations
        if wanted < 0 or (worker is not None and not 0 <= worker < len(self.workers)):
            raise InvalidArgument(
                f"need iterations >= 0 and a worker below {len(self.workers)}; "
                f"got {wanted} and {worker}"
            )
        copy = config.copy()
        ir = self._ir
        future = EvalFuture(next(self._ids), copy, ir.data if ir else None)
        how = self.measuring if measuring is None else measuring
        job = Job(
            future=future,
            text=copy.launch_text(),
            options=self._options(wanted, how),
            iterations=wanted,
            measuring=how,
            ir=ir,
            fresh=fresh,
            worker=worker,
            only_known=only_known,
        )
        self._engine.submit(job)
        return future

    def submit_together(
        self,
        configs: Sequence[ExperimentConfiguration],
        *,
        iterations: int | None = None,
        measuring: Measuring | None = None,
        fresh: bool = False,
    ) -> list[EvalFuture]:
        """Queue configurations for the first worker, which measures them in turn."""
        return [
            self.submit(one, iterations=iterations, measuring=measuring, fresh=fresh, worker=0)
            for one in configs
        ]

    def tighten(self, stop_above_ns: int) -> None:
        """Lower the limit of configurations that were, or will be, submitted with a higher one.

        Configurations without a limit are measured to the end.

        Args:
            stop_above_ns: The limit, as in `Measuring`.
        """
        self._engine.stop_above_ns = stop_above_ns

    def end_hanging(self, least_seconds: float, factor: float) -> None:
        """End evaluations that take much longer than all before: they get failed results.

        Compile workers, and the first evaluation of a worker, are not affected.

        Args:
            least_seconds: Smallest time of an ended evaluation.
            factor: Smallest ratio to the longest finished evaluation.
        """
        self._engine.end_hanging(least_seconds, factor)

    def shutdown(self, *, cancel: bool = False, wait: bool = True) -> None:
        """End the workers; further calls do nothing.

        Args:
            cancel: Drop queued configurations, whose results raise `InvalidArgument`; running ones
                give failed results.
            wait: Return when no process is left. Otherwise they end by themselves, and a later call
                waits: a process that used a GPU takes half a second.
        """
        self._engine.close(cancel=cancel)
        if not wait:
            return
        try:
            self._engine.join()
        except BaseException:
            self._engine.close(cancel=True)
            self._engine.join(_CANCEL_SECONDS)
            raise
        finally:
            if self._own_cache is not None:
                self._own_cache.cleanup()

    def _options_text(self, iterations: int, measuring: Measuring) -> str:
        return options_text(
            iterations=iterations,
            warmup=self.warmup,
            tolerances=self.tolerances,
            measuring=measuring,
        )

    def _cache_environment(self) -> dict[str, str]:
        """Return the cache setting for every process; our own directory if there is no cache."""
        directory = usable_cache_directory()
        if directory is None:
            self._own_cache = ScratchDirectory("cache")
            directory = Path(self._own_cache.name)
        return {"MNEME_CACHE_DIR": str(directory)}


def _compilers(devices: Sequence[str]) -> int:
    """Return the default number of compile workers."""
    if "cpu" in devices:
        return 0
    return max(1, len(os.sched_getaffinity(0)) - len(devices))


def _pool_spec(workers: WorkerSpec, timeout: float) -> PoolSpec:
    return PoolSpec(
        launch=(str(workers.record_db), workers.record_id),
        log_directory=workers.results_db_dir,
        timeout=timeout,
        environment=workers.environment,
    )


def _directory(logs: str | Path) -> Path:
    try:
        Path(logs).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise NotFound(
            f"the directory for the workers' logs, '{logs}', cannot be made: {error.strerror}"
        ) from error
    return Path(logs)


def _devices(device: str | None, count: int) -> list[str]:
    if device:
        return [choose_device(device)] * count
    devices = [device_by_number(0)]
    for number in range(1, count):
        try:
            devices.append(device_by_number(number))
        except InvalidArgument:
            warnings.warn(
                f"{count} workers were asked for and there are {number} GPUs; {number} "
                f"{'works' if number == 1 else 'work'}",
                RuntimeWarning,
                stacklevel=3,
            )
            break
    return devices


def _check(
    num_workers: int,
    iterations: int,
    warmup: int,
    compile_workers: int | None,
    compile_timeout: float,
) -> None:
    if num_workers < 1 or iterations < 0 or warmup < 0:
        raise InvalidArgument(
            "need num_workers >= 1, iterations >= 0 and warmup >= 0; "
            f"got {num_workers}, {iterations} and {warmup}"
        )
    if (compile_workers or 0) < 0 or not compile_timeout > 0:
        raise InvalidArgument(
            "need compile_workers >= 0 and compile_timeout > 0; "
            f"got {compile_workers} and {compile_timeout}"
        )
