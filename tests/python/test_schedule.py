"""The order in which configurations are compiled and replayed."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from mneme._compile_pool import CompileRequest
from mneme._schedule import Schedule
from mneme._worker_process import CodeTarget
from mneme.async_executor import EvalFuture
from mneme.errors import InvalidArgument
from mneme.mneme_types import ExperimentConfiguration, dim3

TARGET: CodeTarget = ("sm_90", [])
OTHER: CodeTarget = ("sm_90", [("counter", 4096)])


class Compiler:
    """Compiles when it is told to."""

    def __init__(self) -> None:
        self.asked: list[tuple[CompileRequest, Callable[[str], None]]] = []

    def submit(self, request: CompileRequest, done: Callable[[str], None]) -> None:
        self.asked.append((request, done))

    def finish(self, index: int, sentence: str = "") -> None:
        self.asked[index][1](sentence)


def schedule_of(
    count: int, ahead: int = 8
) -> tuple[Schedule, Compiler, list[EvalFuture], list[str]]:
    compiler, failures = Compiler(), list[str]()
    schedule = Schedule(compiler, ahead, lambda _, __, sentence: failures.append(sentence))  # type: ignore[arg-type]
    futures = [EvalFuture(i, ExperimentConfiguration(shared_mem=i)) for i in range(count)]
    for future in futures:
        schedule.add(future)
    return schedule, compiler, futures, failures


def begin(schedule: Schedule, compiler: Compiler, target: CodeTarget = TARGET) -> EvalFuture | None:
    """Make a worker known that takes the first configuration."""
    schedule._targets[0] = target
    schedule._advance()
    compiler.finish(0)
    return schedule.take(0, target)


def test_the_oldest_of_those_compiled_is_next() -> None:
    schedule, compiler, futures, _ = schedule_of(4)
    assert begin(schedule, compiler) is futures[0]
    for index in (3, 2):
        compiler.finish(index)
    assert schedule.take(0, TARGET) is futures[2]
    compiler.finish(1)
    assert schedule.take(0, TARGET) is futures[1]
    assert schedule.take_early(0) is futures[3]
    assert schedule.take_early(0) is None


def test_only_so_many_are_compiled_ahead() -> None:
    schedule, compiler, futures, _ = schedule_of(5, ahead=2)
    assert begin(schedule, compiler) is futures[0]
    assert len(compiler.asked) == 3


def test_what_cannot_be_compiled_never_reaches_a_worker() -> None:
    schedule, compiler, futures, failures = schedule_of(3)
    assert begin(schedule, compiler) is futures[0]
    compiler.finish(1, "the compiler crashed")
    compiler.finish(2)
    assert failures == ["the compiler crashed"]
    assert schedule.take(0, TARGET) is futures[2]


def test_what_was_compiled_for_another_device_is_compiled_again() -> None:
    schedule, compiler, futures, _ = schedule_of(2)
    assert begin(schedule, compiler) is futures[0]
    compiler.finish(1)
    schedule._targets[0] = OTHER
    assert schedule._choose(0, OTHER) is None
    assert [request.target for request, _ in compiler.asked] == [TARGET, TARGET, OTHER]
    compiler.finish(2)
    assert schedule.take(0, OTHER) is futures[1]


def test_a_closed_schedule_gives_what_is_left() -> None:
    schedule, compiler, futures, _ = schedule_of(2)
    assert begin(schedule, compiler) is futures[0]
    assert schedule.close()
    assert not schedule.close()
    with pytest.raises(InvalidArgument):
        schedule.add(futures[0])
    compiler.finish(1)
    assert schedule.take(0, TARGET) is futures[1]
    assert schedule.take(0, TARGET) is None
    assert not schedule.has_work()


def test_equal_code_has_one_key_and_other_code_another() -> None:
    def key(target: CodeTarget = TARGET, ir: bytes | None = None, **changes: object) -> str:
        config = ExperimentConfiguration(**changes)  # type: ignore[arg-type]
        return CompileRequest(configuration=config.to_dict(), target=target, ir=ir).key()

    wide = dim3(64)
    assert key() == key(grid=wide, block=wide, shared_mem=4, max_threads=7, min_blocks_per_sm=3)
    bounds = key(set_launch_bounds=True)
    assert bounds == key(set_launch_bounds=True, grid=wide)
    fixed = key(specialize_dims=True)
    others = {
        key(passes="default<O1>"),
        key(codegen_opt=2),
        key(specialize=True),
        key(ir=b"x"),
        key(OTHER),
        bounds,
        key(set_launch_bounds=True, block=wide),
        fixed,
        key(specialize_dims=True, grid=wide),
    }
    assert key() not in others
    assert len(others) == 9
