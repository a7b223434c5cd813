"""What is measured: every distinct launch in trees of recordings."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mneme.errors import NotFound
from mneme.kernel_names import qualified_name, shortened
from mneme.recording.choice import fitting_among
from mneme.recording.directory import Recording
from mneme.recording.recorded_execution import RecordedExecution
from mneme.source_place import places_in_tables

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from mneme.recording.recorded_execution import KernelInstance

__all__ = ["Case", "Cases", "find_cases", "names_of"]

_DIGITS = 8
# It tells nothing, and takes the room of what does.
_HIDDEN = "(anonymous namespace)::"


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A recorded launch."""

    record: RecordedExecution
    instance: KernelInstance
    recording: str
    """The directory it is in, relative to the one that was named."""
    number: int
    """Its place among the launches of its kernel, from 1."""

    @property
    def key(self) -> tuple[str, str]:
        """Its identity, wherever it is recorded."""
        return self.instance.static_hash, self.instance.dynamic_hash

    @property
    def launch(self) -> tuple[str, str]:
        """The record's path, and the id of the launch."""
        return str(self.record.path.absolute()), self.instance.dynamic_hash

    def to_dict(self) -> dict[str, Any]:
        """Return what results say about it, as plain JSON values."""
        one = self.instance
        return {
            "recording": self.recording,
            "record": str(self.record.path),
            "static_hash": one.static_hash,
            "record_id": one.dynamic_hash,
            "kernel": self.record.demangled_name,
            "mangled": self.record.kernel_name,
            "label": one.labels[-1] if one.labels else "",
            "place": str(self.record.place or ""),
            "number": self.number,
            "launches": len(self.record),
            "occurrences": one.occ,
            "recorded_ns": one.recorded_ns,
            "arch": self.record.arch,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Cases:
    """What was found."""

    found: Sequence[Case]
    repeated: int
    """Launches that are recorded more than once, and count once."""
    damaged: dict[str, str]
    """Records that cannot be read, with the reason."""


def find_cases(recordings: Sequence[Path], kernels: Sequence[str] = ()) -> Cases:
    """Return the launches of recordings, and of those in directories below.

    Args:
        recordings: Records (`<static hash>.json`), recordings, or directories above some.
        kernels: Take only kernels that one of these names, as KERNEL does elsewhere.

    Raises:
        NotFound: If there is no such file or directory, or it has no such kernel.
        ArtifactCorrupt: If a record that is named is damaged.
    """
    damaged: dict[str, str] = {}
    records: list[tuple[str, RecordedExecution]] = []
    for path in recordings:
        before = len(records), len(damaged)
        if path.is_file():
            records.append((path.parent.name, RecordedExecution.from_json(path)))
        else:
            records += _below(path, damaged)
        if before == (len(records), len(damaged)):
            raise NotFound(f"'{path}' holds no recording, nor does a directory below it")
    if kernels:
        wanted = _named(records, kernels, recordings, len(damaged))
        records = [(place, record) for place, record in records if id(record) in wanted]
    found: dict[tuple[str, str], Case] = {}
    repeated = 0
    for place, record in records:
        for case in _cases_of(place, record):
            repeated += case.key in found
            found.setdefault(case.key, case)
    if not found:
        raise NotFound(
            f"no launch is recorded in {', '.join(repr(str(one)) for one in recordings)}"
        )
    return Cases(found=list(found.values()), repeated=repeated, damaged=damaged)


def names_of(cases: Sequence[dict[str, Any]], longest: int) -> list[str]:
    """Return names for tables, in order: different launches have different ones.

    Kernels that are called alike are told apart by their recordings, else by their places, else by
    the first digits of their hashes.

    Args:
        cases: As `Case.to_dict` gives them.
        longest: Characters of a name.
    """
    numbers = [f"@{one['number']}" if one["launches"] > 1 else "" for one in cases]
    plain = [one["label"] or qualified_name(one["kernel"]).replace(_HIDDEN, "") for one in cases]
    names = [name + number for name, number in zip(plain, numbers, strict=True)]
    alike: dict[str, list[int]] = {}
    for place, name in enumerate(names):
        alike.setdefault(name, []).append(place)
    for places in alike.values():
        if len(places) > 1:
            suffixes = _suffixes([cases[place] for place in places])
            for place, suffix in zip(places, suffixes, strict=True):
                names[place] = f"{plain[place]}{numbers[place]} [{suffix}]"
    return shortened(names, longest)


def _suffixes(cases: Sequence[dict[str, Any]]) -> list[str]:
    """Return what tells launches apart that are called alike."""
    hashes = [one["static_hash"][:_DIGITS] for one in cases]
    kinds = (
        [one["recording"].rpartition("/")[2] for one in cases],
        places_in_tables([one["place"] for one in cases]),
        hashes,
    )
    for texts in kinds:
        if all(texts) and len(set(texts)) == len(texts):
            return texts
    return [f"{one['static_hash']}/{one['record_id']}" for one in cases]


def _below(root: Path, damaged: dict[str, str]) -> Iterator[tuple[str, RecordedExecution]]:
    if not root.is_dir():
        raise NotFound(f"there is no recording '{root}'")
    for directory, names, files in os.walk(root):
        names.sort()
        if not any(name.endswith(".json") for name in files):
            continue
        recording = Recording(directory)
        damaged.update({str(path): reason for path, reason in recording.damaged.items()})
        place = os.path.relpath(directory, root)
        for record in recording.values():
            yield (root.name if place == os.curdir else place), record


def _named(
    records: Sequence[tuple[str, RecordedExecution]],
    kernels: Sequence[str],
    recordings: Sequence[Path],
    damaged: int,
) -> set[int]:
    """Return the ids of the objects that texts name."""
    every = [record for _, record in records]
    place = ", ".join(map(str, recordings))
    return {
        id(record)
        for text in kernels
        for record in fitting_among(every, text, recording=place, damaged=damaged)
    }


def _cases_of(place: str, record: RecordedExecution) -> Iterator[Case]:
    for number, instance in enumerate(record.values(), start=1):
        yield Case(record=record, instance=instance, recording=place, number=number)
