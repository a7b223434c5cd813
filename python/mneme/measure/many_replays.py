"""Replays several recorded launches: in turn on this machine, or side by side in a pool.

Here one process replays them all, since starting a GPU takes longer than most replays. Beside a GPU
others compile what comes next.
"""

from __future__ import annotations

import os
from collections import deque
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from mneme.devices import choose_device, device_limits
from mneme.errors import AddressUnavailable, ArtifactCorrupt, NotFound
from mneme.files.scratch import ScratchDirectory
from mneme.measure.futures_executor import FuturesReplayExecutor
from mneme.measure.measuring import Measuring
from mneme.measure.pool_processes import number_of_processes
from mneme.measure.suite_executor import SuiteExecutor, SuiteOptions
from mneme.mneme_types import ExperimentResult

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from concurrent.futures import Executor, Future

    from mneme.measure.compile_pool import CompileAnswer
    from mneme.measure.eval_future import EvalFuture
    from mneme.measure.measuring import HowToReplay
    from mneme.mneme_types import ExperimentConfiguration
    from mneme.recording.recorded_execution import KernelInstance, RecordedExecution

    _Configured = tuple[RecordedExecution, KernelInstance, ExperimentConfiguration]

__all__ = ["Replay", "replay_launches"]

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Replay:
    """One launch and what its replay gave."""

    record: RecordedExecution
    instance: KernelInstance
    config: ExperimentConfiguration
    result: ExperimentResult


def replay_launches(
    launches: Sequence[tuple[RecordedExecution, KernelInstance]],
    configure: Callable[[RecordedExecution, KernelInstance], ExperimentConfiguration],
    how: HowToReplay,
    pool: Executor | None = None,
) -> Iterator[Replay]:
    """Yield the replays in the order of the launches.

    Args:
        launches: What is replayed.
        configure: Returns how a launch is compiled and launched.
        how: The rest.
        pool: As `mneme.measure.cluster.open_cluster` gives it; None: this machine.

    Raises:
        BackendUnavailable: If there is no such device, or no process of the pool can measure.
    """
    if pool is None:
        yield from _here(launches, configure, how)
    else:
        yield from _in_pool(launches, configure, how, pool)


def _here(
    launches: Sequence[tuple[RecordedExecution, KernelInstance]],
    configure: Callable[[RecordedExecution, KernelInstance], ExperimentConfiguration],
    how: HowToReplay,
) -> Iterator[Replay]:
    device = choose_device(how.device)
    target = device_limits(device).target
    options = SuiteOptions(
        iterations=how.iterations,
        warmup=how.warmup,
        tolerances=how.tolerances,
        timeout=how.timeout,
        measuring=how.measuring or Measuring(),
        compile_workers=max(1, min(len(launches), len(os.sched_getaffinity(0)) - 1)),
    )
    is_apart = device != "cpu"  # or else what is compiled ahead disturbs the times
    with (
        ScratchDirectory("replays") as logs,
        SuiteExecutor([device], Path(logs), options) as executor,
    ):

        def compiled() -> Iterator[tuple[_Configured, Future[CompileAnswer]]]:
            for record, instance in launches:
                config = configure(record, instance)
                launch = str(record.path.absolute()), instance.dynamic_hash
                yield (record, instance, config), executor.compile(launch, config, target)

        def queued() -> Iterator[tuple[_Configured, Callable[[], ExperimentResult]]]:
            for one, code in _ahead(compiled(), 2 * executor.compile_workers if is_apart else 0):
                code.result()  # the replay tries again what failed, and says why
                record, instance, config = one
                launch = str(record.path.absolute()), instance.dynamic_hash
                yield one, executor.submit(0, launch, config)

        for (record, instance, config), wait in _ahead(queued(), 1 if is_apart else 0):
            yield Replay(record=record, instance=instance, config=config, result=_result_of(wait))


def _ahead(items: Iterator[_T], count: int) -> Iterator[_T]:
    """Yield the items; so many more are asked for before one is given."""
    waiting = deque(islice(items, count))
    for item in items:
        waiting.append(item)
        yield waiting.popleft()
    yield from waiting


def _common(how: HowToReplay) -> dict[str, Any]:
    return {
        "warmup": how.warmup,
        "device": how.device,
        "timeout": how.timeout,
        "tolerances": how.tolerances,
        "measuring": how.measuring,
    }


def _in_pool(
    launches: Sequence[tuple[RecordedExecution, KernelInstance]],
    configure: Callable[[RecordedExecution, KernelInstance], ExperimentConfiguration],
    how: HowToReplay,
    pool: Executor,
) -> Iterator[Replay]:
    most = 2 * number_of_processes(pool)
    flying: deque[tuple[FuturesReplayExecutor, EvalFuture, int]] = deque()
    try:
        for at, (record, instance) in enumerate(launches):
            executor = FuturesReplayExecutor(
                pool, record.path, instance.dynamic_hash, how.iterations, **_common(how)
            )
            executor.prepare()
            flying.append((executor, executor.submit(configure(record, instance)), at))
            if len(flying) >= most:
                yield _landed(launches, *flying.popleft())
        while flying:
            yield _landed(launches, *flying.popleft())
    finally:
        for executor, _, _ in flying:
            executor.shutdown(cancel=True)


def _landed(
    launches: Sequence[tuple[RecordedExecution, KernelInstance]],
    executor: FuturesReplayExecutor,
    future: EvalFuture,
    at: int,
) -> Replay:
    with executor:
        result = _result_of(future.result)
    record, instance = launches[at]
    return Replay(record=record, instance=instance, config=future.config, result=result)


def _result_of(wait: Callable[[], ExperimentResult | None]) -> ExperimentResult:
    """Wait for a result; what is wrong with one recording ends no other replay."""
    try:
        result = wait()
    except (AddressUnavailable, ArtifactCorrupt, NotFound) as error:
        return ExperimentResult(failed=True, error=str(error), result_class="failed")
    assert result is not None  # noqa: S101 - without a timeout there is one
    return result
