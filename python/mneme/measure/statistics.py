"""Statistics of an executor."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mneme.mneme_types import ExperimentResult

__all__ = ["ExecutorStatistics", "NodeStatistics"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecutorStatistics:
    """Numbers since the executor was made."""

    submitted: int = 0
    """Configurations."""

    finished: int = 0
    """Configurations with a result or an error."""

    measured: int = 0
    """Configurations that a worker ran, with any result."""

    reused: int = 0
    """Configurations that took the measurement of an identical binary and launch."""

    failures: int = 0
    """Results with `failed` set."""

    compiled: int = 0
    """Compilations of compile workers."""

    compile_failures: int = 0
    """Configurations that could not be compiled."""

    worker_restarts: int = 0
    """Worker processes that had to be replaced."""

    compile_restarts: int = 0
    """Compile workers that had to be replaced."""

    device_busy_seconds: float = 0.0
    """All launches, on all devices."""

    wall_seconds: float = 0.0
    """From the first configuration to the last result."""

    @property
    def busy_share(self) -> float:
        """Busy seconds per second, of all devices together."""
        return self.device_busy_seconds / self.wall_seconds if self.wall_seconds > 0 else 0.0


@dataclass(slots=True, kw_only=True)
class NodeStatistics:
    """What one host of a pool has done."""

    processes: int = 0
    """Processes that measure there."""

    finished: int = 0
    """Configurations with a result."""

    failures: int = 0
    """Results with `failed` set."""

    device_busy_seconds: float = 0.0
    """All launches, on all its devices."""

    def add(self, result: ExperimentResult) -> None:
        """Count a result."""
        self.finished += 1
        self.failures += result.failed
        self.device_busy_seconds += result.launched_ns * 1e-9
