"""Replays that find out how a kernel may be launched, within a part of the search's time."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from mneme.measure.measuring import Measuring
from mneme.search.launch_rules import OutOfTime
from mneme.session.loop import submit

if TYPE_CHECKING:
    from mneme.mneme_types import ExperimentConfiguration, ExperimentResult
    from mneme.session.loop import Executor

__all__ = ["Probes"]

# The share of the search time that probes may take, and the least seconds: the launch of a kernel
# that is not slow has to fit.
_PART_OF_SEARCH = 0.1
_LEAST_SECONDS = 2.0


class Probes:
    """Replays configurations once each, one after the other."""

    def __init__(self, executor: Executor, timeout: float | None) -> None:
        """Start; the time begins now.

        Args:
            executor: Replays configurations.
            timeout: Seconds of the search; None: each replay takes as long as a trial may.
        """
        self._executor = executor
        self._seconds = None if timeout is None else max(_LEAST_SECONDS, _PART_OF_SEARCH * timeout)
        self._began = time.monotonic()
        self.is_stuck = False
        """Something did not end in time: the executor cannot be used any more."""

    def __call__(self, config: ExperimentConfiguration) -> ExperimentResult:
        """Return the result of one launch.

        Raises:
            OutOfTime: If the result is not there in time; every further call raises it, too.
        """
        left = self._left()
        if left is not None and left <= 0:
            raise self._out_of_time()
        future = submit(self._executor, config, iterations=1, measuring=Measuring())
        result: ExperimentResult | None = future.result(left) if left else future.result()
        if result is None:
            self.is_stuck = True
            self._seconds = 0.0
            raise self._out_of_time()
        return result

    def _left(self) -> float | None:
        if self._seconds is None:
            return None
        return self._seconds - (time.monotonic() - self._began)

    @staticmethod
    def _out_of_time() -> OutOfTime:
        return OutOfTime("replays of other launches took too much of the search's time")
