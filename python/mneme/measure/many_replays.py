"""Replays several recorded launches: in turn on this machine, or side by side in a pool."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mneme.errors import AddressUnavailable, ArtifactCorrupt, NotFound
from mneme.files.scratch import ScratchDirectory
from mneme.measure.async_executor import AsyncReplayExecutor
from mneme.measure.futures_executor import FuturesReplayExecutor
from mneme.measure.pool_processes import number_of_processes
from mneme.mneme_types import ExperimentResult

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from concurrent.futures import Executor

    from mneme.measure.eval_future import EvalFuture
    from mneme.measure.measuring import HowToReplay
    from mneme.mneme_types import ExperimentConfiguration
    from mneme.recording.recorded_execution import KernelInstance, RecordedExecution

__all__ = ["Replay", "replay_launches"]


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
    """Yield the replays in the order of the launches; each has a process of its own.

    Args:
        launches: What is replayed.
        configure: Returns how a launch is compiled and launched.
        how: The rest.
        pool: As `mneme.measure.cluster.open_cluster` gives it; None: this machine.

    Raises:
        BackendUnavailable: If there is no such device, or no process of the pool can measure.
    """
    if pool is None:
        with ScratchDirectory("replays") as logs:
            for record, instance in launches:
                config = configure(record, instance)
                with AsyncReplayExecutor(
                    record.path,
                    instance.dynamic_hash,
                    how.iterations,
                    logs,
                    1,
                    compile_workers=0,
                    **_common(how),
                ) as executor:
                    result = _result_of(executor.submit(config))
                yield Replay(record=record, instance=instance, config=config, result=result)
        return
    yield from _in_pool(launches, configure, how, pool)


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
        result = _result_of(future)
    record, instance = launches[at]
    return Replay(record=record, instance=instance, config=future.config, result=result)


def _result_of(future: EvalFuture) -> ExperimentResult:
    """Wait for a result; what is wrong with one recording ends no other replay."""
    try:
        result = future.result()
    except (AddressUnavailable, ArtifactCorrupt, NotFound) as error:
        return ExperimentResult(failed=True, error=str(error), result_class="failed")
    assert result is not None  # noqa: S101 - without a timeout there is one
    return result
