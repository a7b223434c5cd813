"""Replays one recorded launch in worker processes, compiling ahead in others."""

from __future__ import annotations

import itertools
import os
import tempfile
import threading
from pathlib import Path
from typing import TYPE_CHECKING

from mneme._compile_pool import CompilePool, PoolSpec, usable_cache_directory
from mneme._schedule import Schedule
from mneme._worker_process import TuneWorkerHandle, WorkerSpec
from mneme.devices import choose_device, device_by_number
from mneme.errors import InvalidArgument, MnemeError, NotFound
from mneme.eval_future import EvalFuture, as_completed
from mneme.mneme_types import ExperimentConfiguration, ExperimentResult
from mneme.records import find_instance
from mneme.replay_executor import ir_bytes

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import TracebackType

    from typing_extensions import Self

    from mneme.measuring import Measuring
    from mneme.tolerance import Tolerance

__all__ = ["AsyncReplayExecutor", "EvalFuture", "TuneWorkerHandle", "as_completed"]

# Compiled configurations that may wait for each worker.
_READY_AHEAD = 4


class AsyncReplayExecutor:
    """A pool of worker processes, each with the recording open on its own device.

    A configuration that crashes, hangs or leaves the device unusable costs itself and its process,
    which is replaced. Use it
    under `if __name__ == "__main__":`, as the workers are spawned. Thread-safe.
    """

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
        """Make the pool; processes start with the first configurations.

        Args:
            record_db: A `<static hash>.json` file, or a directory of them.
            record_id: Dynamic hash of the launch; None if there is only one.
            iterations: Measured launches per configuration. At least 0.
            results_db_dir: Existing directory for the logs of the workers.
            num_workers: Processes. At least 1; worker i has device i, so at most the number of
                GPUs; as many as wanted on the CPU device.
            warmup: Launches before those that are measured. At least 0.
            max_startup_failures: Processes of one worker that may die before their first answer.
            device: Device of every worker; None gives worker i device i.
            timeout: Seconds one configuration may take; None for no limit.
            tolerances: How far memory may be from what was recorded.
            measuring: How launches are measured; None: `iterations` of them.
            compile_workers: Processes that compile ahead of the workers; 0 for none. None: as many
                as there are cores left beside the workers, at least 1; on the CPU device, whose
                times they would disturb, none.
            compile_timeout: Seconds one of them may take for a configuration.

        Raises:
            NotFound: If record, instance or directory do not exist.
            InvalidArgument: If there are too many or too few workers.
        """
        _check(num_workers, iterations, warmup, compile_workers, compile_timeout)
        logs = _directory(results_db_dir)
        path, found_id = find_instance(record_db, record_id)
        devices = _devices(device, num_workers)
        self._own_cache: tempfile.TemporaryDirectory[str] | None = None
        compilers = _compilers(devices) if compile_workers is None else compile_workers
        environment = self._cache_environment() if compilers else {}
        spec = WorkerSpec(
            record_db=path,
            record_id=found_id,
            iterations=iterations,
            warmup=warmup,
            results_db_dir=logs,
            max_startup_failures=max_startup_failures,
            timeout=timeout,
            environment=environment,
            options={"tolerances": tuple(tolerances), "measuring": measuring},
        )
        self.iterations = iterations
        self.warmup = warmup
        self.workers = [TuneWorkerHandle(i, name, spec) for i, name in enumerate(devices)]
        self.compile_workers = compilers
        self._pool: CompilePool | None = None
        if compilers:
            self._pool = CompilePool(_pool_spec(spec, compile_timeout), compilers)
        self._schedule = Schedule(self._pool, compilers + _READY_AHEAD * num_workers, self._fail)
        self._ir: bytes | None = None
        self._ids = itertools.count()
        self._lock = threading.Lock()
        self._serving = num_workers
        self._threads = [
            threading.Thread(target=self._serve, args=(worker,), daemon=True)
            for worker in self.workers
        ]
        for thread in self._threads:
            thread.start()

    def set_ir(self, ir: object) -> None:
        """Use other IR for what is submitted from now on: text, a path, bitcode, a module, None."""
        self._ir = ir_bytes(ir) or None

    @property
    def capacity(self) -> int:
        """Configurations worth having in flight."""
        return self.compile_workers + _READY_AHEAD * len(self.workers)

    def submit(
        self,
        config: ExperimentConfiguration,
        *,
        iterations: int | None = None,
        measuring: Measuring | None = None,
        fresh: bool = False,
        worker: int | None = None,
    ) -> EvalFuture:
        """Queue a configuration.

        Args:
            config: How to compile and launch.
            iterations: Measured launches; None: those of the executor.
            measuring: How launches are measured; None: as the executor was told.
            fresh: Measure even what was measured already.
            worker: Number of the worker that has to run it.

        Raises:
            InvalidArgument: If the executor is shut down.
        """
        del fresh, worker
        # A copy: the caller may go on changing its own.
        copy = ExperimentConfiguration.from_dict(config.to_dict())
        future = EvalFuture(next(self._ids), copy, self._ir)
        future.overrides = {}
        if iterations is not None:
            future.overrides["iterations"] = iterations
        if measuring is not None:
            future.overrides["measuring"] = measuring
        self._schedule.add(future)
        return future

    def evaluate(self, config: ExperimentConfiguration) -> ExperimentResult:
        """Evaluate a configuration and wait for its result."""
        result = self.submit(config).result()
        if result is None:  # pragma: no cover - without timeout there is a result
            raise AssertionError
        return result

    def shutdown(self, *, cancel: bool = False) -> None:
        """End the workers; does nothing the second time.

        Args:
            cancel: Do not finish what is queued: waiting for it raises `InvalidArgument`, and what
                runs gives a failed result.
        """
        is_first = self._schedule.close()
        if cancel:
            self._cancel()
        if not is_first:
            return
        try:
            for thread in self._threads:
                thread.join()
        except BaseException:
            self._cancel()
            raise
        finally:
            if self._pool is not None:
                self._pool.close()
            if self._own_cache is not None:
                self._own_cache.cleanup()

    def _cancel(self) -> None:
        for future in self._schedule.drop():
            future.set_error(InvalidArgument("the executor was shut down before this ran"))
        for worker in self.workers:
            worker.kill()
        if self._pool is not None:
            self._pool.close(kill=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        # Who interrupts does not want to wait.
        self.shutdown(cancel=kind is not None and not issubclass(kind, Exception))

    def _serve(self, worker: TuneWorkerHandle) -> None:
        while (future := self._next(worker)) is not None:
            while future is not None:
                # The worker has the next one at hand when it is done with this.
                early = self._schedule.take_early(worker.index)
                if early is not None and not self._send(worker, early):
                    early = None
                try:
                    future.set_result(worker.receive())
                except BaseException as error:  # noqa: BLE001 - whoever waits learns of it
                    future.set_error(error)
                future = early
        worker.close()

    def _next(self, worker: TuneWorkerHandle) -> EvalFuture | None:
        """Wait for a configuration and send it to the worker; None if there is nothing left."""
        while self._schedule.has_work():
            try:
                target = worker.start()
            except (MnemeError, OSError) as error:
                if self._leave(worker):
                    return None
                future = self._schedule.take_uncompiled()
                if future is not None:
                    future.set_error(error)
                continue
            future = self._schedule.take(worker.index, target)
            if future is None or self._send(worker, future):
                return future
        return None

    @staticmethod
    def _send(worker: TuneWorkerHandle, future: EvalFuture) -> bool:
        """Send a configuration to the worker; false if it cannot be, as the future knows then."""
        try:
            worker.send(future.job_id, future.ir, future.config, future.overrides)
        except BaseException as error:  # noqa: BLE001 - whoever waits learns of it
            future.set_error(error)
            return False
        return True

    def _leave(self, worker: TuneWorkerHandle) -> bool:
        """Leave the work to the other workers; false if there is none."""
        with self._lock:
            if self._serving == 1:
                return False
            self._serving -= 1
        self._schedule.retire(worker.index)
        return True

    def _fail(self, future: EvalFuture, worker: int, sentence: str) -> None:
        future.set_result(self.workers[worker].failed(sentence))

    def _cache_environment(self) -> dict[str, str]:
        """Return where every process keeps images; a directory of our own if nowhere else."""
        directory = usable_cache_directory()
        if directory is None:
            self._own_cache = tempfile.TemporaryDirectory(
                prefix="mneme-cache-", ignore_cleanup_errors=True
            )
            directory = Path(self._own_cache.name)
        return {"MNEME_CACHE_DIR": str(directory)}


def _compilers(devices: Sequence[str]) -> int:
    """Return how many processes compile when nobody says."""
    if "cpu" in devices:
        return 0
    return max(1, len(os.sched_getaffinity(0)) - len(devices))


def _pool_spec(workers: WorkerSpec, timeout: float) -> PoolSpec:
    return PoolSpec(
        record_db=workers.record_db,
        record_id=workers.record_id,
        log_directory=workers.results_db_dir,
        timeout=timeout,
        environment=workers.environment,
    )


def _directory(logs: str | Path) -> Path:
    if not Path(logs).is_dir():
        raise NotFound(f"the directory for the workers' logs, '{logs}', does not exist")
    return Path(logs)


def _devices(device: str | None, count: int) -> list[str]:
    return [choose_device(device) if device else device_by_number(i) for i in range(count)]


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
