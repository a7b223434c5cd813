"""One comparison: every launch on some device, the next ones compiled meanwhile."""

from __future__ import annotations

import threading
from collections import deque
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

from mneme import __version__
from mneme.code_texts import OWN_CODE
from mneme.compare.findings import find
from mneme.compare.measuring import (
    FEWEST_LAUNCHES,
    compare_again,
    compare_case,
)
from mneme.compare.preparing import Executor, Prepared, prepare
from mneme.compare.statistics import CONFIRMING_ROUNDS, enough_rounds
from mneme.compare.store import CompareStore
from mneme.compare.summary import Comparison
from mneme.compare.turns import Lane, Turns
from mneme.devices import device_limits
from mneme.errors import BackendUnavailable, InternalError, MnemeError
from mneme.measure.suite_executor import SuiteExecutor, SuiteOptions, devices_to_use
from mneme.other_compilers import compiler_facts

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from mneme.compare.cases import Case
    from mneme.compare.options import CompareOptions
    from mneme.compare.results import CaseResult

__all__ = ["CompareListener", "run_comparison"]

_CPU = "cpu"
_POLL_SECONDS = 0.2
# While a launch is measured in one process of a GPU, the next one is opened in the other.
_LANES = 2
# A launch with more of the memory that is left has the GPU alone: each needs its memory twice, and
# its result, and what measures has to find some, too.
_PART_OF_MEMORY_LEFT = 1 / 4


class CompareListener:
    """Receives how a comparison goes; this one ignores it."""

    def started(self, total: int, known: int, rounds: int, devices: Sequence[str]) -> None:
        """So many launches, of which so many have a result; rounds of each; the devices."""

    def finished(self, result: CaseResult, done: int, total: int) -> None:
        """A launch has a result."""

    def confirming(self, count: int) -> None:
        """So many launches are measured again, since they were found to differ."""

    def warn(self, sentence: str) -> None:
        """Something is not as wished."""


def run_comparison(
    cases: Sequence[Case],
    options: CompareOptions,
    listener: CompareListener | None = None,
    *,
    make_executor: Callable[[Sequence[str], Path, SuiteOptions], Any] = SuiteExecutor,
) -> Comparison:
    """Compare the variants over all launches, and return what was found.

    Args:
        cases: The launches.
        options: What is compared, and how.
        listener: Receives how it goes.
        make_executor: Makes what compiles and replays, of devices, directory for logs and options.

    Raises:
        InvalidArgument: If the results directory is in use or about something else.
        BackendUnavailable: If nothing can be measured on any device.
        IoFailed: If results cannot be written.
    """
    told = listener or CompareListener()
    devices = devices_to_use(options.device)
    with CompareStore(options.results_dir) as store:
        earlier = store.open(resume=options.resume)
        rounds = options.rounds or _rounds(earlier, len(cases), options)
        head = _head(options, rounds, devices)
        done = store.begin(head, earlier)
        wanted = {case.key: case for case in cases}
        results = {one.key: one for one in done if one.key in wanted}
        told.started(len(cases), len(results), rounds, devices)
        _warn_of_few(rounds, len(cases), options, told)
        left = [case for case in cases if case.key not in results]
        if left or _unconfirmed(results, options):
            suite = SuiteOptions(
                iterations=options.iterations or FEWEST_LAUNCHES,
                warmup=options.warmup,
                tolerances=options.tolerances,
                timeout=options.timeout,
                lanes=_lanes_of(devices[0]),
                compile_workers=options.compile_workers,
                compile_timeout=options.compile_timeout,
            )
            with make_executor(devices, store.logs, suite) as executor:
                executor.prepare()  # processes start while configurations are made
                run = _Run(executor, devices, options, rounds, store, told)
                run.measure(left, results, len(cases))
                while found := _unconfirmed(results, options):
                    told.confirming(len(found))
                    run.measure_again(found, [wanted[key] for key in found], results)
                executor.finish()
                return _summed_up(cases, results, options, head if earlier is None else earlier)
        return _summed_up(cases, results, options, head if earlier is None else earlier)


def _unconfirmed(
    results: Mapping[tuple[str, str], CaseResult], options: CompareOptions
) -> dict[tuple[str, str], tuple[CaseResult, list[str]]]:
    """Return the launches that were found to differ and not measured again, with the variants."""
    ordered = list(results.values())
    found: dict[tuple[str, str], tuple[CaseResult, list[str]]] = {}
    for number, name in sorted(find(ordered, options.false_discovery).unconfirmed):
        result = ordered[number]
        found.setdefault(result.key, (result, []))[1].append(name)
    return found


def _summed_up(
    cases: Sequence[Case],
    results: Mapping[tuple[str, str], CaseResult],
    options: CompareOptions,
    head: dict[str, Any],
) -> Comparison:
    comparison = Comparison(
        results=[results[case.key] for case in cases if case.key in results],
        variants=options.variants,
        rounds=int(head["identity"]["rounds"]),
        false_discovery=options.false_discovery,
        head=head,
        directory=options.results_dir,
    )
    _ = comparison.summaries  # while processes end, which takes GPUs long
    return comparison


def _rounds(earlier: dict[str, Any] | None, cases: int, options: CompareOptions) -> int:
    if earlier is not None:
        return int(earlier["identity"]["rounds"])
    return enough_rounds(cases * (len(options.variants) - 1), options.false_discovery)


def _warn_of_few(
    rounds: int, cases: int, options: CompareOptions, listener: CompareListener
) -> None:
    tests = cases * (len(options.variants) - 1)
    enough = enough_rounds(tests, options.false_discovery)
    if rounds < enough:
        listener.warn(
            f"{rounds} rounds are too few to find one difference among {tests}; {enough} can"
        )


def _head(options: CompareOptions, rounds: int, devices: Sequence[str]) -> dict[str, Any]:
    from mneme import _native  # noqa: PLC0415 - loads native code

    return {
        "identity": options.identity(rounds, devices),
        "mneme": __version__,
        "compiler": _compiler(_native.compiler_version()),
        "compilers": {
            one.name: compiler_facts(text)
            for one in options.variants
            if (text := one.changes.values.get("llvm")) and text not in OWN_CODE
        },
        "device": device_limits(devices[0]).name or devices[0],
        "target": device_limits(devices[0]).target,
        "false_discovery": options.false_discovery,
        "started": datetime.now(timezone.utc).isoformat(timespec="seconds"),
    }


def _compiler(text: str) -> str:
    import json  # noqa: PLC0415 - as is what it reads

    return str(json.loads(text).get("llvm", ""))


def _lanes_of(device: str) -> int:
    # The CPU device opens and measures by turns.
    return 1 if device == _CPU else _LANES


def _make_lanes(number: int, device: str) -> list[Lane]:
    turns, count = Turns(), _lanes_of(device)
    most_part = _PART_OF_MEMORY_LEFT if count > 1 else 0.0
    return [
        Lane(device=number, number=lane, most_part=most_part, turns=turns) for lane in range(count)
    ]


class _Run:
    """The measurements of one run, with a thread for each process that measures."""

    def __init__(  # noqa: PLR0913, PLR0917 - what a run consists of
        self,
        executor: Executor,
        devices: Sequence[str],
        options: CompareOptions,
        rounds: int,
        store: CompareStore,
        listener: CompareListener,
    ) -> None:
        self._executor = executor
        self._devices = devices
        self._options = options
        self._rounds = rounds
        self._store = store
        self._listener = listener
        self._changed = threading.Condition()
        self._waiting: deque[Case] = deque()
        self._ahead: deque[Prepared] = deque()
        self._lanes = [one for at, name in enumerate(devices) for one in _make_lanes(at, name)]
        self._targets = [device_limits(device).target for device in devices]
        self._finished: deque[CaseResult] = deque()
        self._problems: dict[Lane, BaseException] = {}
        self._left_out: set[int] = set()
        self._again: Mapping[tuple[str, str], tuple[CaseResult, list[str]]] = {}
        self._ended = 0
        self._under_way = 0
        self._is_over = False

    def measure(
        self, cases: Sequence[Case], results: dict[tuple[str, str], CaseResult], total: int
    ) -> None:
        """Measure launches, and add what is found to `results`."""

        def finished(one: CaseResult) -> None:
            results[one.key] = one
            self._listener.finished(one, len(results), total)

        self._work(cases, finished)

    def measure_again(
        self,
        found: Mapping[tuple[str, str], tuple[CaseResult, list[str]]],
        cases: Sequence[Case],
        results: dict[tuple[str, str], CaseResult],
    ) -> None:
        """Measure variants of launches again, and note in `results` what that gives."""
        self._again = found  # the variants of a launch are compiled
        self._work(cases, lambda one: results.update({one.key: one}))

    def _work(self, cases: Sequence[Case], finished: Callable[[CaseResult], None]) -> None:
        self._ended, self._is_over = 0, False
        self._waiting.extend(cases)
        threads = [
            threading.Thread(target=self._serve, args=(lane,), daemon=True)
            for lane in self._lanes
            if lane not in self._problems
        ]
        for thread in threads:
            thread.start()
        try:
            while True:
                with self._changed:
                    while not self._finished and self._ended < len(threads):
                        self._changed.wait(_POLL_SECONDS)
                    found = list(self._finished)
                    self._finished.clear()
                    is_last = self._ended == len(threads)
                for one in found:
                    finished(one)
                if is_last and not found:
                    break
        finally:
            self._is_over = True
        self._report()

    def _report(self) -> None:
        """Say what went wrong; raise it if no device is left or it is not about a device.

        What does not work is not used again.
        """
        left = len(self._waiting) + len(self._ahead)
        usable = {one.device for one in self._lanes if one not in self._problems}
        for lane, problem in self._problems.items():
            if not isinstance(problem, BackendUnavailable) or left:
                raise problem
            if lane.device not in usable | self._left_out:
                self._left_out.add(lane.device)
                self._listener.warn(f"{self._devices[lane.device]} was left out: {problem}")

    # In the threads.

    def _serve(self, lane: Lane) -> None:
        try:
            while not self._is_over and (prepared := self._next(lane)) is not None:
                self._measure_on(lane, prepared)
        except MnemeError as error:
            self._problems[lane] = error
        except Exception as error:  # noqa: BLE001 - the thread that waits raises it
            self._problems[lane] = InternalError(f"{type(error).__name__}: {error}")
        finally:
            with self._changed:
                self._ended += 1
                self._changed.notify_all()

    def _measure_on(self, lane: Lane, prepared: Prepared) -> None:
        try:
            if self._devices[0] == _CPU:
                # It is the device, too: times would be those of compiling.
                for answer in prepared.compiled.values():
                    answer.result()
            found = self._compared(lane, prepared)
            if not self._is_over:  # what was interrupted is not a result
                self._store.append(found)
                self._finished.append(found)
        except BackendUnavailable:
            with self._changed:  # which other lanes look through
                self._ahead.appendleft(prepared)  # for another device
            raise
        finally:
            with self._changed:
                self._under_way -= 1
                self._changed.notify_all()

    def _compared(self, lane: Lane, prepared: Prepared) -> CaseResult:
        these = (self._executor, lane, prepared, self._options)
        if known := self._again.get(prepared.case.key):
            rounds = min(self._rounds, CONFIRMING_ROUNDS)
            return compare_again(*these, known, rounds=rounds)
        return compare_case(*these, rounds=self._rounds)

    def _next(self, lane: Lane) -> Prepared | None:
        """Return the next launch for a lane, and have those after it compiled.

        While launches are measured elsewhere, one may come back from a device that fails.
        """
        with self._changed:
            while True:
                while self._waiting and (self._again or len(self._ahead) <= self._compiled_ahead):
                    self._ahead.append(self._prepare(self._waiting.popleft()))
                mine = next((one for one in self._ahead if self._may_measure(lane, one)), None)
                if mine is not None:
                    self._ahead.remove(mine)
                    self._under_way += 1
                    return mine
                if self._is_over or not (self._under_way or self._ahead):
                    return None
                self._changed.wait(_POLL_SECONDS)

    def _may_measure(self, lane: Lane, prepared: Prepared) -> bool:
        """Whether a lane may measure a launch: what was found on a device is confirmed there."""
        known = self._again.get(prepared.case.key)
        if known is None:
            return True
        usable = {self._devices[one.device] for one in self._lanes if one not in self._problems}
        return known[0].device == self._devices[lane.device] or known[0].device not in usable

    def _prepare(self, case: Case) -> Prepared:
        return prepare(
            self._executor,
            case,
            self._options.variants,
            self._targets[0],
            is_compiled=case.key in self._again,
        )

    @property
    def _compiled_ahead(self) -> int:
        """How many launches are compiled while others are measured."""
        if self._devices[0] == _CPU:
            return 0
        workers = int(getattr(self._executor, "compile_workers", 1))
        return 2 * len(self._devices) + 2 * workers // len(self._options.variants) + 1
