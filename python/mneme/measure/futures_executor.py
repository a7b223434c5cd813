"""Replays one recorded launch in the processes of the caller's pool."""

from __future__ import annotations

import itertools
import os
import threading
import warnings
from concurrent.futures import BrokenExecutor, CancelledError, Future
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from mneme.errors import InvalidArgument, MnemeError
from mneme.measure.batches import Batches
from mneme.measure.eval_future import EvalFuture
from mneme.measure.in_flight import InFlight
from mneme.measure.late_processes import LateProcesses, News
from mneme.measure.pool_processes import (
    PoolProcess,
    PoolProcesses,
    admitted_late,
    busy_with,
    find_processes,
    helpers_of,
    number_of_processes,
    only,
    places_of,
    sure_pool,
)
from mneme.measure.pool_task import (
    BrokenPool,
    PoolTask,
    SentTasks,
    broken,
    connection_of,
    grouped,
    handed_to,
    hold_refused,
    is_connected,
    lost_result,
    seconds_of,
    why_lost,
)
from mneme.measure.pool_watch import PoolWatch
from mneme.measure.remote_evaluation import (
    RefusedProcess,
    RemoteSpec,
    UnfitProcess,
    UnknownProcess,
    evaluate,
)
from mneme.measure.replay_executor import ir_bytes
from mneme.measure.sent_recordings import digest_of
from mneme.measure.slow_processes import Comparison
from mneme.measure.statistics import NodeStatistics, count_processes, count_results
from mneme.measure.submitting import SubmittingExecutor, check_counts
from mneme.mneme_types import ExperimentResult
from mneme.recording.records import find_instance

if TYPE_CHECKING:
    from collections.abc import Sequence
    from concurrent.futures import Executor
    from pathlib import Path

    from mneme.measure.measuring import Measuring
    from mneme.measure.statistics import ExecutorStatistics
    from mneme.measure.tolerance import Tolerance
    from mneme.mneme_types import ExperimentConfiguration

__all__ = ["FuturesReplayExecutor"]

# Configurations of one task, for processes that take one task at a time and compile ahead in it.
_MOST_TOGETHER = 24
# Processes that cannot measure which a configuration may meet.
_MOST_TRIES = 20


class FuturesReplayExecutor(SubmittingExecutor):
    """Evaluates configurations with any `concurrent.futures.Executor`. Thread-safe.

    Dask (`client.get_executor()`), mpi4py, Parsl, Flux and Python itself have one. Each process of
    the pool opens the recording once and keeps it open. Its path must be the same everywhere; hosts
    of a Dask cluster that do not see it there are sent what the launch needs. Processes without
    `device` or MNEME_DEVICE each take a GPU of their machine that no other one uses.

    Configurations in flight in a pool's process that dies give failed results (`worker_died`). A
    pool that is broken by this, such as Python's own, takes no more configurations. A process
    without mneme, with another version, or without the recording gets no configurations, or they
    are tried in another one: see `prepare`.

    Attributes:
        left_out: Why a process cannot measure, by host or address.
        nodes: What each host has done.
        news: Messages about workers that joined a Dask cluster late, or left it.
        why_broken: Why the pool cannot measure any more, for no launch; empty: it can.
        can_pin: Whether `worker` selects the process that runs a configuration: no, the pool does.
    """

    can_pin = False

    def __init__(  # noqa: PLR0913, PLR0917 - as AsyncReplayExecutor
        self,
        pool: Executor,
        record_db: str | Path,
        record_id: str | None,
        iterations: int,
        results_db_dir: str | Path | None = None,
        num_workers: int | None = None,
        warmup: int = 2,
        *,
        tolerances: Sequence[Tolerance] = (),
        measuring: Measuring | None = None,
        timeout: float | None = None,
        capacity: int | None = None,
        device: str | None = None,
        log_directory: str | Path | None = None,
        compile_workers: int | None = None,
        compile_timeout: float | None = None,
    ) -> None:
        """Name the launch; nothing is opened yet.

        Args:
            pool: The caller's pool, which the caller shuts down after this executor.
            record_db: A `<static hash>.json` file, or a directory of them.
            record_id: Dynamic hash of the launch; None if there is only one.
            iterations: Measured launches per configuration. At least 0.
            results_db_dir: Not used: only an argument because `AsyncReplayExecutor` has it.
            num_workers: Not used.
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
            compile_workers: Not used: processes that measure compile, too.
            compile_timeout: Not used.

        Raises:
            NotFound: If record or instance do not exist.
            InvalidArgument: If a number is out of its range.
        """
        del results_db_dir, num_workers, compile_workers, compile_timeout
        check_counts(iterations, warmup, capacity)
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
        self.iterations, self.warmup = iterations, warmup
        self._count_at_start = number_of_processes(pool)
        self._capacity_given, self._least_capacity = capacity, 2 * self._count_at_start
        self._addresses: dict[str, PoolProcess] = {}
        self.left_out: dict[str, str] = {}
        self.nodes: dict[str, NodeStatistics] = {}
        self._pool, self._stop_above_ns = sure_pool(pool), 0
        self._ir, self._ids, self._flying = b"", itertools.count(), InFlight()
        self._lock = self._landed = threading.Condition()
        self._sent, self.news = SentTasks(), News()
        self._batches = Batches(self._send_together, self._count_at_start)
        self._is_closed, self.why_broken = False, ""
        self._watch: PoolWatch | None = None
        self._late: LateProcesses | None = None
        self._comparison = Comparison()

    def prepare(self) -> None:
        """Look at the processes of the pool: mneme of this version, the recording, a device.

        Those with another model of device than most are left out. What cannot measure is in
        `left_out`, and warned of. Dask gives it no configurations. Workers that join later refuse
        theirs until they were looked at. A refused configuration is tried again elsewhere, as with
        other pools one that meets a process which cannot measure.

        Raises:
            BackendUnavailable: If no process can measure.
        """
        client = getattr(self._pool, "_client", None)
        digest, sender = digest_of(self._spec.record_db), str(getattr(client, "id", ""))
        self._spec = replace(self._spec, digest=digest, sender=sender)
        given, found = self._pool, find_processes(self._pool, self._spec)
        self._pool, self._addresses, self.left_out = found.pool, found.by_address, found.left_out
        helpers = 0 if client is not None else helpers_of(self.workers)
        self._spec = replace(self._spec, model=found.model, compile_workers=helpers)
        self._resize_batches(helpers)
        count_processes(self.nodes, (one.host for one in self.workers))
        for told in found.warnings:
            warnings.warn(told, RuntimeWarning, stacklevel=2)
        self._watch = self._watch or PoolWatch.of(
            self._pool, self._lose, lambda: set(self._addresses)
        )
        if client is not None and self._late is None:
            known = (*self._addresses, *self.left_out)
            self._late = LateProcesses(given, self._spec, known, self._take_late)

    def tell_news(self) -> None:
        """Report what became of workers, also of those that went since the last look."""
        if self._late is not None:
            self._late.note_gone(self.news, self._addresses)
        self.news.tell()

    def _take_late(self, alive: set[str], found: PoolProcesses) -> None:
        """Use workers that joined late; send again what nobody can take any more, or Dask lost."""
        with self._comparison.lock:
            self._comparison.leave_out_late(found, self._spec)
            kept = {at: one for at, one in self._addresses.items() if at in alive}
            self._pool = admitted_late(self._pool, self._spec.sender, kept, alive, found)
            self._add_late(alive, found)

    def _add_late(self, alive: set[str], found: PoolProcesses) -> None:
        with self._lock:
            self.news.add(found, self._addresses, alive)
            self.left_out.update(found.left_out)
            if found.by_address:
                kept = {at: one for at, one in self._addresses.items() if at in alive}
                self._addresses = {**kept, **found.by_address}
                self._resize_batches(0)
                count_processes(self.nodes, (one.host for one in self.workers))
            is_any = not self._addresses.keys().isdisjoint(alive)
            stranded = self._sent.take_stranded(alive, connection_of(self._pool)) if is_any else {}
        for remote, task in stranded.items():
            remote.cancel()
            self._batches.note_lost(len(task.futures))
            self._send_together([task])

    def _resize_batches(self, helpers: int) -> None:
        at_once = int(getattr(self._pool, "tasks_at_once", 1))
        count, slots = len(self.workers), sum(one.threads or at_once for one in self.workers)
        whole = min(_MOST_TOGETHER, 2 * helpers) if helpers else 1
        self._batches.resize(count, slots, whole=whole, ahead=busy_with(self.workers))
        if helpers:
            self._least_capacity = max(self._least_capacity, whole * (slots + count))

    def leave_out_slow(self, config: ExperimentConfiguration) -> None:
        """Leave out processes that need much longer than others, and warn; some can only refuse."""
        # Others may join the only worker of a Dask cluster, and are compared with it.
        if not self._addresses or (len(self._addresses) == 1 and self._late is None):
            return
        with self._comparison.lock:
            slow = self._comparison.begin(self._pool, self._spec, self._addresses, config)
            if slow:
                self._leave_out(slow)

    def _leave_out(self, slow: dict[str, str]) -> None:
        for address, why in slow.items():
            with self._lock:
                process = self._addresses.pop(address, None)
            if process is None:
                continue  # it is gone, and others have come
            self.nodes[process.host].processes -= 1
            self.left_out[address] = f"{process.host}: {why}"
            warnings.warn(f"{process.host} is left out: it {why}", RuntimeWarning, stacklevel=3)
        if hasattr(self._pool, "_client"):
            self._pool = only(self._pool, self._addresses)
            return
        self._spec = replace(self._spec, refused=self._spec.refused | set(slow))
        getattr(self._pool, "leave_out", lambda _places: None)(set(slow))
        self._resize_batches(self._spec.compile_workers)

    def _lose(self, why: str) -> None:
        """Fail what is in flight: no process is left to measure it."""
        self.why_broken = why
        self._drop(BrokenPool(why))

    def _drop(self, error: MnemeError) -> None:
        with self._lock:
            flying = self._flying.drop()
            self._batches.drop()
            self._end_if_over()
            gone = self._sent.take(one for one in flying.values() if one is not None)
        for future in flying:
            future.set_error(error)
        for remote, task in gone.items():
            self._batches.note_lost(len(task.futures))
            if not self.why_broken:
                remote.cancel()

    @property
    def workers(self) -> list[PoolProcess]:
        """The processes that can measure, once `prepare` has looked at them."""
        return list(self._addresses.values())

    @property
    def capacity(self) -> int:
        """Useful number of configurations in flight now: two batches of each process."""
        if self._capacity_given is not None:
            return self._capacity_given
        known = 2 * (len(self.workers) or self._count_at_start) * self._batches.known_size
        return max(self._least_capacity, known, self._batches.useful)

    def expect(self, count: int) -> None:
        """Note how many configurations will be submitted from now on: the last tasks are small."""
        self._batches.expect(count)

    def tighten(self, stop_above_ns: int) -> None:
        """Lower the limit, as in `Measuring`, of configurations that are submitted from now on."""
        self._stop_above_ns = stop_above_ns

    def set_ir(self, ir: object) -> None:
        """Use other IR for later submissions: text, a path, bitcode, a module, None."""
        self._ir = ir_bytes(ir)

    @property
    def statistics(self) -> ExecutorStatistics:
        """Statistics so far, as far as results contain them."""
        with self._lock:
            return self._flying.statistics

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
            BrokenPool: If the pool is broken.
        """
        del worker
        task = self._task([config], iterations, measuring, is_fresh=fresh)
        (self._batches.add if self._batches.size > 1 else self._send)(task)
        return task.futures[0]

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
            BrokenPool: If the pool is broken.
        """
        task = self._task(configs, iterations, measuring, is_fresh=fresh)
        self._send(task)
        return task.futures

    def _task(
        self,
        configs: Sequence[ExperimentConfiguration],
        iterations: int | None,
        measuring: Measuring | None,
        *,
        is_fresh: bool,
    ) -> PoolTask:
        if iterations is not None and iterations < 0:
            raise InvalidArgument(f"need iterations >= 0, got {iterations}")
        if measuring is not None and 0 < self._stop_above_ns < measuring.stop_above_ns:
            measuring = replace(measuring, stop_above_ns=self._stop_above_ns)
        self.news.tell()
        options = {"fresh": is_fresh, "iterations": iterations, "measuring": measuring}
        ir = self._ir
        futures = [EvalFuture(next(self._ids), one.copy(), ir or None) for one in configs]
        with self._lock:
            self._refuse_if_over()
            self._flying.begin(futures)
        return PoolTask(futures, [one.to_dict() for one in configs], ir, options)

    def _send_together(self, tasks: list[PoolTask]) -> None:
        """Send tasks of one configuration each as fewer tasks."""
        tasks = [one for one in tasks if self._flying.has_any(one.futures)]
        for task in grouped(tasks, self._batches.size):
            try:
                self._send(task)
            except MnemeError as error:
                task.fail(error)

    def _send(self, task: PoolTask) -> None:
        pool, spec = self._pool, self._spec
        if self._late is not None:
            task.places, task.connection = places_of(pool), connection_of(pool)
            spec = replace(spec, is_for_admitted=not task.places)
        try:
            remote = handed_to(pool, evaluate, spec, task)
        except MnemeError as error:
            if isinstance(error, BrokenPool):
                self.why_broken = str(error)
            self._forget(task.futures)
            raise
        with self._lock:
            self._sent.add(remote, task)
            self._flying.send(task.futures, remote)
        self._batches.note_task(len(task.futures))
        remote.add_done_callback(lambda done: self._land(task, done))

    def _try_elsewhere(self, task: PoolTask, why: Exception) -> bool:
        """Submit again what met a process that cannot measure, or was dropped; false: no more."""
        task.tries += not isinstance(why, RefusedProcess)
        if isinstance(why, CancelledError):
            if not is_connected(self._pool):
                return False
        elif self._late is not None and not task.places:
            # A process that joined has got it: none gets more until it was looked at.
            self._pool = only(self._pool, self._addresses)
        if isinstance(why, RefusedProcess):
            hold_refused(self._pool, self._spec, self._count_at_start - len(self._sent))
        elif not isinstance(why, (UnknownProcess, CancelledError)):
            place, _, reason = str(why).partition(": ")
            with self._lock:
                self.left_out[place if reason else "a process"] = reason or str(why)
        if task.tries >= _MOST_TRIES or self.why_broken or not self._flying.has_any(task.futures):
            return False
        try:
            self._send(task)
        except (MnemeError, RuntimeError):
            return False
        return True

    def shutdown(self, *, cancel: bool = False, wait: bool = True) -> None:
        """Take no more configurations and wait for the present ones; the pool continues.

        Args:
            cancel: Do not wait: unfinished results raise `InvalidArgument`.
            wait: Whether to wait for the others.
        """
        with self._lock:
            self._is_closed = True
        if cancel:
            self._drop(InvalidArgument("the executor was shut down before this was done"))
        self._batches.close()
        with self._lock:
            self._end_if_over()
            while wait and self._flying:
                self._landed.wait()

    def _end_if_over(self) -> None:
        """Wake those that wait; until all has ended, processes may die, or others come."""
        self._landed.notify_all()
        if self._is_closed and not self._flying:
            for thread in [one for one in (self._watch, self._late) if one is not None]:
                thread.stop()

    def renew(self, *, cancel: bool = False) -> None:
        """Open the recording anew for what comes next; `cancel` is as in `shutdown`."""
        if cancel:
            self._drop(InvalidArgument("the executor was renewed before this was done"))
        with self._lock:
            while not cancel and self._flying:
                self._landed.wait()
            self._spec = replace(self._spec, generation=self._spec.generation + 1)

    def _refuse_if_over(self) -> None:
        if self._is_closed:
            raise InvalidArgument("the executor is shut down and takes no configurations")
        if self.why_broken:
            raise BrokenPool(self.why_broken)

    def _land(self, task: PoolTask, remote: Future[dict[str, Any]]) -> None:
        with self._lock:
            if not self._sent.remove(remote):
                return  # it was sent again
        self._batches.note_end(len(task.futures), seconds_of(remote), task.age)
        error: MnemeError | None = None
        results: list[ExperimentResult] = []
        try:
            answer = remote.result()
            results = [ExperimentResult.from_dict(one) for one in answer["results"]]
            with self._lock:
                count_results(self.nodes, answer["host"], results)
        except (UnfitProcess, ImportError, CancelledError) as failure:
            if self._try_elsewhere(task, failure):
                return
            error = why_lost(self._pool, failure)
            self.why_broken = str(error) if isinstance(error, BrokenPool) else self.why_broken
        except MnemeError as failure:
            error = failure
        except BaseException as failure:  # noqa: BLE001 - the futures report it
            if isinstance(failure, BrokenExecutor):
                self.why_broken = broken(failure)
            results = [lost_result(failure)] * len(task.futures)
        with self._lock:
            self._flying.count(task.futures, results if error is None else None)
        task.finish(error or results)
        self._forget(task.futures)

    def _forget(self, futures: list[EvalFuture]) -> None:
        with self._lock:
            self._flying.forget(futures)
            self._end_if_over()
