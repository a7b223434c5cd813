"""One trimming, from the recorded launch to the smaller recording."""

from __future__ import annotations

import shutil
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from mneme.devices import choose_device
from mneme.errors import DeviceFailed, IoFailed, MnemeError, VerificationFailed
from mneme.recording.recorded_execution import RecordedExecution
from mneme.trim.blocks import smallest_grid
from mneme.trim.holes import unallocated_in
from mneme.trim.ranges import CHUNK, PAGE, merged, size_of
from mneme.trim.search import Search
from mneme.trim.trials import BudgetSpent, Region, Trials, checked
from mneme.trim.workshop import workshop

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from mneme.trim.ranges import Range

__all__ = ["Progress", "TrimOptions", "Trimmed", "trim"]

# From so much on, memory is not looked at in pages before most of it is left out.
_MUCH_BYTES = 256 << 20
# What is less than this part of it is left to the next step.
_FEW = 64
_LEAST_GAIN = 0.05
# The second has every access of the source, used or not: no other code has more.
_CONFIGURATIONS: tuple[dict[str, object], ...] = ({}, {"passes": "default<O0>", "codegen_opt": 0})


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How far a trimming is."""

    replays: int
    """Launches so far."""
    unread: int
    """Bytes that are known not to be read."""
    undecided: int
    """Bytes of which nothing is known yet."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrimOptions:
    """What is trimmed, and how."""

    record: Path
    """The record file."""
    record_id: str
    """The launch."""
    output: Path
    """The directory of the result."""
    device: str | None = None
    """Where replays run; None: the default device."""
    budget: float = 300.0
    """Seconds for the search."""
    keeps_grid: bool = False
    """Whether the launch keeps its grid."""
    on_progress: Callable[[Progress], None] = lambda _: None
    """Called before each trial."""


@dataclass(kw_only=True)
class Trimmed:
    """What a trimming came to."""

    record: Path
    """The new record."""
    record_id: str
    """The launch in it."""
    files_before: int = 0
    """Bytes of all files that the launch needs."""
    files_after: int = 0
    described_before: int = 0
    """Bytes of recorded memory, which a replay allocates."""
    described_after: int = 0
    unread: int = 0
    """Bytes that the launch does not read; they are zero now, or not allocated."""
    untouched: int = 0
    """Bytes of these that it does not write either."""
    undecided: int = 0
    """Bytes that were kept because the time was over."""
    grid_before: tuple[int, int, int] = (0, 0, 0)
    grid_after: tuple[int, int, int] = (0, 0, 0)
    why_same_grid: str = ""
    """Why the grid stays; empty if it does not."""
    replays: int = 0
    """Launches of the search."""
    seconds: float = 0.0

    @property
    def is_gain(self) -> bool:
        """Whether more than some bytes, or any blocks, are left out."""
        is_less = self.untouched > _LEAST_GAIN * self.described_before
        return is_less or not self.why_same_grid

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain JSON values."""
        return {
            "record": str(self.record),
            "record_id": self.record_id,
            "files": {"before": self.files_before, "after": self.files_after},
            "memory": {"before": self.described_before, "after": self.described_after},
            "unread": self.unread,
            "untouched": self.untouched,
            "undecided": self.undecided,
            "grid": {"before": list(self.grid_before), "after": list(self.grid_after)},
            "why_same_grid": self.why_same_grid,
            "replays": self.replays,
            "seconds": self.seconds,
        }


def trim(options: TrimOptions) -> Trimmed:
    """Write the smallest recording that replays the same, and leave the original as it is.

    Raises:
        VerificationFailed: If the launch does not replay exactly, each time.
        DeviceFailed: If it does not run.
        IoFailed: If the result cannot be written.
    """
    output = options.output
    if output.exists() and (not output.is_dir() or any(output.iterdir())):
        raise IoFailed(f"'{output}' exists; name a directory that does not, or an empty one")
    with workshop(output) as work, tempfile.TemporaryFile() as log:
        result = _in_two_steps(options, work, log)
        try:
            result.record.parent.rename(output.absolute())
        except OSError as error:
            raise IoFailed(f"cannot write '{output}': {error.strerror}") from error
        result.record = output / result.record.name
    return result


def _in_two_steps(options: TrimOptions, work: Path, log: IO[bytes]) -> Trimmed:
    """Trim much memory in chunks first: trials of what is left then take no time."""
    trimming = _Trimming(options, log)
    if trimming.result.described_before < _MUCH_BYTES:
        return trimming.run(work / "result", PAGE)
    coarse = trimming.run(work / "chunks", CHUNK)
    rest = options.budget - coarse.seconds
    if rest <= 0:
        return coarse
    again = replace(
        options, record=coarse.record, record_id=coarse.record_id, keeps_grid=True, budget=rest
    )
    fine = _Trimming(again, log).run(work / "result", PAGE)
    kept = fine.described_before - fine.unread
    return replace(
        fine,
        files_before=coarse.files_before,
        described_before=coarse.described_before,
        unread=coarse.described_before - kept,
        untouched=coarse.described_before - fine.described_before + fine.untouched,
        grid_before=coarse.grid_before,
        why_same_grid=coarse.why_same_grid,
        replays=coarse.replays + fine.replays,
        seconds=coarse.seconds + fine.seconds,
    )


class _Trimming:
    def __init__(self, options: TrimOptions, log: IO[bytes]) -> None:
        from mneme import _native  # noqa: PLC0415 - loads native code

        self._options = options
        self._log = log
        self._record = RecordedExecution.from_json(options.record)
        self._instance = self._record.get(options.record_id)
        self._device = choose_device(options.device)
        self._snapshot = _native.Snapshot(self._instance.prologue.fn)
        self._regions = [
            Region(
                address=int(one["address"]),
                size=int(one["size"]),
                kind=str(one["kind"]),
                is_annotated=one["annotation"] is not None or bool(one["parts"]),
            )
            for one in self._snapshot.regions()
        ]
        self._start = time.monotonic()
        self.result = Trimmed(
            record=options.record,
            record_id=options.record_id,
            described_before=sum(one.size for one in self._regions),
        )

    def run(self, staging: Path, leaf: int) -> Trimmed:
        """Search down to pieces of this size, write and verify."""
        result = self.result
        dims = self._instance.grid_dim
        result.grid_before = (dims.x, dims.y, dims.z)
        with self._trials(self._options.record, self._options.record_id) as trials:
            checked(trials.replay())
            if refusal := trials.take_reference(result.grid_before):
                raise VerificationFailed(
                    f"only a launch that replays exactly can be trimmed, and here {refusal}"
                )
            result.why_same_grid = "as asked for"
            if not self._options.keeps_grid:
                result.why_same_grid = smallest_grid(trials, self._instance)
            found = self._found(trials, leaf)
            result.untouched = trials.untouched_bytes()
            self._write(trials, found, staging)
            result.replays += trials.count
            result.grid_after = trials.grid
        result.unread = size_of(found)
        result.seconds = time.monotonic() - self._start
        self._weigh(staging)
        return result

    def _trials(self, record: Path, record_id: str) -> Trials:
        return Trials(
            record=str(record.absolute()),
            record_id=record_id,
            device=self._device,
            regions=self._regions,
            log=self._log,
            ends=self._start + self._options.budget,
        )

    def _found(self, trials: Trials, leaf: int) -> list[Range]:
        """Return what is not read."""

        def is_unread(found: Sequence[Range], ranges: Sequence[Range], *, is_sample: bool) -> bool:
            self._options.on_progress(
                Progress(replays=trials.count, unread=size_of(found), undecided=search.undecided)
            )
            if leaf > PAGE and search.undecided * _FEW < self.result.described_before:
                raise BudgetSpent  # the next step has the rest
            return trials.is_same(found, ranges, is_sample=is_sample)

        search = Search([one.size for one in self._regions], is_unread, leaf)
        with suppress(BudgetSpent):
            search.run()
        self.result.undecided = search.undecided
        if trials.hold_together(search.found):
            return search.found
        return self._found_again(trials, search.found)

    def _found_again(self, trials: Trials, candidates: Sequence[Range]) -> list[Range]:
        """Take what was found one by one, largest first, because not all of it goes together."""
        found: list[Range] = []
        for one in sorted(candidates, key=lambda one: -one.size):
            if trials.hold_together(merged([*found, one])):
                found = merged([*found, one])
        if not trials.hold_together(found):
            raise DeviceFailed("the launch does not replay exactly any more")
        return found

    def _write(self, trials: Trials, found: Sequence[Range], staging: Path) -> None:
        """Write without what is not needed; allocate it all the same if the result fails so."""
        shown = [int(one["Memory"], 16) for one in self._instance.textures]
        holes = unallocated_in(self._regions, trials.untouched(), self._snapshot.args(), shown)
        failure = ""
        for unallocated in (holes, []) if holes else ([],):
            if failure and not trials.hold_together(found):
                break
            trials.write(str(staging), found, unallocated)
            trials.close()
            (record,) = staging.glob("*.json")
            failure = self._failure_of(record)
            if not failure:
                self.result.record = record
                (self.result.record_id,) = RecordedExecution.from_json(record)
                return
            shutil.rmtree(staging)
        raise VerificationFailed(f"the trimmed launch does not replay: {failure}")

    def _failure_of(self, record: Path) -> str:
        """Replay the result in a fresh process, also with all accesses that its source has.

        Code without IR is always the same.
        """
        written = RecordedExecution.from_json(record)
        (record_id,) = written
        for changes in _CONFIGURATIONS[: 1 if written.code_form else None]:
            with self._trials(record, record_id) as trials:
                self.result.replays += 1
                try:
                    result = trials.replay(**changes)
                    # Other rounding is no other access.
                    if result.failed or not changes:
                        checked(result)
                except MnemeError as error:
                    return str(error)
        return ""

    def _weigh(self, staging: Path) -> None:
        """Measure what is left."""
        from mneme import _native  # noqa: PLC0415 - loaded by now

        result = self.result
        result.files_before = sum(Path(one).stat().st_size for one in self._needed())
        result.files_after = sum(one.stat().st_size for one in staging.iterdir())
        instance = RecordedExecution.from_json(result.record).get(result.record_id)
        after = _native.Snapshot(instance.prologue.fn)
        result.described_after = sum(int(one["size"]) for one in after.regions())

    def _needed(self) -> set[Path]:
        from mneme import _native  # noqa: PLC0415 - loaded by now

        files = {self._options.record, *map(Path, self._record.llvm_files)}
        for state in (self._instance.prologue, self._instance.epilogue):
            folder = Path(state.fn).parent
            files |= {folder / one for one in _native.Snapshot(state.fn).needed_files()}
        return files
