"""One tuning session: a recorded launch, a search, a winner that is measured again, files.

The session sees replay only as "evaluate(configuration) -> result", and prints nothing: whoever
wants to watch gives it a `TuneListener`.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mneme import errors
from mneme.mneme_types import ExperimentConfiguration
from mneme.recorded_execution import RecordedExecution
from mneme.records import find_instance
from mneme.tuning.events import Outcome, TuneListener
from mneme.tuning.exports import Exporter
from mneme.tuning.loop import SearchLoop, complete, submit
from mneme.tuning.options import TuneOptions
from mneme.tuning.policy import Policy, trial_policy, warmup_launches
from mneme.tuning.result_store import ResultStore
from mneme.tuning.spaces import describe, first_samples, make_space
from mneme.tuning.studies import Mirror, make_search
from mneme.tuning.trials import Candidate, CompletedCandidate, classify_result, metric_value
from mneme.tuning.winner import Finalist, name_winner

if TYPE_CHECKING:
    from collections.abc import Callable

    from mneme.recorded_execution import KernelInstance
    from mneme.tuning.search_space import SearchSpace

__all__ = [
    "BASELINE_FAILED",
    "INTERRUPTED",
    "Candidate",
    "CompletedCandidate",
    "TuneOptions",
    "TuningSession",
    "classify_result",
    "metric_value",
]

OK = 0
BASELINE_FAILED = 1
INTERRUPTED = 130
_BASELINE = -1

_CODES: tuple[tuple[type[errors.MnemeError], int], ...] = (
    (errors.InvalidArgument, 3),
    (errors.NotFound, 4),
    (errors.ArtifactCorrupt, 4),
    (errors.IoFailed, 8),
    (errors.AddressUnavailable, 6),
    (errors.BackendUnavailable, 6),
    (errors.Unsupported, 6),
    (errors.InternalError, 5),
)


class TuningSession:
    """Searches for the fastest configuration of a recorded launch."""

    def __init__(
        self,
        options: TuneOptions,
        listener: TuneListener | None = None,
        *,
        space: SearchSpace | None = None,
        make_executor: Callable[..., Any] | None = None,
    ) -> None:
        """Prepare; nothing is opened yet.

        Args:
            options: What to do.
            listener: Hears of every step.
            space: What may be tried; None: what the options say.
            make_executor: Called with the arguments of `AsyncReplayExecutor`; None: that class.
        """
        self.options = options
        self.listener = listener or TuneListener()
        self.outcome: Outcome | None = None
        """What was found, once `run` has returned."""
        self.error = ""
        """Why `run` did not return 0, a sentence."""
        self._space = space
        self._make_executor = make_executor

    def run(self) -> int:
        """Search, and write the results directory.

        Returns:
            0 if all went well, 1 if the baseline failed, 3 for options that make no sense, 4 if
            the recording cannot be read, 6 if a device or package is not to be had, 8 if results
            cannot be written, 130 if it was interrupted; see `error`.
        """
        try:
            self.options.validate()
            return self._run()
        except errors.MnemeError as error:
            self.error = str(error)
            self.listener.failed(self.error)
            return next((code for kind, code in _CODES if isinstance(error, kind)), 7)

    def _run(self) -> int:
        options = self.options
        path, record_id = find_instance(options.record_database, options.record_id)
        record = RecordedExecution.from_json(path)
        instance = record.get(record_id)
        space = self._space or make_space(options, instance)
        if options.print_space or options.dry_run:
            samples = first_samples(options, space) if options.dry_run else []
            self.listener.space(describe(options, space), [one.config.to_dict() for one in samples])
            return OK
        directory = Path(options.results_dir or _default_directory(record_id))
        with ResultStore(directory) as store:
            store.open(resume=options.resume)
            self.listener.started(record.demangled_name, record_id, directory)
            run = _Run(self, record, instance, space, store)
            code = run.run()
            self.outcome = run.outcome
            return code

    def executor(self, *arguments: Any, **keywords: Any) -> Any:  # noqa: ANN401 - an `Executor`
        """Return what evaluates configurations."""
        if self._make_executor is not None:
            return self._make_executor(*arguments, **keywords)
        from mneme.async_executor import AsyncReplayExecutor  # noqa: PLC0415 - processes

        return AsyncReplayExecutor(*arguments, **keywords)


class _Run:
    """One session with its record and its results directory open."""

    def __init__(
        self,
        session: TuningSession,
        record: RecordedExecution,
        instance: KernelInstance,
        space: SearchSpace,
        store: ResultStore,
    ) -> None:
        self._session = session
        self._options = session.options
        self._listener = session.listener
        self._record = record
        self._instance = instance
        self._space = space
        self._store = store
        self._history = store.trials() if session.options.resume else []
        self._exporter = Exporter(session.options, record, instance, store)
        self.outcome: Outcome | None = None

    def run(self) -> int:
        options, store = self._options, self._store
        stored = store.read("baseline.json") if options.resume else None
        self._check_record(store.read("summary.json") if options.resume else None)
        store.write("config.json", options.to_dict())
        store.write("search_space.json", describe(options, self._space))
        executor = self._open_executor()
        try:
            return self._tune(executor, stored)
        except KeyboardInterrupt:
            executor.shutdown(cancel=True)
            return self._interrupted()
        except BaseException:
            executor.shutdown(cancel=True)
            raise
        finally:
            executor.shutdown()

    def _tune(self, executor: Any, stored: dict[str, Any] | None) -> int:  # noqa: ANN401
        self._loop: SearchLoop | None = None
        self._baseline = self._measure_baseline(executor, stored)
        if not self._baseline.is_verified or not self._baseline.metric:
            return self._baseline_failed()
        self._listener.baseline(self._baseline)
        if self._options.baseline_only:
            return self._end("baseline_only", None)
        policy = trial_policy(self._options, self._baseline.metric)
        capacity = int(getattr(executor, "capacity", 2 * self._options.workers))
        search = make_search(
            self._options,
            self._space,
            record=f"{self._record.static_hash}/{self._instance.dynamic_hash}",
            capacity=capacity,
            history=self._history,
        )
        mirror = Mirror(self._store.directory / "study.journal", self._space, self._options)
        for done in self._history:
            mirror.add(done)
        self._loop = self._make_loop(executor, search, mirror, policy, capacity)
        try:
            reason = self._loop.run(trials=self._options.trials, timeout=self._options.timeout)
        except BaseException:
            self._loop.give_up()
            raise
        finally:
            mirror.flush()
        if mirror.problem:
            self._listener.warn(mirror.problem)
        return self._conclude(executor, reason, search.shared.others())

    def _make_loop(
        self,
        executor: Any,  # noqa: ANN401
        search: Any,  # noqa: ANN401
        mirror: Mirror,
        policy: Policy,
        capacity: int,
    ) -> SearchLoop:
        loop = SearchLoop(
            executor,
            search,
            self._store,
            self._listener,
            self._options,
            self._baseline,
            measuring=policy.measuring,
            iterations=policy.iterations,
            capacity=capacity,
            on_done=mirror.add,
        )
        loop.recall(self._history)
        return loop

    def _conclude(self, executor: Any, reason: str, others: list[CompletedCandidate]) -> int:  # noqa: ANN401
        if reason == "failed_fast":
            loop = self._loop
            sentence = loop.errors[0] if loop is not None and loop.errors else "a trial failed"
            self._listener.warn(f"ended at the first configuration that failed: {sentence}")
        trials = [*(self._loop.completed if self._loop else []), *others]
        finalist = name_winner(
            executor, self._options, self._instance, self._baseline, trials, self._listener
        )
        return self._end(reason, finalist, executor)

    def _end(self, status: str, finalist: Finalist | None, executor: Any = None) -> int:  # noqa: ANN401
        progress = self._loop.progress if self._loop is not None else None
        trials = self._loop.completed if self._loop is not None else []
        self.outcome = self._exporter.write(
            status, self._baseline, finalist, trials, self._space, executor
        )
        if progress is not None:
            self.outcome.progress = progress
        if self._store.problem:
            raise errors.IoFailed(
                f"{self._store.problem}; {self._store.unwritten} trials are not on disk"
            )
        self._listener.finished(self.outcome)
        return OK

    def _interrupted(self) -> int:
        trials = self._loop.completed if self._loop is not None else self._history
        baseline = getattr(self, "_baseline", None)
        self.outcome = self._exporter.interrupted(baseline, trials)
        if self._loop is not None:
            self.outcome.progress = self._loop.progress
        self._listener.finished(self.outcome)
        return INTERRUPTED

    def _baseline_failed(self) -> int:
        error = self._baseline.result.error or "its memory differs from the recorded one"
        suggestion = self._baseline.result.suggestion
        hint = f"; try --tolerance {suggestion}" if suggestion else ""
        self._session.error = (
            f"the baseline of {self._record.demangled_name} cannot be used "
            f"({self._baseline.status}): {error}{hint}"
        )
        self.outcome = self._exporter.failed(self._baseline)
        self._listener.failed(self._session.error)
        return BASELINE_FAILED

    def _check_record(self, summary: dict[str, Any] | None) -> None:
        record = (summary or {}).get("record") or {}
        found = record.get("record_id", self._instance.dynamic_hash)
        if str(found) != self._instance.dynamic_hash:
            raise errors.InvalidArgument(
                f"'{self._store.directory}' tuned instance {found}, not "
                f"{self._instance.dynamic_hash}; name another --results-dir"
            )

    def _open_executor(self) -> Any:  # noqa: ANN401
        from mneme.tolerance import Tolerance  # noqa: PLC0415

        options = self._options
        return self._session.executor(
            self._record.path,
            self._instance.dynamic_hash,
            options.iterations,
            self._store.directory,
            options.workers,
            warmup_launches(options, self._instance.recorded_ns),
            device=options.device,
            timeout=options.trial_timeout,
            tolerances=tuple(Tolerance.parse(text) for text in options.tolerance),
            compile_workers=options.compile_workers,
            compile_timeout=options.compile_timeout,
        )

    def _measure_baseline(self, executor: Any, stored: dict[str, Any] | None) -> CompletedCandidate:  # noqa: ANN401
        if stored is not None and not self._options.rerun_baseline:
            names = {"trial": _BASELINE, "status": "verified"}
            kept = CompletedCandidate.from_dict({**stored, **names})
            kept.baseline_metric = kept.metric
            return kept
        config = self._space.baseline()
        if config is None:
            config = ExperimentConfiguration(
                grid=self._instance.grid_dim,
                block=self._instance.block_dim,
                shared_mem=self._instance.shared_mem,
                max_threads=0,
                min_blocks_per_sm=0,
            )
        policy = trial_policy(self._options, 0)
        candidate = Candidate(trial=_BASELINE, config=config)
        future = submit(executor, config, measuring=policy.measuring, iterations=policy.iterations)
        done = complete(candidate, future, self._options.metric, policy.iterations, None)
        done = replace(done, baseline_metric=done.metric)
        if done.is_verified:
            self._exporter.write_baseline(done)
        return done


def _default_directory(record_id: str) -> Path:
    stamp = datetime.now().strftime("%Y%m%d-%H%M%S")  # noqa: DTZ005 - people read it
    directory = Path("mneme-tune-results") / f"{record_id}-{stamp}"
    count = 1
    while directory.exists():
        count += 1
        directory = directory.with_name(f"{record_id}-{stamp}-{count}")
    return directory
