"""One tuning session: a recorded launch, a search, a winner that is measured again, files.

The session sees replay only as "evaluate(configuration) -> result", and prints nothing: a
`TuneListener` receives its progress.
"""

from __future__ import annotations

import contextlib
import functools
import warnings
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mneme import errors
from mneme.devices import DeviceLimits, choose_device, use_limits
from mneme.measure.cluster import open_cluster, seconds_left
from mneme.measure.futures_executor import FuturesReplayExecutor
from mneme.measure.job_time import time_for_search
from mneme.measure.pool_task import BrokenPool
from mneme.recording.launch_facts import UNOPTIMIZED
from mneme.recording.recorded_execution import RecordedExecution
from mneme.recording.records import choose, first_of_alike, only_launch, told_of_alike
from mneme.search.custom_spaces import describe_search_space
from mneme.search.space_view import SpaceView
from mneme.session.all_launches import tune_all
from mneme.session.constant_arguments import (
    with_constant_arguments,
    with_deployable_dimensions,
)
from mneme.session.events import Outcome, TuneListener, tell_failure
from mneme.session.memory import Memory
from mneme.session.models import tune_models
from mneme.session.options import TuneOptions
from mneme.session.result_store import ResultStore
from mneme.session.session_run import BASELINE_FAILED, INTERRUPTED, OK, TRIAL_FAILED, SessionRun
from mneme.session.spaces import first_samples, make_space
from mneme.session.storages import open_storage
from mneme.session.studies import check_sampler
from mneme.session.trials import Candidate, CompletedCandidate, classify_result, metric_value
from mneme.session.without_ir import with_code_as_it_is

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from concurrent.futures import Executor

    from mneme.recording.recorded_execution import KernelInstance
    from mneme.search.search_space import SearchSpace

__all__ = [
    "BASELINE_FAILED",
    "INTERRUPTED",
    "TRIAL_FAILED",
    "Candidate",
    "CompletedCandidate",
    "TuneOptions",
    "TuningSession",
    "classify_result",
    "metric_value",
]

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


# Time limits below this are reported, in seconds; few searches take as long.
_WORTH_TELLING = 3600


class TuningSession:
    """Searches for the fastest configuration of a recorded launch."""

    def __init__(
        self,
        options: TuneOptions,
        listener: TuneListener | None = None,
        *,
        space: SearchSpace | None = None,
        make_executor: Callable[..., Any] | None = None,
        weight: float = 1.0,
    ) -> None:
        """Prepare; nothing is opened yet.

        Args:
            options: What to do.
            listener: Receives every step.
            space: The search space; None: the one in the options.
            make_executor: Called with the arguments of `AsyncReplayExecutor`; None: that class.
            weight: Share of the application's time that the launch represents.
        """
        self.weight = weight
        self.options = options
        self.given = options
        """The options before anything was derived from them."""
        self.listener = listener or TuneListener()
        self.outcome: Outcome | None = None
        """The result, once `run` has returned."""
        self.is_pool_gone = False
        """Whether nothing is left of the pool, so that no other launch can be measured either."""
        self.error = ""
        """Why `run` did not return 0, a sentence."""
        self.resume_with = ""
        """What continues all that the search is a part of; empty: the search with its directory."""
        self._space = space
        self._make_executor = make_executor

    def run(self) -> int:
        """Search, and write the results directory.

        Returns:
            0 if all went well, 1 if the baseline failed, 3 for invalid options, 4 if the recording
            cannot be read, 6 if a device or package is unavailable, 7 if `fail_fast` ended it, 8 if
            results cannot be written, 130 if it was interrupted; see `error`.
        """
        try:
            if self.options.on != "mpi":  # the first rank alone reports what is invalid
                self.options.validate()
            if self.options.has_several_models:
                return tune_models(self.options, self.listener)
            with self._cluster() as pool:
                self.options.validate()
                self._keep_within_job(pool)
                return self._run_all() if self.options.all else self._run()
        except errors.MnemeError as error:
            self.error = str(error)
            self.is_pool_gone = self.is_pool_gone or isinstance(error, BrokenPool)
            is_gone = isinstance(error, errors.BackendUnavailable) and self.resume_with
            if is_gone and "--resume" not in self.error:
                self.error += f"; go on with {self.resume_with}"
            tell_failure(self.listener, self.error, error)
            return next((code for kind, code in _CODES if isinstance(error, kind)), 7)

    @contextlib.contextmanager
    def _cluster(self) -> Iterator[Executor | None]:
        """Measure on the cluster that the options name; gives its pool."""
        if self._make_executor is not None:
            yield None
            return
        opened = open_cluster(
            self.options.on,
            cluster_options=self.options.cluster,
            model=next(iter(self.options.model), None),
            device=self.options.device,
            report=self.listener.note,
        )
        with opened as pool:
            if pool is not None:
                self._make_executor = functools.partial(FuturesReplayExecutor, pool)
            yield pool

    def _keep_within_job(self, pool: Executor | None) -> None:
        """End the search in time if the job of a batch system that it runs in has a limit."""
        left = seconds_left(pool)
        if left is None:
            return
        most = time_for_search(left)
        if self.options.timeout is None or self.options.timeout > most:
            self.options = replace(self.options, timeout=most, times_everything=True)
            if most < _WORTH_TELLING:
                self.listener.note(
                    f"the job ends in {left:.0f} s, so everything is done within {most:.0f} s"
                )

    def _run(self) -> int:
        path, record_id = self._chosen()
        with use_limits(self._limits_elsewhere(path, record_id)):
            return self._run_launch(path, record_id)

    def _chosen(self) -> tuple[Path, str]:
        """Return the record file and the launch; of several that are alike, the first recorded."""
        options = self.options
        chosen = choose(options.record_database, options.kernel, options.record_id)
        alike = first_of_alike(chosen)
        if alike is None:
            return chosen.record.path, only_launch(chosen)
        self.listener.note(told_of_alike(chosen, alike))
        return chosen.record.path, alike

    def _limits_elsewhere(self, path: Path, record_id: str) -> DeviceLimits | None:
        """Return the device that measures on a cluster; None if this machine measures.

        Nodes for login have none.
        """
        if self.options.on is None:
            return None
        iterations, device = self.options.iterations, self.options.device
        with self.executor(path, record_id, iterations, device=device) as executor:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # given when the search begins
                executor.prepare()
            limits: DeviceLimits = executor.workers[0].limits
            return limits

    def _run_launch(self, path: Path, record_id: str) -> int:
        options = self.options
        record = RecordedExecution.from_json(path)
        instance = record.get(record_id)
        told: list[str] = []
        if self._space is None:
            options, about_code = with_code_as_it_is(options, record)
            options, about_constants = with_constant_arguments(options, record, instance)
            options, about_dimensions = with_deployable_dimensions(options, record)
            if options.baseline == "program" and (record.code_form or record.loaded_form):
                about_code = ""  # `mneme optimize` has reported it before
            told = [one for one in (about_code, about_constants, about_dimensions) if one]
            self.options = options
        space = self._space or make_space(options, instance)
        if options.print_space or options.dry_run:
            self._show(space, record, instance)
            return OK
        # Report a missing sampler before the baseline is measured.
        check_sampler(options)
        if options.optuna_storage is not None:
            open_storage(options.optuna_storage)
        directory = Path(options.results_dir or _default_directory(record_id))
        with ResultStore(directory) as store:
            store.open(resume=options.resume)
            self.listener.started(record.told_name, record_id, directory)
            for sentence in () if options.baseline_only else told:
                store.log(sentence)
                self.listener.note(sentence)
            self._tell_if_unoptimized(record)
            run = SessionRun(self, record, instance, space, store)
            code = run.run()
            self.outcome = run.outcome
            return code

    def _tell_if_unoptimized(self, record: RecordedExecution) -> None:
        # `mneme optimize` takes the program's own build as baseline, and has reported this before.
        is_new = self.options.baseline != "program"
        if record.is_unoptimized and is_new and (self.options.device or choose_device()) != "cpu":
            self.listener.warn(UNOPTIMIZED)

    def _show(
        self, space: SearchSpace, record: RecordedExecution, instance: KernelInstance
    ) -> None:
        """Show the space and, on request, what would be tried first."""
        options, samples, seeds = self.options, [], []
        if options.dry_run and options.uses_portfolio:
            device = options.device or choose_device()
            memory = Memory(options, self.listener, record, instance)
            seeds = memory.seeds(SpaceView.of(space), device).points
        if options.dry_run:
            samples = [one.config.to_dict() for one in first_samples(options, space, seeds)]
        self.listener.space(describe_search_space(space), samples)

    def _run_all(self) -> int:
        def make(options: TuneOptions, weight: float) -> TuningSession:
            return TuningSession(
                options, self.listener, make_executor=self._make_executor, weight=weight
            )

        return tune_all(self.options, self.listener, make, given=self.given)

    def executor(self, *arguments: Any, **keywords: Any) -> Any:  # noqa: ANN401 - an `Executor`
        """Return the executor."""
        if self._make_executor is not None:
            return self._make_executor(*arguments, **keywords)
        from mneme.measure.async_executor import AsyncReplayExecutor  # noqa: PLC0415 - processes

        return AsyncReplayExecutor(*arguments, **keywords)


def _default_directory(record_id: str) -> Path:
    stamp = datetime.now().strftime("%Y%m%d-%H%M%S")  # noqa: DTZ005 - people read it
    directory = Path("mneme-tune-results") / f"{record_id}-{stamp}"
    count = 1
    while directory.exists():
        count += 1
        directory = directory.with_name(f"{record_id}-{stamp}-{count}")
    return directory
