"""Statistics of an executor."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mneme.mneme_types import ExperimentResult

__all__ = ["Counts", "ExecutorStatistics", "NodeStatistics", "count_processes", "count_results"]


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


def count_processes(nodes: dict[str, NodeStatistics], hosts: Iterable[str]) -> None:
    """Note how many processes measure on each host, at most so far, given the host of each."""
    for host, count in Counter(hosts).items():
        node = nodes.setdefault(host, NodeStatistics())
        node.processes = max(node.processes, count)


def count_results(
    nodes: dict[str, NodeStatistics], host: str, results: Iterable[ExperimentResult]
) -> None:
    """Count what a host has measured."""
    node = nodes.setdefault(host, NodeStatistics())
    for one in results:
        node.add(one)


class Counts:
    """Counts what an executor that has no devices of its own does. For one thread at a time."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self._submitted = self._finished = self._measured = self._reused = self._failures = 0
        self._busy_ns, self._began, self._ended = 0, 0.0, 0.0

    def begin(self, count: int) -> None:
        """Note that configurations were submitted."""
        self._submitted += count
        self._began = self._began or time.monotonic()

    def end(self, result: ExperimentResult | None) -> None:
        """Note that a configuration is finished; None: without a result."""
        self._ended = time.monotonic()
        self._finished += 1
        if result is not None:
            self._reused += result.reused
            self._failures += result.failed
            self._measured += result.executed and not result.reused
            self._busy_ns += result.launched_ns

    def summary(self) -> ExecutorStatistics:
        """Return the statistics so far."""
        return ExecutorStatistics(
            submitted=self._submitted,
            finished=self._finished,
            measured=self._measured,
            reused=self._reused,
            failures=self._failures,
            device_busy_seconds=self._busy_ns * 1e-9,
            wall_seconds=max(0.0, self._ended - self._began),
        )
