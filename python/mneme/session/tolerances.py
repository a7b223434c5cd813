"""Assigns the rules of `--tolerance` to several recorded launches.

A rule that names a region is refused for a launch without it, like a misspelt one. If several
launches are tuned, a rule for another kernel is not a mistake.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mneme.arguments import ArgKind, Argument
from mneme.measure.tolerance import Tolerance

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from mneme.recording.recorded_execution import KernelInstance, RecordedExecution

__all__ = ["SharedTolerances"]

_POINTER_BYTES = 8


class SharedTolerances:
    """The rules of several launches."""

    def __init__(
        self,
        rules: Sequence[str],
        launches: Iterable[tuple[RecordedExecution, KernelInstance]],
    ) -> None:
        """Take the launches.

        Raises:
            InvalidArgument: If one is not a tolerance.
            NotFound: If a snapshot is missing.
            ArtifactCorrupt: If one is damaged.
        """
        self._regions = {rule: Tolerance.parse(rule).region for rule in rules}
        named = set(filter(None, self._regions.values()))
        self._found = {
            (str(record.path), instance.dynamic_hash): _found(named, record, instance)
            for record, instance in launches
            if named
        }

    def of(self, record: RecordedExecution, instance: KernelInstance) -> tuple[str, ...]:
        """Return the rules for a launch: all but those for regions of other launches only."""
        mine = self._found.get((str(record.path), instance.dynamic_hash), set())
        anyones = set().union(*self._found.values())
        return tuple(
            rule
            for rule, region in self._regions.items()
            if region in mine or region not in anyones
        )


def _found(named: set[str], record: RecordedExecution, instance: KernelInstance) -> set[str]:
    """Return the names that a launch has, as replays read them (runtime/replay/labels.cpp)."""
    from mneme import _native  # noqa: PLC0415 - loads native code

    before = _native.Snapshot(instance.prologue.fn)
    regions = before.regions()
    if not regions:  # replays refuse no rule then
        return named
    known = Argument.all_of(_native.record_arguments(record.path))
    spans = [range(one["address"], one["address"] + one["size"]) for one in regions]

    def is_inside(address: int) -> bool:
        return any(address in one for one in spans)

    names = {one["name"] for one in regions}
    annotated = [*regions, *(part for one in regions for part in one["parts"])]
    names |= {one["annotation"]["tag"] for one in annotated if one["annotation"]}
    for index, value in enumerate(before.args()):
        argument = known[index] if index < len(known) else Argument()
        if any(map(is_inside, _pointers(argument, value))):
            names.add(argument.name or f"#{index}")
    return {one for one in named if one in names or is_inside(_address(one))}


def _pointers(argument: Argument, value: bytes) -> list[int]:
    """Return the parts of an argument that may be pointers."""
    if len(value) == _POINTER_BYTES and argument.kind not in (ArgKind.POINTER, ArgKind.UNKNOWN):
        return []
    starts = range(0, len(value) - _POINTER_BYTES + 1, _POINTER_BYTES)
    return [int.from_bytes(value[at : at + _POINTER_BYTES], "little") for at in starts]


def _address(text: str) -> int:
    """Return the address that a rule names; -1 if it names none."""
    try:
        return int(text, 16) if text.startswith("0x") else -1
    except ValueError:
        return -1
