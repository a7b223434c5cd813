"""A launch whose variants are being compiled, and what compiles and replays them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from mneme.errors import InvalidArgument, Unsupported
from mneme.recording.configured import configured

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from concurrent.futures import Future

    from mneme.compare.cases import Case
    from mneme.compare.variants import Variant
    from mneme.measure.compile_pool import CompileAnswer
    from mneme.measure.measuring import Measuring
    from mneme.mneme_types import ExperimentConfiguration, ExperimentResult

__all__ = ["Executor", "Prepared", "prepare"]


class Executor(Protocol):
    """What compiles and replays: `SuiteExecutor`, or a stand-in with times of its own."""

    def compile(
        self, launch: tuple[str, str], config: ExperimentConfiguration, target: str
    ) -> Future[CompileAnswer]:
        """Compile a configuration into the cache."""

    def open(
        self,
        device: int,
        launch: tuple[str, str],
        prologue: str,
        *,
        lane: int = 0,
        most_part: float = 0.0,
    ) -> Callable[[], None]:
        """Open a launch before its replays come; return a function that waits for that."""

    def close_others(self, device: int, lane: int) -> None:
        """Wait until the other processes of a device have no launch open."""

    def close(self, device: int, lane: int) -> None:
        """Wait until a process has no launch open."""

    def submit(  # noqa: PLR0913 - all that a replay depends on
        self,
        device: int,
        launch: tuple[str, str],
        config: ExperimentConfiguration,
        *,
        lane: int = 0,
        iterations: int | None = None,
        measuring: Measuring | None = None,
    ) -> Callable[[], ExperimentResult]:
        """Queue a replay; return a function that waits for its result."""

    def idle_seconds(self, device: int, lane: int = 0) -> float:
        """Return how long a process of a device has waited for replays to do, in all."""


@dataclass(eq=False, slots=True, kw_only=True)
class Prepared:
    """A launch whose variants are being compiled."""

    case: Case
    configs: dict[str, ExperimentConfiguration] = field(default_factory=dict)
    """By variant."""
    refused: dict[str, str] = field(default_factory=dict)
    """Variants that this launch cannot have, with the reason."""
    compiled: dict[str, Future[CompileAnswer]] = field(default_factory=dict)


def prepare(
    executor: Executor,
    case: Case,
    variants: Sequence[Variant],
    target: str,
    *,
    is_compiled: bool = False,
) -> Prepared:
    """Start to compile the variants of a launch, unless that was done before."""
    prepared = Prepared(case=case)
    for variant in variants:
        try:
            config = configured(case.record, case.instance, variant.changes)
        except (InvalidArgument, Unsupported) as error:
            prepared.refused[variant.name] = str(error)
            continue
        prepared.configs[variant.name] = config
        if not is_compiled:
            prepared.compiled[variant.name] = executor.compile(case.launch, config, target)
    return prepared
