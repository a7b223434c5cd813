"""Trials of one launch: the same result with other content in memory?"""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Any

from mneme.errors import DeviceFailed, VerificationFailed
from mneme.mneme_types import ExperimentResult
from mneme.trim.ranges import Range, merged
from mneme.trim.trial_process import ProcessLost, TrialProcess

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import TracebackType

    from typing_extensions import Self

__all__ = ["BudgetSpent", "Pattern", "Region", "Trials", "checked"]

_LEAST_TIMEOUT_SECONDS = 5.0
_TIMES_LAUNCH = 50
# Copying and hashing of memory around a launch, at the pace of a slow disk.
_BYTES_PER_SECOND = 50e6
_LEAST_WAIT_SECONDS = 60.0


class BudgetSpent(Exception):  # noqa: N818 - what happened
    """The time is over; what was found counts."""


class Pattern:
    """Content in place of what was recorded, by the numbers of native code."""

    ZERO = 0
    SMALL = 1
    LARGE = 2
    ALL = (SMALL, ZERO, LARGE)
    """In the order in which they are tried: what is read mostly fails with the first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Region:
    """A recorded region."""

    address: int
    size: int
    kind: str
    """The word that `Snapshot.regions` has for it."""
    is_annotated: bool = False
    """Whether it, or a part of it, has a tolerance."""


@dataclass(kw_only=True)
class Trials:
    """Asks a process, which is replaced when a launch has ended it. A context manager."""

    record: str
    record_id: str
    device: str
    regions: Sequence[Region]
    log: IO[bytes]
    ends: float
    """When the budget is spent, as of `time.monotonic`."""
    on_trial: Callable[[], None] = lambda: None
    count: int = 0
    """Replays so far."""
    grid: tuple[int, int, int] = (0, 0, 0)
    """The grid of the reference launch."""
    _process: TrialProcess | None = None
    _has_reference: bool = False
    _timeout: float = 0.0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.close()
        self._process = None
        self._has_reference = False

    @property
    def recorded(self) -> str:
        """The recorded configuration, as JSON."""
        return self._opened().recorded

    def replay(self, **changes: object) -> ExperimentResult:
        """Replay as `mneme replay` does, before all trials, with changes of the configuration.

        Raises:
            DeviceFailed: If the process ends.
        """
        configuration = json.dumps({**json.loads(self.recorded), **changes})
        options = json.dumps({"iterations": 1, "warmup": 0})
        self.count += 1
        try:
            answer = self._opened().ask("run", configuration, options)
        except ProcessLost:
            self.close()
            raise DeviceFailed("the process that replays the kernel ended") from None
        result = ExperimentResult.from_dict(json.loads(answer))
        if result.exec_time:
            self._timeout = max(_LEAST_TIMEOUT_SECONDS, _TIMES_LAUNCH * max(result.exec_time) / 1e9)
        return result

    def take_reference(self, grid: tuple[int, int, int]) -> str:
        """Make this grid's result what all trials are compared with; return why it cannot be.

        Raises:
            DeviceFailed: If the kernel fails with the recorded grid, or the process ends.
        """
        self.grid = grid
        return self._refer()

    def is_same(
        self, found: Sequence[Range], ranges: Sequence[Range], *, is_sample: bool = False
    ) -> bool:
        """Whether the result stays the same if ranges have other content, like what was found.

        Args:
            found: What was found so far.
            ranges: What is asked about.
            is_sample: Whether one pattern is enough to tell.

        Raises:
            BudgetSpent: If there is no time to ask.
        """
        if time.monotonic() > self.ends:
            raise BudgetSpent
        return self._holds(ranges, found, (Pattern.SMALL,) if is_sample else Pattern.ALL)

    def hold_together(self, found: Sequence[Range]) -> bool:
        """Whether all of this may have each pattern at once; notes what is written there.

        `untouched` and `write` are about what was noted last.
        """
        return self._holds(found, (), Pattern.ALL)

    def _holds(
        self, ranges: Sequence[Range], found: Sequence[Range], patterns: Sequence[int]
    ) -> bool:
        for pattern in patterns:
            noted = None if pattern == Pattern.ZERO else pattern
            if not self._asked(self._fills(ranges, pattern, beside=found), noted):
                return False
        try:
            return len(patterns) == 1 or bool(self._opened().ask("notes_agree"))
        except ProcessLost:
            self.close()
            return False

    def untouched(self) -> list[tuple[int, int]]:
        """Return what noted trials did not write, as addresses and sizes."""
        ranges: list[tuple[int, int]] = self._opened().ask("untouched")
        return ranges

    def untouched_bytes(self) -> int:
        """Return how many bytes noted trials did not write."""
        return int(self._opened().ask("untouched_bytes"))

    def write(
        self, directory: str, found: Sequence[Range], unallocated: Sequence[tuple[int, int]]
    ) -> None:
        """Write the recording without what was found."""
        unread = [(address, size) for address, size, _ in self._fills(found, Pattern.ZERO)]
        try:
            self._opened().ask("write", directory, unread, list(unallocated))
        except ProcessLost:
            raise DeviceFailed("the process that writes the recording ended") from None

    def _asked(self, fills: list[tuple[int, int, int]], noted: int | None) -> bool:
        self.on_trial()
        self._opened()
        if not self._has_reference:
            self._refer()
        assert self._process is not None  # noqa: S101 - opened above
        self.count += 1
        try:
            answer = self._process.ask("trial", fills, noted, seconds=self._patience)
        except ProcessLost:
            self.close()
            return False
        if not answer["is_device_usable"]:
            self.close()
        return not answer["difference"]

    @property
    def _patience(self) -> float:
        """Seconds until nobody waits for a trial any more."""
        memory = sum(one.size for one in self.regions)
        return _LEAST_WAIT_SECONDS + 2 * self._timeout + memory / _BYTES_PER_SECOND

    def _opened(self) -> TrialProcess:
        if self._process is None:
            self._has_reference = False
            try:
                self._process = TrialProcess(self.record, self.record_id, self.device, self.log)
            except ProcessLost:
                raise DeviceFailed("the process that replays the kernel ended") from None
        return self._process

    def _refer(self) -> str:
        configuration = self.recorded
        self.count += 3
        try:
            answer: dict[str, Any] = self._opened().ask(
                "take_reference", configuration, self._timeout, self.grid
            )
        except ProcessLost:
            self.close()
            raise DeviceFailed("the process that replays the kernel ended") from None
        self._has_reference = not answer["refusal"]
        return str(answer["refusal"])

    def _fills(
        self, ranges: Sequence[Range], pattern: int, *, beside: Sequence[Range] = ()
    ) -> list[tuple[int, int, int]]:
        """Return what native code takes.

        What lies beside the ranges gets large numbers: a wrong result is seldom one of them.
        """
        both = (
            *((one, pattern) for one in merged(ranges)),
            *((one, Pattern.LARGE) for one in beside),
        )
        return sorted(
            (self.regions[one.region].address + one.begin, one.size, number) for one, number in both
        )


def checked(result: ExperimentResult) -> None:
    """Refuse a launch that does not replay exactly.

    Raises:
        DeviceFailed: If it does not run.
        VerificationFailed: If its result differs.
    """
    if result.failed or not result.executed:
        raise DeviceFailed(f"the recorded launch cannot be replayed: {result.error}")
    if result.result_class != "exact":
        raise VerificationFailed(
            f"only a launch that replays exactly can be trimmed, and this one is "
            f"{result.result_class.replace('_', ' ')}; 'mneme replay' shows where it differs"
        )
