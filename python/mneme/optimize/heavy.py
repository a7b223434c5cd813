"""Chooses the recorded launches to tune, and the share of the program's time of each."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from mneme.recording.launch_facts import (
    differ_in_floats_only,
    launches_of,
    unchanging_arguments,
    usual_launch,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from mneme.optimize.profile import KernelTime, Profile, Shape
    from mneme.recording.recorded_execution import KernelInstance, RecordedExecution

__all__ = [
    "Target",
    "came_before",
    "choose_targets",
    "heavy_kernels",
    "kernels_pattern",
    "launches_pattern",
]

# Tuned launches make up this share of all time in kernels ...
_ENOUGH = 0.95
# ... and each of them at least this share.
_TOO_LITTLE = 0.01
# Launches have different arguments each time if less than this share of them is recorded.
_SEEN_AGAIN = 0.5
# Maximal length of a regular expression of the recorder (programs/record_request.py).
_LONGEST_PATTERN = 4096
# One variable of an environment may have 128 KiB.
_LONGEST_LIST = 100_000


@dataclass(kw_only=True)
class Target:
    """A recorded launch to tune; it represents all with its kernel, dimensions and arguments.

    If arguments differ in every launch, such as the number of a step, it represents all launches
    with its dimensions, and only the other arguments may become constants.
    """

    record: RecordedExecution
    instance: KernelInstance
    weight: float
    """Part of all time in kernels."""
    fixed_args: tuple[str, ...] | None = None
    """Indices of the arguments that may become constants because they are the same in all
    represented launches; None: all."""
    may_change_launch: bool = True
    """Whether production runs would apply other dimensions to the represented launches."""

    @property
    def name(self) -> str:
        """The kernel's name as in the source, without its parameters."""
        return self.record.demangled_name


def heavy_kernels(profile: Profile) -> list[KernelTime]:
    """Return the kernels that make up nearly all time, the heaviest first."""
    chosen: list[KernelTime] = []
    covered = 0
    for kernel in profile.by_time():
        if covered >= _ENOUGH * profile.total_ns:
            break
        if kernel.total_ns < _TOO_LITTLE * profile.total_ns:
            break
        covered += kernel.total_ns
        chosen.append(kernel)
    return chosen


def kernels_pattern(kernels: Sequence[KernelTime]) -> str | None:
    """Return the regular expression that records only these; None if it would be too long."""
    pattern = "^(" + "|".join(re.escape(one.name) for one in kernels) + ")$"
    return pattern if kernels and len(pattern) <= _LONGEST_PATTERN else None


def launches_pattern(kernels: Sequence[KernelTime], most: int) -> str | None:
    """Return the launches to record: for each kernel the dimensions that take nearly all its time.

    Recording starts in the middle of that time, because memory often differs in the first launches.

    Args:
        kernels: The kernels to record.
        most: Largest number of dimensions per kernel.

    Returns:
        The text of `RecordRequest.dims`; None if it would be too long, or if there is no choice.
    """
    entries = [
        f"{kernel.name}:{_text(shape)}{_from(kernel, shape, most)}"
        for kernel in kernels
        for shape in _heavy_shapes(kernel, most)
    ]
    text = ";".join(entries)
    return text if entries and len(text) <= _LONGEST_LIST else None


def came_before(kernel: KernelTime, records: Iterable[RecordedExecution], most: int) -> bool:
    """Whether a recording that began in the middle lacks earlier launches of a kernel.

    Args:
        kernel: As passed to `launches_pattern`.
        records: What was recorded.
        most: Largest number of recorded launches per kernel.
    """
    if not any(kernel.middles.values()):
        return False
    found = [
        one for record in records if record.kernel_name == kernel.name for one in [*record.values()]
    ]
    is_each_once = len(found) > 1 and launches_of(found) == len(found)
    return not is_each_once and len(found) < most and launches_of(found) < _ENOUGH * kernel.launches


def _heavy_shapes(kernel: KernelTime, most: int) -> list[Shape]:
    chosen: list[Shape] = []
    covered = 0
    for shape, nanoseconds in sorted(kernel.shapes.items(), key=lambda one: -one[1]):
        if covered >= _ENOUGH * kernel.total_ns or len(chosen) == most:
            break
        chosen.append(shape)
        covered += nanoseconds
    return chosen


def _from(kernel: KernelTime, shape: Shape, most: int) -> str:
    # As many as are recorded have to be left, also where the last launch took most of the time.
    first = min(kernel.middles.get(shape, 0), kernel.counts.get(shape, 0) - most)
    return f"@{first}" if first > 0 else ""


def _text(shape: Shape) -> str:
    grid, block, shared = shape
    return f"{'x'.join(map(str, grid))}/{'x'.join(map(str, block))}/{shared}"


def choose_targets(records: Iterable[RecordedExecution], profile: Profile) -> list[Target]:
    """Return what to tune, the heaviest first.

    Launches of a kernel with the same dimensions but other arguments are tuned separately if they
    recur. Without a profile, recorded times and counts decide what is heavy.
    """
    known = list(records)
    alike = Counter(record.kernel_name for record in known)
    found = [
        # Units may have different kernels with the same name, which a profile cannot distinguish.
        replace(one, weight=one.weight / alike[record.kernel_name])
        for record in known
        for one in _weighted(record, profile.kernels)
    ]
    total = sum(one.weight for one in found)
    if total <= 0:
        return []
    everything = profile.total_ns or total
    found.sort(key=lambda one: -one.weight)
    chosen: list[Target] = []
    covered = 0.0
    for target in found:
        if covered >= _ENOUGH * total or target.weight < _TOO_LITTLE * everything:
            break
        covered += target.weight
        chosen.append(target)
    for target in chosen:
        target.weight /= everything
    return chosen


def _weighted(record: RecordedExecution, profiled: Mapping[str, KernelTime]) -> list[Target]:
    """Return the launches of a kernel, each with the nanoseconds it represents."""
    by_shape: dict[Shape, list[KernelInstance]] = {}
    for instance in record.values():
        by_shape.setdefault(_shape(instance), []).append(instance)
    kernel = profiled.get(record.kernel_name)
    launches = int(record.extras.get("Launches", 0))
    recorded = launches_of(record.values()) or 1
    if kernel is None:
        seen = {shape: float(sum(map(_nanoseconds, alike))) for shape, alike in by_shape.items()}
        scale = max(1.0, launches / recorded)
    else:
        seen = {shape: float(kernel.shapes.get(shape, 0)) for shape in by_shape}
        if not any(seen.values()):
            seen = dict.fromkeys(by_shape, 1.0)
        # Launches with dimensions that were not recorded are added to the recorded ones.
        scale = kernel.total_ns / (sum(seen.values()) or 1)
    # A profile may cover many processes of which one was recorded: only its proportions count.
    counts = kernel.counts if kernel is not None else {}
    counted = sum(counts.values())
    found: list[Target] = []
    for shape, alike in by_shape.items():
        nanoseconds = scale * seen[shape]
        part = counts[shape] / counted if counts.get(shape) else launches_of(alike) / recorded
        if _are_others_each_time(alike, part * launches):
            found.append(_one_for_all(record, alike, nanoseconds))
            continue
        total = sum(map(_nanoseconds, alike)) or 1
        found += [
            Target(record=record, instance=one, weight=nanoseconds * _nanoseconds(one) / total)
            for one in alike
        ]
    return found


def _one_for_all(
    record: RecordedExecution, alike: Sequence[KernelInstance], weight: float
) -> Target:
    """Return a launch that represents all with its dimensions, whose arguments differ."""
    # With a single launch it is unknown which arguments change.
    is_known = len(alike) > 1
    return Target(
        record=record,
        instance=usual_launch(alike),
        weight=weight,
        fixed_args=unchanging_arguments(record, alike) if is_known else (),
        may_change_launch=is_known and differ_in_floats_only(record, alike),
    )


def _are_others_each_time(alike: Sequence[KernelInstance], launches: float) -> bool:
    """Whether arguments differ in every launch.

    Args:
        alike: Recorded launches with the same dimensions, which differ in arguments.
        launches: The number of launches with these dimensions.
    """
    is_each_once = len(alike) > 1 and launches_of(alike) == len(alike)
    return is_each_once or launches_of(alike) < _SEEN_AGAIN * launches


def _nanoseconds(instance: KernelInstance) -> int:
    return max(1, instance.occ) * max(1, instance.recorded_ns)


def _shape(instance: KernelInstance) -> Shape:
    grid, block = instance.grid_dim, instance.block_dim
    return (grid.x, grid.y, grid.z), (block.x, block.y, block.z), instance.shared_mem
