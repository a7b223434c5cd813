"""What a session reads from the knowledge file and writes to it.

Problems with the file neither end a tuning nor change what it finds to be fastest: they are
reported once.
"""

from __future__ import annotations

import functools
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any, Final

from mneme import __version__
from mneme.errors import ArtifactCorrupt, BackendUnavailable, IoFailed, MnemeError
from mneme.knowledge.entry import NOTHING, Entry
from mneme.knowledge.features import Features, features_of
from mneme.knowledge.place import knowledge_place
from mneme.knowledge.recall import Kernel, matches
from mneme.recording.launch_facts import static_hash_text
from mneme.search.recorded_code import recorded_ir
from mneme.search.seeds import Seeds, find_seeds
from mneme.session.trials import plain_params

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from mneme.knowledge.store import KnowledgeStore
    from mneme.recording.recorded_execution import KernelInstance, RecordedExecution
    from mneme.search.space_view import SpaceView
    from mneme.session.events import TuneListener
    from mneme.session.final_round import Gain
    from mneme.session.options import TuneOptions
    from mneme.session.trials import CompletedCandidate
    from mneme.session.winner import Finalist

__all__ = ["Memory", "kernel_of"]

# Number of runners-up to store, besides the best that keeps the recorded launch.
_MOST_NEXT: Final = 3
# Smaller gains may be chance, because few rounds chose the winner.
_LEAST_NEXT: Final = 1.02

# Files that this process has reported; `--all` makes many searches.
_told: set[Path] = set()


def kernel_of(
    record: RecordedExecution, instance: KernelInstance, device: str, arch: str
) -> Kernel:
    """Return the identity of a recorded launch in the knowledge file.

    Args:
        record: The kernel.
        instance: The launch.
        device: As in `--device`.
        arch: The target it is compiled for.

    Raises:
        MnemeError: If its code cannot be read.
    """
    return Kernel(
        static_hash=static_hash_text(record.static_hash),
        family=device.partition(":")[0],
        arch=arch,
        features=_features(record, instance),
    )


def _features(record: RecordedExecution, instance: KernelInstance) -> Features:
    try:
        ir = recorded_ir(instance) or ""
    except OSError as error:
        raise IoFailed(f"the code of {record.demangled_name} cannot be read: {error}") from error
    return features_of(
        ir,
        kernel=record.kernel_name,
        grid=_extents(instance.grid_dim),
        block=_extents(instance.block_dim),
        shared_mem=instance.shared_mem,
    )


class Memory:
    """The knowledge file, for one search of one launch."""

    def __init__(
        self,
        options: TuneOptions,
        listener: TuneListener,
        record: RecordedExecution,
        instance: KernelInstance,
    ) -> None:
        """Open nothing yet."""
        self._options = options
        self._listener = listener
        self._record = record
        self._instance = instance
        self._place = knowledge_place() if options.knowledge else None

    def seeds(self, view: SpaceView, device: str) -> Seeds:
        """Return configurations to begin a search with, and report their origin.

        Raises:
            InvalidArgument: If the space's own functions fail.
        """
        found: list[Any] = []
        if self._place is not None:
            try:
                entries = _opened(self._place).entries()
                found = matches(entries, self._kernel(device)) if entries else []
            except MnemeError as error:
                self._tell("earlier tunings are not used", self._place, error)
        seeds = find_seeds(view, found)
        if seeds.sentence:
            self._listener.note(seeds.sentence)
        return seeds

    def learn(
        self,
        baseline: CompletedCandidate,
        finalist: Finalist | None,
        trials: Sequence[CompletedCandidate],
    ) -> None:
        """Write the results; searches for anything but speed write nothing."""
        is_about_time = self._options.objectives[0] in ("time", "speedup")
        if self._place is None or finalist is None or not trials or not is_about_time:
            return
        try:
            _opened(self._place).add(self._entries(baseline, finalist, trials))
        except MnemeError as error:
            self._tell("what was found is not remembered", self._place, error)

    def _tell(self, what: str, place: Path, error: MnemeError) -> None:
        """Report a problem once: a bad file as a warning, a bad place as a note."""
        if place in _told:
            return
        _told.add(place)
        if isinstance(error, ArtifactCorrupt):
            self._listener.warn(f"{error} (tuning goes on without it)")
        else:
            self._listener.note(f"{what}: {error}")

    def _kernel(self, device: str) -> Kernel:
        return kernel_of(self._record, self._instance, device, _arch_of(device))

    def _entries(
        self,
        baseline: CompletedCandidate,
        finalist: Finalist,
        trials: Sequence[CompletedCandidate],
    ) -> list[Entry]:
        make = functools.partial(
            self._entry, self._kernel(baseline.result.device), baseline, len(trials)
        )
        if finalist.best.done is baseline:
            return [make(baseline, NOTHING, 1.0, None)]
        best, same = finalist.best, finalist.same_launch
        known = [best] if same.done in (best.done, baseline) else [best, same]
        entries = [make(one.done, rank, one.gain.ratio, one.gain) for rank, one in enumerate(known)]
        numbers = {one.done.candidate.trial for one in known}
        others = [
            (done, ratio)
            for done, ratio in finalist.others
            if done.candidate.trial not in numbers and ratio > _LEAST_NEXT
        ]
        for rank, (done, ratio) in enumerate(others[:_MOST_NEXT], len(entries)):
            entries.append(make(done, rank, ratio, None))
        return entries

    def _entry(  # noqa: PLR0913, PLR0917 - a row has many columns
        self,
        kernel: Kernel,
        baseline: CompletedCandidate,
        trials: int,
        done: CompletedCandidate,
        rank: int,
        ratio: float,
        gain: Gain | None,
    ) -> Entry:
        return Entry(
            kernel=self._record.kernel_name,
            demangled=self._record.demangled_name,
            static_hash=kernel.static_hash,
            family=kernel.family,
            arch=kernel.arch,
            grid=_extents(self._instance.grid_dim),
            block=_extents(self._instance.block_dim),
            shared_mem=self._instance.shared_mem,
            features=kernel.features,
            baseline=baseline.candidate.config.to_dict(),
            baseline_ns=float(baseline.metric or 0.0),
            config=done.candidate.config.to_dict(),
            params=_public(done.candidate.params),
            rank=rank,
            gain=ratio,
            low=None if gain is None else gain.low,
            high=None if gain is None else gain.high,
            trials=trials,
            date=datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
            version=__version__,
        )


def _public(params: Mapping[str, Any]) -> dict[str, Any]:
    """Return parameters without values that may be paths: spaces of users can have any values."""
    return {
        name: value
        for name, value in plain_params(params).items()
        if isinstance(value, int | float | str) and not (isinstance(value, str) and "/" in value)
    }


def _opened(place: Path) -> KnowledgeStore:
    try:
        from mneme.knowledge.store import KnowledgeStore  # noqa: PLC0415 - may lack its library
    except ImportError as error:
        raise BackendUnavailable(f"this Python has no SQLite ({error})") from error
    return KnowledgeStore(place)


def _extents(dims: Any) -> tuple[int, int, int]:  # noqa: ANN401 - a dim3
    return (int(dims.x), int(dims.y), int(dims.z))


def _arch_of(device: str) -> str:
    from mneme.devices import device_limits  # noqa: PLC0415 - loads native code

    return device_limits(device or None).target
