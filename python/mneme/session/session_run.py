"""One search of one launch: baseline, trials, a winner that is measured again, files."""

from __future__ import annotations

import inspect
import time
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any, Protocol

from mneme import errors
from mneme.devices import choose_device
from mneme.measure.measuring import Measuring
from mneme.measure.pool_task import BrokenPool
from mneme.mneme_types import ExperimentConfiguration
from mneme.recording.launch_facts import PROVES_NOTHING
from mneme.search.custom_spaces import describe_search_space
from mneme.search.launch_rules import OutOfTime
from mneme.search.recorded_code import changes_memory
from mneme.search.space_view import SpaceView
from mneme.session import machines
from mneme.session.earlier_trials import check_results, earlier_trials
from mneme.session.exports import Exporter
from mneme.session.fewer_passes import drop_idle_passes
from mneme.session.loop import SearchLoop, complete, submit
from mneme.session.memory import Memory
from mneme.session.mirror import Mirror
from mneme.session.near import tolerance_options
from mneme.session.policy import (
    cold_iterations,
    final_iterations,
    is_very_long,
    seconds_to_spare,
    trial_policy,
    warmup_launches,
    within_time,
)
from mneme.session.probes import Probes
from mneme.session.studies import make_search
from mneme.session.trials import Candidate, CompletedCandidate, check_objectives
from mneme.session.winner import Finalist, finalists, keeps_launch, name_winner
from mneme.session.without_ir import runs_as_loaded

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mneme.recording.recorded_execution import KernelInstance, RecordedExecution
    from mneme.search.search_space import SearchSpace
    from mneme.session.events import Outcome, TuneListener
    from mneme.session.options import TuneOptions
    from mneme.session.result_store import ResultStore
    from mneme.session.studies import EnumeratedSearch, OptunaSearch

__all__ = ["BASELINE_FAILED", "INTERRUPTED", "OK", "TRIAL_FAILED", "SessionRun"]

OK = 0
BASELINE_FAILED = 1
TRIAL_FAILED = 7
INTERRUPTED = 130
_BASELINE = -1
# Time limit for removing passes from the winner: in seconds, and as a share of the total time.
_SHORTENING_SECONDS = 3.0
_SHORTENING_PART = 0.05


class Session(Protocol):
    """The session that owns the search; `mneme.session.session.TuningSession` is one."""

    options: TuneOptions
    given: TuneOptions
    listener: TuneListener
    weight: float
    error: str
    is_pool_gone: bool
    resume_with: str

    def executor(self, *arguments: Any, **keywords: Any) -> Any:  # noqa: ANN401 - an `Executor`
        """Return the executor."""


class SessionRun:
    """One search of one launch, from the baseline to the files."""

    def __init__(
        self,
        session: Session,
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
        found = store.trials() if session.options.resume else ()
        self._earlier = earlier_trials(found, session.options)
        self._exporter = Exporter(session.options, record, instance, store, session.weight)
        self._memory = Memory(session.options, session.listener, record, instance)
        self._executor: Any = None
        self._baseline: CompletedCandidate | None = None
        self._loop: SearchLoop | None = None
        self.outcome: Outcome | None = None
        """What was found."""
        self._began = time.monotonic()
        self._launch_seconds: dict[str, float] = {}
        self._has_reported_nodes = False

    def run(self) -> int:
        """Search; return the exit code of `TuningSession.run`.

        Raises:
            MnemeError: If it cannot continue; finished trials are stored.
        """
        options, store = self._options, self._store
        stored = store.read("baseline.json") if options.resume else None
        if options.resume:
            check_results(store, self._record, self._instance)
        if stored is not None and stored.get("status", "verified") != "verified":
            # It could not be used; what was missing, such as a tolerance, may be given now.
            stored = None
        given = self._session.given
        limits = {"timeout": given.timeout, "times_everything": given.times_everything}
        content = {**options.to_dict(), **limits, **self._record_names()}
        store.write("config.json", content, is_private=options.may_hold_secrets)
        store.write("search_space.json", describe_search_space(self._space))
        self._executor = self._open_executor()
        try:
            machines.prepare(self._executor, self._store, self._listener)
            import optuna  # noqa: F401, PLC0415 - slow, while devices are opened

            return self._tune(stored)
        except KeyboardInterrupt:
            self._executor.shutdown(cancel=True)
            return self._interrupted()
        except BaseException as error:
            self._executor.shutdown(cancel=True)
            if isinstance(error, (errors.IoFailed, errors.BackendUnavailable)):
                raise self._with_advice(error) from error
            raise
        finally:
            self._executor.shutdown()
            self._session.is_pool_gone = bool(getattr(self._executor, "why_broken", ""))
            self._report_nodes()

    def _tune(self, stored: dict[str, Any] | None) -> int:
        baseline = self._baseline = self._measure_baseline(stored)
        if not baseline.is_verified or not baseline.metric:
            why = getattr(self._executor, "why_broken", "")
            if why and baseline.status == "internal_error":
                raise BrokenPool(why)
            return self._baseline_failed(baseline)
        self._exporter.note_baseline(baseline)
        self._listener.baseline(baseline)
        if told := baseline.result.part:
            self._store.log(told)
            self._listener.note(told)
        built = self._as_built(baseline, (stored or {}).get("as_built"))
        if self._options.baseline_only:
            return self._end("baseline_only", built, None)
        check_objectives(baseline, self._options.objectives)
        self._adapt()
        if self._options.times_everything:
            warm = cold = self._seconds_of_a_launch(baseline, is_cold=False)
            if not is_very_long(baseline.metric):
                cold = self._seconds_of_a_launch(baseline, is_cold=True)
            self._launch_seconds = {"launch_seconds": warm, "cold_seconds": cold}
            spent = time.monotonic() - self._began
            self._options = within_time(
                self._options, baseline.metric, spent=spent, **self._launch_seconds
            )
        self._store.write("search_space.json", describe_search_space(self._space))
        capacity = int(getattr(self._executor, "capacity", 2 * self._options.workers))
        search = make_search(
            self._options,
            self._space,
            record=f"{self._record.static_hash}/{self._instance.dynamic_hash}",
            capacity=capacity,
            history=self._earlier.known,
            seeds=self._seeds(baseline),
        )
        reason = self._search(search, baseline, capacity)
        if reason == "failed_fast":
            return self._failed_fast(baseline)
        trials = [*(self._loop.completed if self._loop else []), *search.shared.others()]
        self._renew_executor(trials)
        machines.warn_of_machines(self._executor, self._store, self._listener)
        finalist = name_winner(
            self._executor, self._options, self._instance, built, trials, self._listener
        )
        seconds = min(_SHORTENING_SECONDS, _SHORTENING_PART * (time.monotonic() - self._began))
        if told := drop_idle_passes(self._executor, finalist, seconds):
            self._store.log(told)
            self._listener.note(told)
        self._memory.learn(built, finalist, trials)
        return self._end(reason, built, finalist)

    def _adapt(self) -> None:
        """Let the space exclude what cannot work; report how the recording limits the search."""
        probes = Probes(self._executor, self._options.timeout)
        try:
            SpaceView.of(self._space).adapt(probes)
        except OutOfTime as error:  # of a space of the user's
            self._listener.note(str(error))
        if probes.is_stuck:
            self._executor = machines.renewed(self._executor, self._open_executor, cancel=True)
        if told := getattr(self._space, "remark", ""):
            self._store.log(told)
            self._listener.note(told)
        if not changes_memory(self._instance):
            self._listener.warn(PROVES_NOTHING)

    def _seeds(self, baseline: CompletedCandidate) -> Sequence[dict[str, Any]]:
        if not self._options.uses_portfolio:
            return ()
        seeds = self._memory.seeds(SpaceView.of(self._space), baseline.result.device)
        if seeds.sentence:
            self._store.log(seeds.sentence)
        return [*self._earlier.first, *seeds.points]

    def _seconds_of_a_launch(self, baseline: CompletedCandidate, *, is_cold: bool) -> float:
        """Return the time of a launch of the baseline in the final rounds, with its overhead."""
        began = time.monotonic()
        nanoseconds = baseline.metric or 0.0
        config, measuring = baseline.candidate.config, Measuring(cold_cache=is_cold)
        count = (cold_iterations if is_cold else final_iterations)(self._options, nanoseconds)
        submit(
            self._executor, config, iterations=count, measuring=measuring, fresh=True, worker=0
        ).result()
        return (time.monotonic() - began) / (count + warmup_launches(self._options, nanoseconds))

    def _search(
        self, search: OptunaSearch | EnumeratedSearch, baseline: CompletedCandidate, capacity: int
    ) -> str:
        mirror = Mirror(self._store.directory / "study.journal", self._space, self._options)
        for done in self._earlier.known:
            mirror.add(done)
        policy = trial_policy(
            self._options,
            baseline.metric or 0.0,
            is_deterministic=baseline.result.result_class == "exact",
        )
        loop = self._loop = SearchLoop(
            self._executor,
            search,
            self._store,
            self._listener,
            self._options,
            baseline,
            measuring=policy.measuring,
            iterations=policy.iterations,
            capacity=capacity,
            on_done=mirror.add,
        )
        loop.recall(self._earlier.known)
        try:
            reason = loop.run(trials=self._options.trials, timeout=self._options.timeout)
            while (
                reason == "timeout"
                and not loop.is_stuck
                and (more := self._to_spare(baseline, loop.completed))
            ):
                reason = loop.run(trials=self._options.trials, timeout=more)
        except BaseException:
            loop.give_up()
            raise
        else:
            self._note_statistics(loop)
            if loop.is_stuck:
                told = "what did not end in time is left out"
                self._store.log(told)
                self._listener.note(told)
                loop.give_up()
                self._executor = machines.renewed(self._executor, self._open_executor, cancel=True)
            if search.end_note:
                self._store.log(search.end_note)
                self._listener.note(search.end_note)
            return reason
        finally:
            mirror.flush()
            if mirror.problem:
                self._listener.warn(mirror.problem)

    def _to_spare(
        self, baseline: CompletedCandidate, trials: Sequence[CompletedCandidate]
    ) -> float:
        """Return the seconds the search may continue, now that the final rounds are known."""
        whole = self._session.options.timeout
        if whole is None or not self._options.times_everything:
            return 0.0
        last = [
            (one.metric or 0.0, keeps_launch(one.candidate.config, self._instance))
            for one in finalists(self._options, self._instance, baseline, trials)
        ]
        return seconds_to_spare(
            self._options,
            baseline.metric or 0.0,
            last,
            whole=whole,
            spent=time.monotonic() - self._began,
            **self._launch_seconds,
        )

    def _note_statistics(self, loop: SearchLoop) -> None:
        if not hasattr(self._executor, "statistics"):
            return
        found = self._executor.statistics
        workers = machines.count_workers(self._executor, self._options.workers)
        loop.progress.busy_share = found.busy_share / workers
        self._exporter.statistics = {
            **asdict(found),
            "busy_share": loop.progress.busy_share,
            "trials_per_second": loop.progress.rate,
        }

    def _renew_executor(self, trials: Sequence[CompletedCandidate]) -> None:
        """Measure the best in new processes, in which no wrong configuration has run.

        On the CPU device a kernel with stray writes writes into the worker's memory.
        """
        is_on_host = any(one.result.device == "cpu" for one in trials)
        if is_on_host and any(not one.is_verified for one in trials):
            self._executor = machines.renewed(self._executor, self._open_executor)

    def _failed_fast(self, baseline: CompletedCandidate) -> int:
        sentence = (self._loop.errors if self._loop else [""])[0]
        self._end("failed_fast", baseline, None)
        self._fail(f"ended at the first configuration that failed: {sentence}")
        return TRIAL_FAILED

    def _end(self, status: str, baseline: CompletedCandidate, finalist: Finalist | None) -> int:
        trials = self._loop.completed if self._loop is not None else []
        rule: dict[str, Any] = {}
        if finalist is not None:
            rule = self._exporter.launch_rule(self._executor, baseline, trials)
        if "wait" in inspect.signature(self._executor.shutdown).parameters:
            self._executor.shutdown(wait=False)  # its processes end while files are written
        self._report_nodes()
        self.outcome = self._exporter.write(status, baseline, finalist, trials, rule)
        if self._loop is not None:
            self.outcome.progress = self._loop.progress
        for sentence in self._exporter.warnings:
            self._store.log(sentence)
            self._listener.warn(sentence)
        gain = self.outcome.gain
        told = "" if gain is None else f", gain {gain.ratio:.4f} [{gain.low:.4f}, {gain.high:.4f}]"
        self._store.log(f"{status}: {len(trials)} trials{told}")
        if self._store.problem:
            raise errors.IoFailed(self._store.problem)
        self._listener.finished(self.outcome)
        return OK

    def _report_nodes(self) -> None:
        """Report what hosts have done, once: listeners add up what they get."""
        if self._has_reported_nodes:
            return
        self._has_reported_nodes = True
        found = machines.report_nodes(self._executor, self._store, self._listener)
        self._exporter.statistics.update(found)

    def _interrupted(self) -> int:
        self._report_nodes()
        trials = self._loop.completed if self._loop is not None else self._earlier.known
        self.outcome = self._exporter.interrupted(self._baseline, trials)
        self._store.log(f"interrupted: {len(trials)} trials")
        if self._loop is not None:
            self.outcome.progress = self._loop.progress
        self._listener.finished(self.outcome)
        return INTERRUPTED

    def _baseline_failed(self, baseline: CompletedCandidate) -> int:
        differs = "its memory differs from the recorded one"
        if baseline.result.result_class == "nondeterministic" and not baseline.result.note:
            differs += ", and from one launch to the next: it depends on the order of its threads"
        error = baseline.result.error or differs
        suggestion = baseline.result.suggestion
        hint = f"; try {tolerance_options(suggestion)}" if suggestion else ""
        if baseline.result.note:
            hint = f". {baseline.result.note}"
        self._report_nodes()
        self.outcome = self._exporter.failed(baseline)
        self._fail(
            f"the baseline of {self._record.demangled_name} cannot be used "
            f"({baseline.status}): {error}{hint}"
        )
        return BASELINE_FAILED

    def _fail(self, sentence: str) -> None:
        self._session.error = sentence
        self._store.log(sentence)
        self._listener.failed(sentence)

    def _with_advice(self, error: errors.MnemeError) -> errors.MnemeError:
        is_begun = self._loop is not None or self._session.resume_with
        if "--resume" in str(error) or not is_begun:
            return error
        lost = self._store.unwritten
        told = f"{lost} trials are not on disk" if lost else "every trial that finished is kept"
        place = self._session.resume_with or f"--resume --results-dir {self._store.directory}"
        return type(error)(f"{error}; {told}, go on with {place}")

    def _record_names(self) -> dict[str, str]:
        """Return names with which the launch is found again from any directory."""
        return {
            "record_database": str(self._record.path.resolve()),
            "record_id": self._instance.dynamic_hash,
        }

    def _open_executor(self) -> Any:  # noqa: ANN401
        from mneme.measure.tolerance import Tolerance  # noqa: PLC0415

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

    def _measure_baseline(self, stored: dict[str, Any] | None) -> CompletedCandidate:
        config = SpaceView.of(self._space).baseline() or self._recorded_launch()
        if self._options.baseline == "program":
            config = self._with_own_code(config)
        machines.leave_out_slow(self._executor, config, self._store, self._listener)
        if stored is not None and not self._options.rerun_baseline:
            names = {"trial": _BASELINE, "status": "verified"}
            kept = CompletedCandidate.from_dict({**stored, **names})
            return replace(kept, baseline_metric=kept.metric)
        recorded_ns = float(self._instance.recorded_ns)
        done = self._measured(config, recorded_ns if is_very_long(recorded_ns) else 0.0)
        done = replace(done, baseline_metric=done.metric)
        if done.is_verified:
            self._exporter.write_baseline(done)
        return done

    def _as_built(
        self, baseline: CompletedCandidate, stored: dict[str, Any] | None
    ) -> CompletedCandidate:
        """Return what gains are relative to: the launch as the program was built.

        This is the baseline unless that has other code, such as the first of `--passes`.
        """
        config = self._with_own_code(self._recorded_launch())
        if config.key() == baseline.candidate.config.key():
            return baseline
        if stored is not None and not self._options.rerun_baseline:
            names = {"trial": _BASELINE, "status": "verified"}
            built = CompletedCandidate.from_dict({**stored, **names})
        else:
            built = self._measured(config, baseline.metric or 0.0)
            if not built.is_verified or not built.metric:
                self._listener.warn(
                    f"the kernel as the program was built ({config.llvm or config.passes}) "
                    f"cannot be compared with ({built.status}): gains are those over the baseline"
                )
                return baseline
            image = built.result.image_hash
            is_same_launch = keeps_launch(baseline.candidate.config, self._instance)
            if image and image == baseline.result.image_hash and is_same_launch:
                return baseline
            self._exporter.write_baseline(baseline, built)
        built = replace(built, baseline_metric=baseline.metric)
        self._store.log(f"as built: {built.metric:.0f} ns")
        self._listener.as_built(built)
        return built

    def _recorded_launch(self) -> ExperimentConfiguration:
        return ExperimentConfiguration(
            grid=self._instance.grid_dim,
            block=self._instance.block_dim,
            shared_mem=self._instance.shared_mem,
            max_threads=0,
            min_blocks_per_sm=0,
        )

    def _with_own_code(self, config: ExperimentConfiguration) -> ExperimentConfiguration:
        device = self._options.device or choose_device()
        if runs_as_loaded(self._record, device):
            return replace(self._recorded_launch(), llvm="recorded")
        passes, codegen_opt = self._record.pipeline_on(device)
        return replace(config, passes=passes, codegen_opt=codegen_opt)

    def _measured(self, config: ExperimentConfiguration, nanoseconds: float) -> CompletedCandidate:
        """Measure a configuration of about this time outside of the search; 0 if unknown."""
        policy = trial_policy(self._options, nanoseconds)
        future = submit(
            self._executor, config, measuring=policy.measuring, iterations=policy.iterations
        )
        candidate = Candidate(trial=_BASELINE, config=config)
        return complete(candidate, future, self._options.metric, policy.iterations, None)
