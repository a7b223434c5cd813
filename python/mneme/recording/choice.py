"""Chooses among recorded kernels and launches what a text names."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mneme.errors import InvalidArgument, NotFound
from mneme.kernel_choice import Handles, fitting, split_number
from mneme.kernel_names import names_in_tables
from mneme.source_place import places_in_tables

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from mneme.recording.recorded_execution import KernelInstance, RecordedExecution

__all__ = ["Chosen", "choose_among", "fitting_among", "handles_of"]

_MOST_LISTED = 8
_SHORTEST_ID = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen:
    """A recorded kernel, and which of its launches are meant."""

    record: RecordedExecution
    launches: tuple[KernelInstance, ...]
    """All of the kernel where none was named, in the order in which 'mneme show' numbers them."""


def choose_among(
    records: Sequence[RecordedExecution],
    kernel: str | None,
    record_id: str | None,
    *,
    recording: str | Path,
    damaged: int = 0,
) -> Chosen:
    """Return the kernel that is meant.

    Args:
        records: The kernels there are.
        kernel: A name or part of one, a place, a label or a hash, as `mneme.kernel_choice.fitting`
            takes them, with "@2" for the second launch; None if there is only one kernel.
        record_id: Dynamic hash of the launch, or its first 4 digits or more; None for any.
        recording: Where they come from, for messages.
        damaged: How many others cannot be read.

    Raises:
        NotFound: If kernel or launch do not exist.
        InvalidArgument: If several kernels fit; the message lists them.
    """
    if not records:
        raise NotFound(f"'{recording}' holds no record; 'mneme ls {recording}' lists what it holds")
    found, number = _all_of(records), None
    if kernel is not None:
        name, number = _name_and_number(found, kernel)
        found = _fitting(found, name)
        if not found:
            raise _nothing(recording, records, name, damaged)
    if record_id is not None:
        found = _with_id(recording, found, str(record_id))
    fit = {id(one.record): one.record for one in found}
    if len(fit) > 1:
        raise _several(recording, list(fit.values()), kernel, record_id)
    (record,) = fit.values()
    launches = tuple(one.launch for one in found if one.launch is not None)
    if number is not None:
        launches = (_numbered(record, launches, number),)
    return Chosen(record=record, launches=launches)


def fitting_among(
    records: Sequence[RecordedExecution],
    kernel: str,
    *,
    recording: str | Path,
    damaged: int = 0,
) -> list[RecordedExecution]:
    """Return every kernel that a text names; the arguments are those of `choose_among`.

    Raises:
        NotFound: If there is none.
    """
    candidates = _all_of(records)
    name, _ = _name_and_number(candidates, kernel)
    found = {id(one.record): one.record for one in _fitting(candidates, name)}
    if not found:
        raise _nothing(recording, records, name, damaged)
    return list(found.values())


def handles_of(record: RecordedExecution, launch: KernelInstance | None = None) -> Handles:
    """Return what a kernel is called by; with a launch, what that launch is called by."""
    launches = list(record.values()) if launch is None else [launch]
    paths = [one.labels for one in launches if one.labels]
    labels = dict.fromkeys((*(one[-1] for one in paths), *("/".join(one) for one in paths)))
    return Handles(
        mangled=record.kernel_name,
        demangled=record.demangled_name,
        place=record.place,
        labels=tuple(labels),
        hashes=(
            record.static_hash,
            f"{int(record.static_hash):016x}",
            *(one.dynamic_hash for one in launches),
        ),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Candidate:
    record: RecordedExecution
    launch: KernelInstance | None
    """None for a kernel without a complete launch."""

    @property
    def handles(self) -> Handles:
        return handles_of(self.record, self.launch)


def _all_of(records: Sequence[RecordedExecution]) -> list[_Candidate]:
    return [
        _Candidate(record=record, launch=launch)
        for record in records
        for launch in (*record.values(), *(() if len(record) else (None,)))
    ]


def _name_and_number(candidates: Sequence[_Candidate], kernel: str) -> tuple[str, int | None]:
    """Split "spmv@2"; a text that a name holds as it is stays whole."""
    return (kernel, None) if _fitting(candidates, kernel) else split_number(kernel)


def _fitting(candidates: Sequence[_Candidate], name: str) -> list[_Candidate]:
    """Return the candidates that a text names; an empty text, as before "@2", names all."""
    return fitting(candidates, name, lambda one: one.handles) if name else list(candidates)


def _with_id(
    recording: str | Path, candidates: Sequence[_Candidate], record_id: str
) -> list[_Candidate]:
    known = [(one.launch.dynamic_hash, one) for one in candidates if one.launch is not None]
    is_long = len(record_id) >= _SHORTEST_ID
    found = [one for name, one in known if name == record_id] or [
        one for name, one in known if is_long and name.startswith(record_id)
    ]
    if found:
        return found
    ids = list(dict.fromkeys(name for name, _ in known))
    has = ", ".join([*ids[:_MOST_LISTED], *(["..."] if len(ids) > _MOST_LISTED else [])])
    raise NotFound(f"'{recording}' has no instance {record_id}; it has {has or 'none'}")


def _numbered(
    record: RecordedExecution, launches: Sequence[KernelInstance], number: int
) -> KernelInstance:
    for at, launch in enumerate(record.values(), start=1):
        if at == number and launch in launches:
            return launch
    count = "1 recorded launch" if len(launches) == 1 else f"{len(launches)} recorded launches"
    raise NotFound(f"{record.told_name} has {count}; none of them is @{number}")


def _several(
    recording: str | Path,
    records: Sequence[RecordedExecution],
    kernel: str | None,
    record_id: str | None,
) -> InvalidArgument:
    wanted = kernel if kernel is not None else record_id
    begin = (
        f"'{recording}' holds {len(records)} kernels"
        if wanted is None
        else f"'{wanted}' fits {len(records)} kernels of '{recording}'"
    )
    remedy = "name one behind the recording, by more of its name, its place or its hash"
    rows = _rows(records)
    error = InvalidArgument(f"{begin}: {_listed(rows)}; {remedy}")
    error.begin, error.rows = f"{begin}; {remedy}", rows
    return error


def _nothing(
    recording: str | Path, records: Sequence[RecordedExecution], name: str, damaged: int
) -> NotFound:
    rows = _rows(records)
    begin = f"'{recording}' has no kernel '{name}'"
    has = f"it has {_listed(rows)}" if rows else "it holds no kernel"
    lost = f"; records that cannot be read: {damaged}, see 'mneme ls'" if damaged else ""
    error = NotFound(f"{begin}; {has}{lost}")
    if len(rows) > 1:
        error.begin, error.rows = f"{begin}{lost}; it has", rows
    return error


def _rows(records: Sequence[RecordedExecution]) -> tuple[tuple[str, ...], ...]:
    """Return kernels with place and hash."""
    names = names_in_tables([record.name for record in records])
    places = places_in_tables([str(record.place or "") for record in records])
    hashes = [record.static_hash for record in records]
    return tuple(zip(names, places, hashes, strict=True))


def _listed(rows: Sequence[tuple[str, ...]]) -> str:
    texts = [f"{name} ({', '.join(filter(None, more))})" for name, *more in rows]
    more = len(texts) - _MOST_LISTED
    return ", ".join(texts[:_MOST_LISTED]) + (f", and {more} more" if more > 0 else "")
