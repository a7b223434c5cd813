"""Removes passes from a winner's pipeline that its code does not need.

A search that changes pipelines accumulates passes. Without those that change nothing, production
runs compile faster, and users see what helps. Nothing is measured again: only pipelines that give
exactly the same binary count. Parts of a pipeline are left out in turn, halves first, as in delta
debugging (A. Zeller and R. Hildebrandt, Simplifying and Isolating Failure-Inducing Input, IEEE
Transactions on Software Engineering 28(2), 2002).
"""

from __future__ import annotations

import inspect
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from mneme.errors import MnemeError
from mneme.measure.measuring import Measuring
from mneme.pipelines.pipeline import PipelineManager
from mneme.pipelines.unrolling import split_unrolling

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Sequence

    from mneme.mneme_types import ExperimentConfiguration
    from mneme.pipelines.pass_options import ConcretePass
    from mneme.session.winner import Finalist

__all__ = ["drop_idle_passes", "least"]

_BASELINE = -1


@dataclass
class _Budget:
    """The remaining time: none if less remains than a step has taken so far."""

    deadline: float
    longest: float = 0.0

    def note(self, began: float) -> None:
        """Note the time of a finished step."""
        self.longest = max(self.longest, time.monotonic() - began)

    def is_over(self) -> bool:
        """Whether to start no further step."""
        return time.monotonic() + self.longest >= self.deadline


def drop_idle_passes(executor: Any, finalist: Finalist, seconds: float) -> str:  # noqa: ANN401
    """Shorten the pipelines of the finalists, the winner's first.

    Args:
        executor: Knows `submit(..., only_known=True)`; with any other nothing happens.
        finalist: Its configurations change.
        seconds: Approximate time limit.

    Returns:
        A message about the winner's pipeline; empty if it is unchanged.
    """
    if "only_known" not in inspect.signature(executor.submit).parameters:
        return ""
    budget = _Budget(time.monotonic() + seconds)
    shortened: dict[Hashable, ExperimentConfiguration] = {}
    told = ""
    standing = (finalist.best, finalist.same_launch, finalist.contender)
    # The same configuration often has several roles.
    for one in {id(each): each for each in standing if each is not None}.values():
        done = one.done
        config = done.candidate.config
        if done.candidate.trial == _BASELINE:
            continue
        budget.longest = max(budget.longest, done.result.opt_time + done.result.codegen_time)
        if budget.is_over():
            break
        try:
            found = shortened.get(config.key()) or _shortened(executor, config, budget)
        except MnemeError:  # a pipeline that only LLVM understands, or nobody left to compile
            found = config
        shortened[config.key()] = found
        if found is config:
            continue
        candidate = replace(done.candidate, config=found, config_hash="")
        one.done = replace(done, candidate=candidate)
        if one is finalist.best:
            before, after = _count(config.passes), _count(found.passes)
            told = f"{after} of the {before} passes of the best are enough for its code"
    return told


def least(
    parts: Sequence[Any],
    are_enough: Callable[[Sequence[list[Any]]], list[bool]],
    is_over: Callable[[], bool] = lambda: False,
) -> list[Any]:
    """Return a subset of the parts, in their order, that is enough, as small as can be found.

    Args:
        parts: Parts that are enough together.
        are_enough: Returns for several subsets at once whether they are enough.
        is_over: Whether to stop with the present result.
    """
    kept = list(parts)
    size = len(kept) // 2
    while size and len(kept) > 1 and not is_over():
        size = min(size, len(kept) - 1)
        chunks = [kept[start : start + size] for start in range(0, len(kept), size)]
        without = [_joined(chunks, {index}) for index in range(len(chunks))]
        idle = [index for index, enough in enumerate(are_enough(without)) if enough]
        if not idle:
            size //= 2
            continue
        all_out = _joined(chunks, set(idle))
        together = len(idle) > 1 and bool(all_out) and are_enough([all_out])[0]
        kept = all_out if together else without[idle[0]]
    return kept


def _joined(chunks: Sequence[list[Any]], left_out: set[int]) -> list[Any]:
    return [one for index, chunk in enumerate(chunks) if index not in left_out for one in chunk]


def _count(pipeline: str) -> int:
    return len(PipelineManager().from_string(pipeline))


def _shortened(
    executor: Any,  # noqa: ANN401
    config: ExperimentConfiguration,
    budget: _Budget,
) -> ExperimentConfiguration:
    """Return a shorter configuration with the same binary, or the given one.

    Raises:
        MnemeError: If the pipeline cannot be taken apart, or nothing can be compiled any more.
    """
    manager = PipelineManager()
    front, rest = split_unrolling(config.passes)
    parts = manager.from_string(rest)
    if len(parts) + bool(front) < 2:  # noqa: PLR2004 - nothing would be left
        return config
    began = time.monotonic()
    image = _image(executor, config)
    budget.note(began)

    def with_passes(passes: Sequence[ConcretePass]) -> ExperimentConfiguration:
        return replace(config, passes=",".join(filter(None, (front, manager.to_string(passes)))))

    def are_enough(choices: Sequence[list[ConcretePass]]) -> list[bool]:
        return _same(executor, [with_passes(one) for one in choices], image, budget)

    kept = least(parts, are_enough, budget.is_over)
    found = with_passes(kept) if len(kept) < len(parts) else config
    bare = replace(config, passes=manager.to_string(kept))
    if front and kept and _same(executor, [bare], image, budget)[0]:
        found = bare
    return found


def _image(executor: Any, config: ExperimentConfiguration) -> str:  # noqa: ANN401
    """Make a configuration's binary known to the executor; return its hash."""
    found = executor.submit(config, iterations=1, measuring=Measuring()).result()
    return str(found.image_hash)


def _same(
    executor: Any,  # noqa: ANN401
    configs: Sequence[ExperimentConfiguration],
    image: str,
    budget: _Budget,
) -> list[bool]:
    """Return which configurations give the binary, among those compiled in time."""
    found: list[bool] = []
    at_once = max(1, 2 * int(getattr(executor, "compile_workers", 0)))
    for start in range(0, len(configs), at_once):
        if not image or budget.is_over():
            break
        began = time.monotonic()
        wishes = {"iterations": 1, "measuring": Measuring(), "only_known": True}
        futures = [executor.submit(one, **wishes) for one in configs[start : start + at_once]]
        results = [future.result() for future in futures]
        found += [not one.failed and one.image_hash == image for one in results]
        budget.note(began)
    return [*found, *([False] * (len(configs) - len(found)))]
