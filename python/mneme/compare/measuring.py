"""Measures the variants of one launch: verified first, then in rounds beside the baseline.

Two launches share a device, so that it need not wait: while one is measured, the next one is opened
in another process. A launch queues replays only while it has its turn.
"""

from __future__ import annotations

import json
import math
import random
import statistics
import time
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from mneme.compare.results import SPENT, UNUSED, CaseResult, Outcome
from mneme.errors import BackendUnavailable, MnemeError
from mneme.machine_code.occupancy import occupancy
from mneme.measure.measuring import Measuring
from mneme.mneme_types import ExperimentResult
from mneme.session.rounds import Rounds
from mneme.session.trials import Candidate, CompletedCandidate, classify_result, metric_value

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence

    from mneme.compare.options import CompareOptions
    from mneme.compare.preparing import Executor, Prepared
    from mneme.compare.turns import Lane
    from mneme.mneme_types import ExperimentConfiguration

__all__ = [
    "FEWEST_LAUNCHES",
    "compare_again",
    "compare_case",
    "enough_launches",
    "takes_as_long_in_place",
]

FEWEST_LAUNCHES = 5
"""Launches of a variant in a round, of kernels that are not short."""

_METRIC = "median"
_NS = 1e-9
_CPU = "cpu"
# How much longer or shorter launches may take on memory that was not restored.
_SAME_TIME = 0.1
# Launches of a short kernel in one round: as many as take about this long, but not too many.
_ROUND_NS = 2e6
_MOST_LAUNCHES = 50


def compare_case(
    executor: Executor, lane: Lane, prepared: Prepared, options: CompareOptions, *, rounds: int
) -> CaseResult:
    """Return what is found out about one launch on one device.

    Args:
        executor: Compiles and replays.
        lane: What replays it.
        prepared: The launch, whose variants are being compiled.
        options: What is compared, and how.
        rounds: How many there are.

    Raises:
        BackendUnavailable: If nothing can be measured on the device.
    """
    began = time.monotonic()
    names = [one.name for one in options.variants]
    one = _Measurement(executor, lane, prepared, options)
    problem = ""
    try:
        one.open()
        one.await_code(names)
        with one.turn():
            one.verify(names)
            one.measure(names, rounds)
    except BackendUnavailable:
        raise
    except MnemeError as error:
        problem = str(error)
        one.give_up(names, problem)
    seconds = one.end(began)
    return CaseResult(
        case=prepared.case.to_dict(),
        outcomes={name: one.outcomes[name] for name in names},
        device=one.device,
        is_in_place=one.is_in_place,
        problem=problem or _problem(one.outcomes[names[0]]),
        seconds=seconds,
        spent=one.spent,
    )


def compare_again(  # noqa: PLR0913 - what a comparison depends on
    executor: Executor,
    lane: Lane,
    prepared: Prepared,
    options: CompareOptions,
    found: tuple[CaseResult, Sequence[str]],
    *,
    rounds: int,
) -> CaseResult:
    """Return the result of a launch with more rounds of the variants that were found to differ.

    Args:
        executor: Replays.
        lane: What replays it.
        prepared: The launch.
        options: What is compared, and how.
        found: What is known, and the names of the variants.
        rounds: How many more there are.

    Raises:
        BackendUnavailable: If nothing can be measured on the device.
    """
    began = time.monotonic()
    result, names = found
    one = _Measurement(executor, lane, prepared, options)
    one.outcomes.update(result.outcomes)
    one.is_in_place = result.is_in_place
    try:
        one.open()
        with one.turn():
            one.measure_again(names, rounds)
    except BackendUnavailable:
        raise
    except MnemeError as error:
        for name in names:
            one.outcomes[name] = replace(
                one.outcomes[name], status="runtime_error", reason=str(error), ratios=[]
            )
    seconds = one.end(began)
    return replace(
        result,
        outcomes=one.outcomes,
        seconds=result.seconds + seconds,
        spent={key: result.spent.get(key, 0.0) + more for key, more in one.spent.items()},
    )


def _problem(baseline: Outcome) -> str:
    return "" if baseline.is_verified else f"the baseline is not verified: {baseline.reason}"


def enough_launches(times_ns: Sequence[float]) -> int:
    """Return how often a kernel that takes so long is launched in a round.

    A few launches of a short kernel say little, and leave the device idle most of the time.
    """
    shortest = min(times_ns, default=0.0)
    enough = math.ceil(_ROUND_NS / shortest) if shortest > 0 else 1
    return max(FEWEST_LAUNCHES, min(enough, _MOST_LAUNCHES))


def takes_as_long_in_place(result: ExperimentResult) -> bool:
    """Whether launches leave the same on memory that was not restored, and take as long.

    One that finds its own output there might have less to do.
    """
    times = result.in_place_ns
    if not times or not result.verified:
        return False
    restored = statistics.median(result.exec_time[-len(times) :])
    return abs(statistics.median(times) - restored) <= _SAME_TIME * restored


class _Measurement:
    def __init__(
        self,
        executor: Executor,
        lane: Lane,
        prepared: Prepared,
        options: CompareOptions,
    ) -> None:
        self._executor = executor
        self._lane = lane
        self._prepared = prepared
        self._options = options
        self._is_open = False
        self._openings: list[tuple[float, float]] = []
        self._awaited = (0.0, 0.0)
        self._idle_before: float | None = None
        self._iterations = options.iterations
        self._statistics: dict[str, str] = {}
        self.outcomes: dict[str, Outcome] = {}
        self.device = ""
        self.is_in_place = False
        self.spent = dict.fromkeys(SPENT, 0.0)

    def open(self) -> None:
        """Open the launch, while another one may be measured; its turn is for what fails here."""
        case, lane = self._prepared.case, self._lane
        began = time.monotonic()
        with lane.turns.opening():
            lane.turns.note_open(lane.number, is_open=False)  # what was open is closed
            wait = self._executor.open(
                lane.device,
                case.launch,
                case.instance.prologue.fn,
                lane=lane.number,
                most_part=lane.most_part,
            )
            try:
                wait()
                self._is_open = True
            except BackendUnavailable:
                raise
            except MnemeError:
                self._is_open = False
            lane.turns.note_open(lane.number, is_open=self._is_open)
        self._openings.append((began, time.monotonic()))

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Wait for the turn; have the memory of the device alone if the launch needs it."""
        lane, turns = self._lane, self._lane.turns
        with turns.taken(), ExitStack() as stack:
            if self._is_open and not turns.has_open(lane.number):
                self.open()  # one that needed the memory alone closed it
            if not self._is_open:
                stack.enter_context(turns.opening())
                self._executor.close_others(lane.device, lane.number)
                turns.note_alone(lane.number)
                # Whatever comes next finds the memory free.
                stack.callback(self._executor.close, lane.device, lane.number)
            yield

    def await_code(self, names: Sequence[str]) -> None:
        """Wait for the code of all variants; note which cannot be compiled."""
        prepared = self._prepared
        began = time.monotonic()
        for name in names:
            if name in prepared.refused:
                self.outcomes[name] = Outcome(
                    status="invalid_config", reason=prepared.refused[name]
                )
                continue
            answer = prepared.compiled[name].result()
            self._statistics[name] = answer.statistics
            if answer.failure:
                self.outcomes[name] = _not_compiled(answer.failure, prepared.configs[name])
        self._awaited = (began, time.monotonic())

    def verify(self, names: Sequence[str]) -> None:
        """Replay every variant once that can be compiled, those with the same code together."""
        configs = self._prepared.configs
        groups: dict[Hashable, list[str]] = {}
        for name in names:
            if name not in self.outcomes:
                groups.setdefault(self._compiled(name), []).append(name)
        firsts = [group[0] for group in groups.values()]
        waits = self._queue([configs[name] for name in firsts], is_cold=False)
        for (first, *same), wait in zip(groups.values(), waits, strict=True):
            result = wait()
            self.device = result.device or self.device
            self.outcomes[first] = _outcome(result, self._statistics[first], configs[first])
            for name in same:
                self.outcomes[name] = _with_facts(
                    self.outcomes[first], self._statistics[name], configs[name]
                )

    def measure(self, names: Sequence[str], rounds: int) -> None:
        """Measure the verified variants beside the baseline."""
        baseline, *others = names
        if not self.outcomes[baseline].is_verified:
            return
        groups: dict[Hashable, list[str]] = {}
        for name in others:
            if not self.outcomes[name].is_verified:
                continue
            if self._code(name) == self._code(baseline) and not self._options.measures_equal:
                self.outcomes[name] = replace(self.outcomes[name], is_same_code=True)
                continue
            key = name if self._options.measures_equal else self._code(name)
            groups.setdefault(key, []).append(name)
        if not groups:
            return
        self._iterations = self._options.iterations or enough_launches(
            self.outcomes[baseline].times_ns
        )
        firsts = [group[0] for group in groups.values()]
        self.is_in_place = self._may_be_in_place([baseline, *firsts])
        compared = self._run(baseline, firsts, rounds, order="")
        self.outcomes[baseline] = replace(
            self.outcomes[baseline], times_ns=list(compared.baseline_ns)
        )
        for first, *same in groups.values():
            self._note(first, compared)
            for name in same:
                found = self.outcomes[first]
                self.outcomes[name] = replace(
                    self.outcomes[name],
                    status=found.status,
                    reason=found.reason,
                    same_as=first,
                    times_ns=found.times_ns,
                    ratios=found.ratios,
                )

    def _may_be_in_place(self, names: Sequence[str]) -> bool:
        """Whether no variant reads what it changes, so that memory need not be restored for it."""
        if self._options.restores_always or self._options.is_cold or self.device == _CPU:
            return False
        how = Measuring(probes_in_place=True)
        configs = [self._prepared.configs[name] for name in names]
        waits = self._queue(configs, is_cold=False, measuring=how)
        results = [wait() for wait in waits]
        return all(takes_as_long_in_place(result) for result in results)

    def measure_again(self, names: Sequence[str], rounds: int) -> None:
        """Measure variants again beside the baseline, those with the same code once."""
        outcomes = self.outcomes
        baseline = next(iter(outcomes))
        self._iterations = self._options.iterations or enough_launches(outcomes[baseline].times_ns)
        firsts = list(dict.fromkeys(outcomes[name].same_as or name for name in names))
        compared = self._run(baseline, firsts, rounds, order="again")
        for name in names:
            first = outcomes[name].same_as or name
            outcomes[name] = replace(outcomes[name], again=list(compared.ratios[first]))
            if first in compared.rejected:
                outcomes[name] = _rejected(outcomes[name], first, compared)

    def _run(self, baseline: str, others: Sequence[str], rounds: int, *, order: str) -> Rounds[str]:
        # The same order each time the launch is measured.
        draw = random.Random(repr(self._prepared.case.key) + order)  # noqa: S311 - not a secret
        configs = {name: self._prepared.configs[name] for name in others}
        compared = Rounds(
            self._queue, self._prepared.configs[baseline], configs, metric=_METRIC, draw=draw
        )
        compared.run(rounds, is_cold=self._options.is_cold)
        return compared

    def end(self, began: float) -> float:
        """Note what the device spent its time on; return how long that was."""
        start, seconds = self._lane.turns.finish(began)
        self.spent["compiling"] = _seconds_since(start, self._awaited)
        self.spent["opening"] += sum(_seconds_since(start, one) for one in self._openings)
        if self._idle_before is not None:
            self.spent["waiting"] = self._idle_seconds() - self._idle_before
        return seconds

    def _idle_seconds(self) -> float:
        return self._executor.idle_seconds(self._lane.device, self._lane.number)

    def give_up(self, names: Sequence[str], reason: str) -> None:
        """Note why variants without an outcome have none."""
        for name in names:
            self.outcomes.setdefault(name, Outcome(status=UNUSED, reason=reason))

    def _note(self, name: str, compared: Rounds[str]) -> None:
        outcome = replace(
            self.outcomes[name],
            times_ns=list(compared.times_ns[name]),
            ratios=list(compared.ratios[name]),
        )
        if name in compared.rejected:
            outcome = _rejected(outcome, name, compared)
        self.outcomes[name] = outcome

    def _compiled(self, name: str) -> Hashable:
        """Return what is equal for variants whose replays would be the same."""
        text = self._statistics[name]
        image = json.loads(text).get("image_hash") if text else None
        config = self._prepared.configs[name]
        return (image, config.grid, config.block, config.shared_mem) if image else name

    def _code(self, name: str) -> Hashable:
        """Return what is equal for variants that run the same code in the same way."""
        config = self._prepared.configs[name]
        image = self.outcomes[name].image_hash
        return (image or name, config.grid, config.block, config.shared_mem)

    def _queue(
        self,
        configs: Sequence[ExperimentConfiguration],
        *,
        is_cold: bool,
        measuring: Measuring | None = None,
    ) -> list[Callable[[], ExperimentResult]]:
        launch = self._prepared.case.launch
        usual = Measuring(in_series=True, in_place=self.is_in_place, cold_cache=is_cold)
        return [
            self._noting(
                self._executor.submit(
                    self._lane.device,
                    launch,
                    one,
                    lane=self._lane.number,
                    iterations=self._iterations,
                    measuring=measuring or usual,
                )
            )
            for one in configs
        ]

    def _noting(self, wait: Callable[[], ExperimentResult]) -> Callable[[], ExperimentResult]:
        """Return a function that waits and notes what the device spent its time on."""

        def noted() -> ExperimentResult:
            result = wait()
            if self._idle_before is None:  # until then it was not this launch's turn
                self._idle_before = self._idle_seconds()
                if not self._is_open:  # so its first replay opened it
                    self.spent["opening"] += result.open_time
            self.spent["kernels"] += result.launched_ns * _NS
            self.spent["restoring"] += result.restore_time
            self.spent["verifying"] += result.verify_time
            return result

        return noted


def _seconds_since(start: float, interval: tuple[float, float]) -> float:
    """Return how much of an interval is after a time."""
    began, ended = interval
    return max(0.0, ended - max(start, began))


def _rejected(outcome: Outcome, name: str, compared: Rounds[str]) -> Outcome:
    """Return what becomes of a variant that was verified, and then failed in rounds."""
    status = "failed_verification" if name in compared.wrong else "runtime_error"
    return replace(outcome, status=status, reason=compared.rejected[name], ratios=[])


def _not_compiled(failure: str, config: ExperimentConfiguration) -> Outcome:
    status = classify_result(ExperimentResult(failed=True, error=failure))
    return Outcome(
        status="invalid_config" if status == "invalid_config" else "compile_error",
        reason=" ".join(failure.split()),
        config=config.to_dict(),
    )


def _outcome(result: ExperimentResult, statistics: str, config: ExperimentConfiguration) -> Outcome:
    facts: Mapping[str, Any] = json.loads(statistics) if statistics else {}
    done = CompletedCandidate(
        candidate=Candidate(trial=0, config=config),
        status=classify_result(result),
        result=result,
        metric=None,
    )
    shared_bytes = (result.shared_mem_usage or 0) + config.shared_mem
    target = str(facts.get("target") or "")
    return Outcome(
        status=done.failure or "verified",
        reason="" if done.is_verified else _reason(result),
        result_class=result.result_class,
        registers=result.reg_usage,
        spill_bytes=result.spill_bytes,
        times_ns=[median] if (median := metric_value(result, _METRIC)) and done.is_verified else [],
        local_bytes=result.local_mem_usage,
        shared_bytes=shared_bytes,
        occupancy=occupancy(target, config.block.volume, result.reg_usage, shared_bytes),
        code_bytes=result.obj_size,
        compile_seconds=result.preprocess_ir_time + result.opt_time + result.codegen_time,
        image_hash=result.image_hash,
        ir_hash=result.ir_hash,
        config=config.to_dict(),
    )


def _with_facts(outcome: Outcome, statistics: str, config: ExperimentConfiguration) -> Outcome:
    """Return the outcome of a variant with the same binary, with what is its own."""
    facts: Mapping[str, Any] = json.loads(statistics)
    times = ("preprocess_ir_time", "opt_time", "codegen_time")
    return replace(
        outcome,
        compile_seconds=sum(float(facts.get(key) or 0.0) for key in times),
        ir_hash=str(facts.get("ir_hash") or ""),
        config=config.to_dict(),
    )


def _reason(result: ExperimentResult) -> str:
    """Return why a result is not verified, in a sentence."""
    if result.error:
        return " ".join(result.error.split())
    for one in result.mismatches:
        return (
            f"{one.get('region')}: element {one.get('element')} is {one.get('actual')}, not "
            f"{one.get('expected')}; {one.get('differing')} of {one.get('elements')} differ"
        )
    return f"the result is {result.result_class or 'another one than recorded'}"
