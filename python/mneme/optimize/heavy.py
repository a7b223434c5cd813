"""Which recorded launches are worth tuning, and how much of the program's time each stands for."""

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

# What is tuned makes up this part of all time in kernels ...
_ENOUGH = 0.95
# ... and nothing that is less than this part of it.
_TOO_LITTLE = 0.01
# Launches of which the recorded ones are less than this part have other arguments each time.
_SEEN_AGAIN = 0.5
# A regular expression of the recorder's can have so many characters (programs/record_request.py).
_LONGEST_PATTERN = 4096
# One variable of an environment may have 128 KiB.
_LONGEST_LIST = 100_000


@dataclass(kw_only=True)
class Target:
    """A recorded launch that is tuned; it stands for all with its kernel, dimensions and arguments.

    Where arguments are others in every launch, such as the number of a step, it stands for all with
    its dimensions, and only the other arguments may become constants.
    """

    record: RecordedExecution
    instance: KernelInstance
    weight: float
    """Part of all time in kernels."""
    fixed_args: tuple[int, ...] | None = None
    """Indices of the arguments that may become constants, as they are the same in all launches it
    stands for; None: all."""
    may_change_launch: bool = True
    """Whether production runs would give other dimensions to the launches it stands for."""

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
    """Return the regular expression that records these only; None where it would be too long."""
    pattern = "^(" + "|".join(re.escape(one.name) for one in kernels) + ")$"
    return pattern if kernels and len(pattern) <= _LONGEST_PATTERN else None


def launches_pattern(kernels: Sequence[KernelTime], most: int) -> str | None:
    """Return which launches to record: of each kernel the dimensions that take nearly all its time.

    From the middle of that time on, as first launches often find memory that later ones do not.

    Args:
        kernels: What is recorded.
        most: Dimensions of a kernel, at most.

    Returns:
        The text of `RecordRequest.dims`; None where it would be too long, or nothing is to choose.
    """
    entries = [
        f"{kernel.name}:{_text(shape)}{_from(kernel, shape, most)}"
        for kernel in kernels
        for shape in _heavy_shapes(kernel, most)
    ]
    text = ";".join(entries)
    return text if entries and len(text) <= _LONGEST_LIST else None


def came_before(kernel: KernelTime, records: Iterable[RecordedExecution], most: int) -> bool:
    """Whether a recording that began in the middle lacks launches of a kernel that came before.

    Args:
        kernel: As `launches_pattern` was given it.
        records: What was recorded.
        most: Launches of a kernel that are recorded, at most.
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

    Launches of a kernel with the same dimensions and other arguments are tuned apart, if they come
    again. Without a profile, recorded times and counts say what is heavy.
    """
    known = list(records)
    alike = Counter(record.kernel_name for record in known)
    found = [
        # Units may have kernels of their own with one name, which a profile cannot tell apart.
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
    """Return the launches of a kernel, each with the nanoseconds it stands for."""
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
        # Launches with dimensions that were not recorded count to those that were.
        scale = kernel.total_ns / (sum(seen.values()) or 1)
    # A profile may be of many processes, of which one was recorded: its parts count.
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
    """Return a launch that stands for all with its dimensions, whose arguments are others."""
    # Of what was seen once only, nobody knows what changes.
    is_known = len(alike) > 1
    return Target(
        record=record,
        instance=usual_launch(alike),
        weight=weight,
        fixed_args=unchanging_arguments(record, alike) if is_known else (),
        may_change_launch=is_known and differ_in_floats_only(record, alike),
    )


def _are_others_each_time(alike: Sequence[KernelInstance], launches: float) -> bool:
    """Whether arguments change from launch to launch.

    Args:
        alike: Recorded launches with the same dimensions, which differ in arguments.
        launches: How many there were with these.
    """
    is_each_once = len(alike) > 1 and launches_of(alike) == len(alike)
    return is_each_once or launches_of(alike) < _SEEN_AGAIN * launches


def _nanoseconds(instance: KernelInstance) -> int:
    return max(1, instance.occ) * max(1, instance.recorded_ns)


def _shape(instance: KernelInstance) -> Shape:
    grid, block = instance.grid_dim, instance.block_dim
    return (grid.x, grid.y, grid.z), (block.x, block.y, block.z), instance.shared_mem
