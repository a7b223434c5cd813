"""The search: keeps the executor busy with configurations and processes the results."""

from __future__ import annotations

import functools
import inspect
import queue
import statistics
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol

from mneme.errors import BackendUnavailable, MnemeError
from mneme.interrupts import interrupts_wait, interrupts_wait_often
from mneme.measure.interpreter_settings import rare_collections
from mneme.mneme_types import ExperimentConfiguration, ExperimentResult
from mneme.session.events import Progress
from mneme.session.policy import ends_hangs
from mneme.session.trials import (
    Candidate,
    CompletedCandidate,
    classify_result,
    metric_value,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Hashable, Iterable

    from mneme.measure.measuring import Measuring
    from mneme.session.events import TuneListener
    from mneme.session.options import TuneOptions
    from mneme.session.result_store import ResultStore

__all__ = ["Executor", "Future", "Search", "SearchLoop", "complete", "submit"]

# Number of known configurations in a row after which the space counts as searched.
_KNOWN_IN_A_ROW = 200
# Number of running configurations in a row before the search waits for results.
_FOLLOWING_IN_A_ROW = 20
_POLL_SECONDS = 0.2
# Number of results after which the executor gets more configurations, even if more results wait.
_RESULTS_IN_A_ROW = 64
# Running configurations may take this long after the end of the time, and this many times the
# longest one.
_GRACE_SECONDS, _GRACE_FACTOR = 5.0, 2.0
# Limits of this grace if the time is for everything.
_LEAST_GRACE_SECONDS, _GRACE_PART = 2.0, 0.1
# A configuration hangs if it takes this long, and this many times as long as the longest before.
_HANG_SECONDS, _HANG_FACTOR = 10.0, 20.0
# Number of configurations without any result after which no worker is assumed to be left.
_LOST_IN_A_ROW = 5
_ENOUGH_AGAINST_SHAPE = 2
_ENOUGH_FOR_MEDIAN = 8
# How strongly a failure counts against the block shape: a wrong result usually comes from it, a
# crash may have many causes.
_AGAINST_SHAPE = {"invalid_launch": 1, "failed_verification": 2, "runtime_error": 1}


class Future(Protocol):
    """A result, now or later."""

    def result(self, timeout: float | None = None) -> ExperimentResult | None:
        """Wait for the result."""

    def add_done_callback(self, fn: Callable[[Any], None]) -> None:
        """Call when there is a result."""


class Executor(Protocol):
    """The interface that evaluates configurations.

    An attribute `can_pin` that is False says that `worker` has no effect.
    """

    def submit(self, config: ExperimentConfiguration) -> Any:  # noqa: ANN401 - a `Future`
        """Queue a configuration; may know the keywords iterations, measuring, fresh, worker.

        An executor may also have `tighten(stop_above_ns)`, which lowers higher limits of queued
        configurations to this one, `end_hanging(least_seconds, factor)`, which fails
        measurements that take this long and this many times as long as all before, and
        `submit_together(configs, iterations, measuring, fresh)`, which measures all on one device,
        and `expect(count)`, which says how many configurations will be submitted at most.
        """


class Search(Protocol):
    """The interface that chooses what to try next."""

    def ask(self) -> Candidate | None:
        """Return the next configuration; None if there is nothing left to try."""

    def tell(self, done: CompletedCandidate, *, is_repeated: bool = False) -> None:
        """Take the result of a configuration from `ask`; `is_repeated` if it was known before."""

    def give_up(self, candidates: Iterable[Candidate]) -> None:
        """Note that these candidates will have no result."""

    def beat(self) -> None:
        """Tell processes that share the study that this one is alive; called often."""


def submit(executor: Executor, config: ExperimentConfiguration, **wishes: Any) -> Any:  # noqa: ANN401
    """Queue a configuration with the keywords that the executor knows."""
    known = _keywords_of(getattr(executor.submit, "__func__", executor.submit))
    if known is not None:
        wishes = {name: value for name, value in wishes.items() if name in known}
    return executor.submit(config, **wishes)


@functools.lru_cache(maxsize=8)
def _keywords_of(function: Callable[..., Any]) -> Collection[str] | None:
    """Return the keywords that a function accepts; None: any."""
    known = inspect.signature(function).parameters
    takes_any = any(one.kind is inspect.Parameter.VAR_KEYWORD for one in known.values())
    return None if takes_any else frozenset(known)


def complete(
    candidate: Candidate, future: Future, metric: str, iterations: int, baseline: float | None
) -> CompletedCandidate:
    """Return a candidate with the result of its future, also for a failure."""
    try:
        result = future.result()
        status = ""
    except MnemeError as error:
        result = ExperimentResult(failed=True, error=str(error))
        status = "internal_error"
    if result is None:  # pragma: no cover - without timeout there is a result
        raise AssertionError
    status = status or classify_result(result)
    value = metric_value(result, metric, iterations) if status == "verified" else None
    if status == "verified" and value is None:
        status, result = "runtime_error", replace(result, error="no launch was measured")
    return CompletedCandidate(
        candidate=candidate, status=status, result=result, metric=value, baseline_metric=baseline
    )


class SearchLoop:
    """One search over one space."""

    def __init__(  # noqa: PLR0913, PLR0917 - what a search consists of
        self,
        executor: Executor,
        search: Search,
        store: ResultStore,
        listener: TuneListener,
        options: TuneOptions,
        baseline: CompletedCandidate,
        *,
        measuring: Measuring,
        iterations: int,
        capacity: int,
        on_done: Callable[[CompletedCandidate], None] = lambda _done: None,
    ) -> None:
        """Prepare; `run` searches."""
        self._on_done = on_done
        self._executor = executor
        self._tighten = getattr(executor, "tighten", lambda _stop_above_ns: None)
        self._expect = getattr(executor, "expect", lambda _count: None)
        self._end_hanging = getattr(executor, "end_hanging", lambda _least, _factor: None)
        self._search = search
        self._store = store
        self._listener = listener
        self._options = options
        self._measuring = measuring
        self._iterations = iterations
        self._capacity = max(1, capacity)
        self._baseline = baseline
        self._known: dict[Hashable, CompletedCandidate] = {}
        self._following: dict[Hashable, list[Candidate]] = {}
        self._in_flight: dict[Hashable, Candidate] = {}
        self._since: dict[Hashable, float] = {}
        self._longest = 0.0
        self._finished: queue.SimpleQueue[tuple[Candidate, Any]] = queue.SimpleQueue()
        # The baseline's shape is right even if some code for it fails.
        self._good_shapes = {_shape(baseline.candidate.config)}
        self._bad_shapes: dict[tuple[object, ...], int] = {}
        self._next_trial = 0
        self._repeated_in_a_row = 0
        self._lost_in_a_row = 0
        self._has_failed_fast = False
        self._told_problem = ""
        self._noted = 0.0
        self._began: float | None = None
        self.progress = Progress(baseline_ns=baseline.metric)
        self.completed: list[CompletedCandidate] = []
        """All trials, those of earlier runs first."""
        self.errors: list[str] = []
        self.is_stuck = False
        """The time is over and something does not end: the executor cannot be used any more."""

    def recall(self, history: Iterable[CompletedCandidate]) -> None:
        """Add trials of earlier runs, which are not repeated."""
        for done in history:
            self._next_trial = max(self._next_trial, done.candidate.trial + 1)
            self._count(replace(done, baseline_metric=self._baseline.metric))

    def run(self, *, trials: int | None, timeout: float | None) -> str:
        """Search until it ends; return why: completed, timeout or failed_fast.

        An interrupt is raised; finished trials are stored. Call it again to continue, unless it
        `is_stuck`.
        """
        with rare_collections(), interrupts_wait_often():
            return self._run(trials, timeout)

    def _run(self, trials: int | None, timeout: float | None) -> str:
        now = time.monotonic()
        began = self._began = now if self._began is None else self._began
        deadline = None if timeout is None else now + timeout
        self.progress.total = trials
        self._tighten(0)  # what another search found says nothing of this one
        while True:
            is_over = deadline is not None and time.monotonic() >= deadline
            may_ask = not is_over and not self._has_failed_fast
            asked = self._fill(trials, deadline) if may_ask else False
            if not self._in_flight and not asked:
                break
            self._take_in(began, deadline)
            self._end_what_hangs()
            if deadline is not None and self._hangs_since(deadline):
                self.is_stuck = True
                break
        if self._has_failed_fast:
            return "failed_fast"
        is_over = deadline is not None and time.monotonic() >= deadline
        return (
            "timeout"
            if is_over and (trials is None or self.progress.done < trials)
            else "completed"
        )

    def _hangs_since(self, deadline: float) -> bool:
        """Whether running configurations take so long that the search does not wait for them."""
        grace = max(_GRACE_SECONDS, _GRACE_FACTOR * self._longest)
        if self._options.times_everything and self._options.timeout is not None:
            grace = min(grace, max(_LEAST_GRACE_SECONDS, _GRACE_PART * self._options.timeout))
        return bool(self._in_flight) and time.monotonic() > deadline + grace

    def _end_what_hangs(self) -> None:
        """End measurements that take much longer than all others, unless the user allows it."""
        if not self._since or not ends_hangs(self._options):
            return
        if time.monotonic() - min(self._since.values()) > _HANG_SECONDS:
            self._end_hanging(_HANG_SECONDS, _HANG_FACTOR)

    def _keep_finished(self) -> None:
        """Store results that came while something else ended the search, without reporting them."""
        while not self._finished.empty():
            with interrupts_wait():  # so that nothing is taken and not kept
                candidate, future = self._finished.get()
                if self._in_flight.pop(candidate.key, None) is None:
                    continue
                done = self._completed(candidate, future)
                if done.status != "internal_error":
                    self._keep(done)

    def give_up(self) -> None:
        """Store what has finished meanwhile; tell the study which trials will have no result."""
        self._keep_finished()
        following = [one for many in self._following.values() for one in many]
        self._search.give_up([*self._in_flight.values(), *following])

    def _fill(self, trials: int | None, deadline: float | None) -> bool:
        """Submit as many configurations as should be in flight; false if none is left."""
        following = 0
        # An executor may want more in flight once it knows how long configurations take.
        capacity = max(self._capacity, int(getattr(self._executor, "capacity", 0)))
        if trials is not None:
            self._expect(trials - self.progress.done - len(self._in_flight))
        while len(self._in_flight) < capacity and following < _FOLLOWING_IN_A_ROW:
            if trials is not None and self.progress.done + len(self._in_flight) >= trials:
                return False
            if deadline is not None and time.monotonic() >= deadline:
                return False
            # An enumeration comes to an end by itself.
            if self._repeated_in_a_row >= _KNOWN_IN_A_ROW and not self._options.enumerates:
                return False
            candidate = self._search.ask()
            if candidate is None:
                return False
            # Asking again for a running trial does not mean that the search has ended.
            following = following + 1 if self._follow(candidate) else 0
        return True

    def _follow(self, candidate: Candidate) -> bool:
        """Start a configuration; return whether it waits for a running one instead."""
        key = candidate.key
        if key in self._in_flight:
            self._following.setdefault(key, []).append(candidate)
            return True
        self._start(candidate)
        return False

    def _start(self, candidate: Candidate) -> None:
        key = candidate.key
        known = self._known.get(key)
        if known is not None:
            self._repeat(candidate, known)
            return
        if self._is_banned(candidate.config):
            self._leave_out(candidate)
            return
        self._repeated_in_a_row = 0
        candidate.trial = self._next_trial
        self._next_trial += 1
        future = submit(
            self._executor,
            candidate.config,
            measuring=self._measuring_now(),
            iterations=self._iterations,
        )
        self._in_flight[key] = candidate
        self._since[key] = time.monotonic()
        future.add_done_callback(lambda done: self._finished.put((candidate, done)))

    def _measuring_now(self) -> Measuring:
        """Return how the next configuration is measured."""
        threshold = self._threshold()
        if self._measuring.stop_above_ns != threshold:
            self._measuring = replace(self._measuring, stop_above_ns=threshold)
        return self._measuring

    def _repeat(self, candidate: Candidate, known: CompletedCandidate) -> None:
        self._repeated_in_a_row += 1
        self.progress.repeated += 1
        self._search.tell(replace(known, candidate=candidate), is_repeated=True)

    def _leave_out(self, candidate: Candidate) -> None:
        self._repeated_in_a_row += 1
        self.progress.left_out += 1
        result = ExperimentResult(failed=True, error="no launch of this block shape was right")
        banned = CompletedCandidate(
            candidate=candidate, status="invalid_launch", result=result, metric=None
        )
        self._search.tell(banned, is_repeated=True)

    def _take_in(self, began: float, deadline: float | None) -> None:
        """Wait for a result, then process those that are available, but not too many."""
        # While a configuration runs, this is the only sign of life for other processes.
        self._search.beat()
        for left in range(_RESULTS_IN_A_ROW, 0, -1):
            best = self.progress.best
            # Waits in slices, so that an interrupt is noticed.
            done = self._take(_POLL_SECONDS if left == _RESULTS_IN_A_ROW else 0.0)
            if done is None:
                return
            self._record(done)
            if self.progress.best is not best:
                self._tighten(self._threshold())
            self.progress.seconds = time.monotonic() - began
            if deadline is not None:
                self.progress.time_left = max(0.0, deadline - time.monotonic())
            self._listener.progress(self.progress)

    def _take(self, seconds: float) -> CompletedCandidate | None:
        """Return a result, which is kept by then; None if there is none within so many seconds."""
        with interrupts_wait():  # so that nothing is taken and not kept
            try:
                candidate, future = self._finished.get(timeout=seconds)
            except queue.Empty:
                return None
            key = candidate.key
            self._in_flight.pop(key, None)
            self._longest = max(self._longest, time.monotonic() - self._since.pop(key))
            done = self._completed(candidate, future)
            self._keep(done)
            return done

    def _completed(self, candidate: Candidate, future: Future) -> CompletedCandidate:
        metric, baseline = self._options.metric, self._baseline.metric
        done = complete(candidate, future, metric, self._iterations, baseline)
        return replace(done, tolerance=tuple(self._options.tolerance))

    def _keep(self, done: CompletedCandidate) -> None:
        with interrupts_wait():  # so that files agree
            self._store.append(done)
            self._count(done)

    def _record(self, done: CompletedCandidate) -> None:
        self._tell_of_disk()
        self._on_done(done)
        self._search.tell(done)
        self.progress.done_now += 1
        for candidate in self._following.pop(done.candidate.key, ()):
            self.progress.repeated += 1
            self._search.tell(replace(done, candidate=candidate), is_repeated=True)
        self._lost_in_a_row = self._lost_in_a_row + 1 if done.status == "internal_error" else 0
        if self._lost_in_a_row >= _LOST_IN_A_ROW:
            raise BackendUnavailable(f"the search cannot go on: {done.result.error}")
        if self._options.fail_fast and not done.is_verified:
            self._has_failed_fast = True
            self.errors.append(done.result.error or done.status)

    def _tell_of_disk(self) -> None:
        """Warn as soon as trials cannot be written, while the user can still make room."""
        problem = self._store.problem
        if problem and not self._told_problem:
            self._listener.warn(f"{problem}; until that works, trials are in memory only")
        self._told_problem = problem

    def _count(self, done: CompletedCandidate) -> None:
        self._known[done.candidate.key] = done
        self.completed.append(done)
        self.progress.done += 1
        self.progress.reused += bool(getattr(done.result, "reused", False))
        if not done.is_verified:
            failures = self.progress.failures
            failures[done.failure] = failures.get(done.failure, 0) + 1
            if done.result.error:
                self.progress.errors.setdefault(done.failure, done.result.error)
            if done.result.note and done.result.max_relative >= self._noted:
                self._noted = done.result.max_relative
                self.progress.note = done.result.note
        self._judge_shape(done)
        best = self.progress.best
        if done.metric is not None and not done.result.stopped_early:
            to_beat = self._baseline.metric if best is None else best.metric
            if to_beat is None or done.metric < to_beat:
                self.progress.best = done

    def _judge_shape(self, done: CompletedCandidate) -> None:
        """Note whether a block shape works; one that worked once is never left out."""
        shape = _shape(done.candidate.config)
        if done.is_verified:
            self._good_shapes.add(shape)
        else:
            weight = _AGAINST_SHAPE.get(done.failure, 0)
            self._bad_shapes[shape] = self._bad_shapes.get(shape, 0) + weight

    def _is_banned(self, config: ExperimentConfiguration) -> bool:
        if not self._options.adaptive_invalid_ban:
            return False
        shape = _shape(config)
        is_bad = self._bad_shapes.get(shape, 0) >= _ENOUGH_AGAINST_SHAPE
        return is_bad and shape not in self._good_shapes

    def _threshold(self) -> int:
        """Return the nanoseconds above which a configuration is hopeless; 0: no limit."""
        found: list[float] = []
        best = self.progress.best or self._baseline
        if self._options.early_stop and best.metric:
            found.append(self._options.early_stop * best.metric)
        if self._options.pruner == "median":
            times = [one.metric for one in self.completed if one.metric]
            if len(times) >= _ENOUGH_FOR_MEDIAN:
                found.append(statistics.median(times))
        return int(min(found)) if found and self._is_about_time() else 0

    def _is_about_time(self) -> bool:
        """Whether the search is only about time, so that slow configurations do not matter."""
        return all(one in ("time", "speedup") for one in self._options.objectives)


def _shape(config: ExperimentConfiguration) -> tuple[object, ...]:
    return (config.grid, config.block, config.shared_mem)
