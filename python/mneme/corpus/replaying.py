"""Replays the launches of a corpus, each in a process of its own, as `mneme replay` does."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from mneme.corpus.corpus import Corpus

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from mneme.recording.recorded_execution import RecordedExecution

__all__ = ["Launch", "Replayed", "launches_of", "replay", "verify_replays"]

# One launch that counts, and none before it: verifying needs no more.
_ONCE: Final = ("--iterations", "1", "--warmup", "0")


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """A recorded launch of a corpus."""

    entry: str
    """The recording, as `CorpusEntry.name`."""
    record: RecordedExecution
    record_id: str
    number: int
    """Its place among the launches of the kernel, from 1."""

    @property
    def title(self) -> str:
        """The launch in sentences."""
        return f"{self.entry}: {self.record.short_name}@{self.number}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Replayed:
    """The outcome of a replay."""

    is_verified: bool
    reason: str
    """Its last message."""
    result: dict[str, Any] = field(default_factory=dict)
    """Empty if it did not get to its end."""


def launches_of(corpus: str | Path) -> Iterator[Launch]:
    """Yield every recorded launch.

    Raises:
        NotFound, ArtifactCorrupt: If a recording cannot be read.
    """
    for entry in Corpus(corpus):
        for record in entry.recording.values():
            for number, record_id in enumerate(record, start=1):
                yield Launch(entry=entry.name, record=record, record_id=record_id, number=number)


def replay(record: Path, record_id: str, *options: str, passes: str = "") -> Replayed:
    """Replay a launch with options of `mneme replay`; without passes, as the program was built."""
    words = [str(record), *([passes] if passes else []), "--record-id", record_id, *options]
    done = subprocess.run(
        [sys.executable, "-m", "mneme", "replay", *words],
        capture_output=True,
        text=True,
        check=False,
    )
    lines = done.stderr.strip().splitlines()
    reason = lines[-1].removeprefix("mneme: ") if lines else f"it ended with {done.returncode}"
    try:
        result = json.loads(done.stdout)["Result"] if done.stdout else {}
    except (ValueError, KeyError, TypeError):
        result = {}
    return Replayed(is_verified=done.returncode == 0, reason=reason, result=result)


def verify_replays(
    corpus: str | Path, device: str | None, told: Callable[[int, int], None]
) -> tuple[int, list[str]]:
    """Replay every launch once and compare what it leaves in memory with what was recorded.

    Args:
        corpus: The corpus.
        device: Where to replay; None for the first GPU, else the CPU.
        told: Called after each launch with the number of those done and of all.

    Returns:
        How many there are, and what did not come out as recorded, a sentence each.

    Raises:
        NotFound, ArtifactCorrupt: If a recording cannot be read.
    """
    options: Sequence[str] = ("--device", device, *_ONCE) if device else _ONCE
    launches, problems = list(launches_of(corpus)), []
    for count, launch in enumerate(launches, start=1):
        done = replay(launch.record.path, launch.record_id, *options)
        if not done.is_verified:
            problems.append(f"{launch.title}: {done.reason}")
        told(count, len(launches))
    return len(launches), problems
