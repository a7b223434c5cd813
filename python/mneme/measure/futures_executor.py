"""Replays one recorded launch in the processes of the caller's pool."""

from __future__ import annotations

import itertools
import os
import threading
import time
from concurrent.futures import BrokenExecutor, CancelledError, Future
from typing import TYPE_CHECKING, Any

from mneme.errors import BackendUnavailable, InvalidArgument, MnemeError
from mneme.measure.eval_future import EvalFuture
from mneme.measure.remote_evaluation import RemoteSpec, evaluate
from mneme.measure.replay_executor import ir_bytes
from mneme.measure.statistics import ExecutorStatistics
from mneme.measure.submitting import SubmittingExecutor
from mneme.mneme_types import ExperimentResult
from mneme.recording.records import find_instance

if TYPE_CHECKING:
    from collections.abc import Sequence
    from concurrent.futures import Executor
    from pathlib import Path

    from mneme.measure.measuring import Measuring
    from mneme.measure.tolerance import Tolerance
    from mneme.mneme_types import ExperimentConfiguration

__all__ = ["FuturesReplayExecutor"]


class FuturesReplayExecutor(SubmittingExecutor):
    """Evaluates configurations with any `concurrent.futures.Executor`. Thread-safe.

    Dask (`client.get_executor()`), mpi4py, Parsl, Flux and Python itself have one. Each process of
    the pool opens the recording once and keeps it open; its path must be the same everywhere.
    Processes without `device` or MNEME_DEVICE each take a GPU of their machine that no other one
    uses.

    Configurations in flight in a pool's process that dies give failed results (`worker_died`). A
    pool that is broken by this, such as Python's own, takes no more configurations.

    Attributes:
        can_pin: Whether `worker` selects the process that runs a configuration: no, the pool does.
    """

    can_pin = False

    def __init__(  # noqa: PLR0913 - as AsyncReplayExecutor
        self,
        pool: Executor,
        record_db: str | Path,
        record_id: str | None,
        iterations: int,
        *,
        warmup: int = 2,
        tolerances: Sequence[Tolerance] = (),
        measuring: Measuring | None = None,
        timeout: float | None = None,
        capacity: int | None = None,
        device: str | None = None,
        log_directory: str | Path | None = None,
    ) -> None:
        """Name the launch; nothing is opened yet.

        Args:
            pool: The caller's pool, which the caller shuts down after this executor.
            record_db: A `<static hash>.json` file, or a directory of them.
            record_id: Dynamic hash of the launch; None if there is only one.
            iterations: Measured launches per configuration. At least 0.
            warmup: Launches before the measured ones. At least 0.
            tolerances: Allowed differences from the recorded memory.
            measuring: How launches are measured; None: `iterations` of them.
            timeout: Time limit of one configuration in seconds; None: 1000 times the recorded time
                for each launch, at least 60 s.
            capacity: Useful number of configurations in flight; None: two per process that the pool
                seems to have.
            device: Device of every process; None: each finds its own.
            log_directory: Output of kernels goes to a directory per process below this one; None:
                it is dropped.

        Raises:
            NotFound: If record or instance do not exist.
            InvalidArgument: If a number is out of its range.
        """
        if iterations < 0 or warmup < 0 or (capacity is not None and capacity < 1):
            raise InvalidArgument(
                "need iterations >= 0, warmup >= 0 and capacity >= 1; "
                f"got {iterations}, {warmup} and {capacity}"
            )
        path, found_id = find_instance(record_db, record_id)
        self._spec = RemoteSpec(
            record_db=str(path.absolute()),
            record_id=found_id,
            iterations=iterations,
            warmup=warmup,
            tolerances=tuple(tolerances),
            measuring=measuring,
            timeout=timeout,
            device=device,
            log_directory=None if log_directory is None else os.path.abspath(log_directory),  # noqa: PTH100
        )
        self.iterations = iterations
        self.warmup = warmup
        self.capacity = capacity or 2 * _processes(pool)
        self._pool = pool
        self._ir = b""
        self._ids = itertools.count()
        self._lock = threading.Lock()
        self._flying: dict[EvalFuture, Future[list[dict[str, Any]]]] = {}
        self._landed = threading.Condition(self._lock)
        self._is_closed = False
        self._why_broken = ""
        self._counts = {"submitted": 0, "finished": 0, "measured": 0, "reused": 0, "failures": 0}
        self._busy_ns = 0
        self._times = [0.0, 0.0]

    def set_ir(self, ir: object) -> None:
        """Use other IR for later submissions: text, a path, bitcode, a module, None."""
        self._ir = ir_bytes(ir)

    @property
    def statistics(self) -> ExecutorStatistics:
        """Statistics so far, as far as results contain them."""
        with self._lock:
            return ExecutorStatistics(
                **self._counts,
                device_busy_seconds=self._busy_ns * 1e-9,
                wall_seconds=max(0.0, self._times[1] - self._times[0]),
            )

    def submit(
        self,
        config: ExperimentConfiguration,
        *,
        iterations: int | None = None,
        measuring: Measuring | None = None,
        fresh: bool = False,
        worker: int | None = None,
    ) -> EvalFuture:
        """Queue a configuration; see `AsyncReplayExecutor.submit`.

        Equal configurations are measured once per process of the pool. The pool chooses the
        process, regardless of `worker`.

        Raises:
            InvalidArgument: If the executor or its pool is shut down.
            BackendUnavailable: If the pool is broken.
        """
        del worker
        (future,) = self.submit_together(
            [config], iterations=iterations, measuring=measuring, fresh=fresh
        )
        return future

    def submit_together(
        self,
        configs: Sequence[ExperimentConfiguration],
        *,
        iterations: int | None = None,
        measuring: Measuring | None = None,
        fresh: bool = False,
    ) -> list[EvalFuture]:
        """Queue configurations as one task of the pool, so that one process measures them in turn.

        Raises:
            InvalidArgument: If the executor or its pool is shut down.
            BackendUnavailable: If the pool is broken.
        """
        if iterations is not None and iterations < 0:
            raise InvalidArgument(f"need iterations >= 0, got {iterations}")
        options: dict[str, Any] = {"fresh": fresh, "iterations": iterations, "measuring": measuring}
        ir = self._ir
        futures = [EvalFuture(next(self._ids), one.copy(), ir or None) for one in configs]
        with self._lock:
            self._refuse_if_over()
            self._counts["submitted"] += len(futures)
            self._times[0] = self._times[0] or time.monotonic()
        plain = [one.to_dict() for one in configs]
        arguments = (self._spec, futures[0].job_id, plain, ir, options)
        try:
            remote = self._pool.submit(evaluate, *arguments)
        except BrokenExecutor as error:
            self._why_broken = str(error)
            self._refuse_if_over()
            raise
        except RuntimeError as error:
            raise InvalidArgument(f"the pool takes no configurations: {error}") from error
        with self._lock:
            self._flying.update(dict.fromkeys(futures, remote))
        remote.add_done_callback(lambda done: self._land(futures, done))
        return futures

    def shutdown(self, *, cancel: bool = False, wait: bool = True) -> None:
        """Take no more configurations and wait for the present ones; the pool continues.

        Args:
            cancel: Do not wait: unfinished results raise `InvalidArgument`.
            wait: Whether to wait for the others.
        """
        with self._lock:
            self._is_closed = True
            flying = dict(self._flying)
            if not cancel:
                while wait and self._flying:
                    self._landed.wait()
                return
        for future, remote in flying.items():
            future.set_error(InvalidArgument("the executor was shut down before this was done"))
            remote.cancel()

    def _refuse_if_over(self) -> None:
        if self._is_closed:
            raise InvalidArgument("the executor is shut down and takes no configurations")
        if self._why_broken:
            raise BackendUnavailable(
                f"a process of the pool died and broke it: {self._why_broken}; make a new pool, or "
                "use one that replaces its processes"
            )

    def _land(self, futures: list[EvalFuture], remote: Future[list[dict[str, Any]]]) -> None:
        error: MnemeError | None = None
        results: list[ExperimentResult] = []
        try:
            results = [ExperimentResult.from_dict(one) for one in remote.result()]
        except CancelledError:
            error = InvalidArgument("the pool dropped this before it was done")
        except MnemeError as failure:
            error = failure
        except BaseException as failure:  # noqa: BLE001 - the futures report it
            if isinstance(failure, BrokenExecutor):
                self._why_broken = str(failure)
            sentence = f"A process of the pool failed ({type(failure).__name__}: {failure})"
            lost = ExperimentResult(
                failed=True, error=sentence, result_class="failed", worker_died=True
            )
            results = [lost] * len(futures)
        for place, future in enumerate(futures):
            self._count(None if error else results[place])
            if error is None:
                future.set_result(results[place])
            else:
                future.set_error(error)
        with self._lock:
            for future in futures:
                self._flying.pop(future, None)
            self._landed.notify_all()

    def _count(self, result: ExperimentResult | None) -> None:
        with self._lock:
            self._times[1] = time.monotonic()
            self._counts["finished"] += 1
            if result is not None:
                self._counts["reused"] += result.reused
                self._counts["failures"] += result.failed
                self._counts["measured"] += result.executed and not result.reused
                self._busy_ns += result.launched_ns


def _processes(pool: Executor) -> int:
    """Return the number of a pool's processes, as far as known."""
    count = getattr(pool, "_max_workers", None)
    client = getattr(pool, "_client", None)
    if client is not None:
        count = sum(client.nthreads().values())
    return count if isinstance(count, int) and count > 0 else os.cpu_count() or 1
