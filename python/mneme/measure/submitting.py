"""The interface of executors to which configurations are submitted."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

from mneme.errors import InvalidArgument

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import TracebackType

    from typing_extensions import Self

    from mneme.measure.eval_future import EvalFuture
    from mneme.measure.measuring import Measuring
    from mneme.mneme_types import ExperimentConfiguration, ExperimentResult

__all__ = ["SubmittingExecutor", "check_counts"]


class SubmittingExecutor(ABC):
    """Takes configurations and gives results later. A context manager, which shuts it down."""

    @abstractmethod
    def submit(
        self,
        config: ExperimentConfiguration,
        *,
        iterations: int | None = None,
        measuring: Measuring | None = None,
        fresh: bool = False,
        worker: int | None = None,
    ) -> EvalFuture:
        """Queue a configuration."""

    @abstractmethod
    def submit_together(
        self,
        configs: Sequence[ExperimentConfiguration],
        *,
        iterations: int | None = None,
        measuring: Measuring | None = None,
        fresh: bool = False,
    ) -> list[EvalFuture]:
        """Queue configurations that are measured by one process, in turn.

        Only times from one device can be compared, and devices of a kind differ, too.
        """

    @abstractmethod
    def shutdown(self, *, cancel: bool = False, wait: bool = True) -> None:
        """Take no more configurations, and finish the present ones unless they are cancelled.

        Args:
            cancel: Drop queued configurations.
            wait: Return only when everything has ended; otherwise a later call waits.
        """

    def evaluate(
        self,
        config: ExperimentConfiguration,
        *,
        iterations: int | None = None,
        measuring: Measuring | None = None,
        fresh: bool = False,
        worker: int | None = None,
    ) -> ExperimentResult:
        """Evaluate a configuration and wait for its result; see `submit`."""
        future = self.submit(
            config, iterations=iterations, measuring=measuring, fresh=fresh, worker=worker
        )
        result = future.result()
        if result is None:  # pragma: no cover - without timeout there is a result
            raise AssertionError
        return result

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        # After an interrupt, cancel running work instead of waiting for it.
        self.shutdown(cancel=kind is not None and not issubclass(kind, Exception))


def check_counts(iterations: int, warmup: int, capacity: int | None) -> None:
    """Refuse numbers that are too small; `capacity` may be None.

    Raises:
        InvalidArgument: If one is.
    """
    if iterations < 0 or warmup < 0 or (capacity is not None and capacity < 1):
        raise InvalidArgument(
            "need iterations >= 0, warmup >= 0 and capacity >= 1; "
            f"got {iterations}, {warmup} and {capacity}"
        )
