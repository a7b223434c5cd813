"""Finds out by replays which launches of a kernel give the recorded result.

A rule was verified against the recorded result for the launches that were tried, and for no others.
Code that relies on it tells the user so (docs/tuned-kernels.md).
"""

from __future__ import annotations

import enum
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from mneme.errors import MnemeError
from mneme.mneme_types import ExperimentConfiguration, dim3
from mneme.search.configurations import shape_text
from mneme.search.launch_shapes import RecordedLaunch, covering_grid, fits_device

if TYPE_CHECKING:
    from collections.abc import Callable

    from mneme.devices import DeviceLimits
    from mneme.mneme_types import ExperimentResult

    Evaluate = Callable[[ExperimentConfiguration], ExperimentResult]

__all__ = [
    "LaunchEvidence",
    "LaunchRule",
    "OutOfTime",
    "TriedLaunch",
    "find_launch_rule",
    "free_axes",
    "free_grid_axis",
    "shows_its_blocks",
    "try_launches",
]

# The tried number of blocks is this small a share of the recorded one: a kernel with merely spare
# threads needs more, and one that loops over its grid takes only this many times as long.
_SHARE = 8
_COVERING_TRIES = 3
_TRIES_PER_AXIS = 2


class OutOfTime(MnemeError):  # noqa: N818 - like the other errors
    """Raised by `evaluate` if there is no time for another replay."""


class LaunchRule(str, enum.Enum):
    """The launches that give the recorded result."""

    EXACT = "exact"
    """The recorded one; nothing is known about others."""

    COVER = "cover"
    """Every block shape that covers the same threads."""

    AGNOSTIC = "agnostic"
    """Any grid and block."""

    def __str__(self) -> str:
        return self.value


@dataclass(frozen=True, slots=True, kw_only=True)
class TriedLaunch:
    """One launch that was tried."""

    grid: str
    """Blocks, "128x1x1"."""

    block: str
    """Threads of a block, "32x8x1"."""

    rule: LaunchRule
    """The rule that it supports."""

    verified: bool
    """Whether it gave the recorded result."""

    reason: str = ""
    """The failure, if any; or why the evidence is not valid."""

    def to_dict(self) -> dict[str, Any]:
        """Return the launch as plain JSON values."""
        return {
            "grid": self.grid,
            "block": self.block,
            "rule": self.rule.value,
            "verified": self.verified,
            "reason": self.reason,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class LaunchEvidence:
    """A rule and its evidence."""

    rule: LaunchRule
    """The rule that all tried launches agree with."""

    tried: tuple[TriedLaunch, ...]
    """In order. The last one failed, unless the rule is the widest that could be tried, or none
    could be tried because the result does not show what the blocks do."""

    def to_dict(self) -> dict[str, Any]:
        """Return rule and launches as plain JSON values."""
        return {"rule": self.rule.value, "tried": [launch.to_dict() for launch in self.tried]}


def find_launch_rule(
    evaluate: Evaluate,
    recorded: ExperimentConfiguration,
    limits: DeviceLimits,
    *,
    takes_any_grid: bool | None = None,
) -> LaunchRule:
    """Return the widest rule that holds for a kernel; see `try_launches`."""
    return try_launches(evaluate, recorded, limits, takes_any_grid=takes_any_grid).rule


def try_launches(
    evaluate: Evaluate,
    recorded: ExperimentConfiguration,
    limits: DeviceLimits,
    *,
    takes_any_grid: bool | None = None,
) -> LaunchEvidence:
    """Find out how a kernel may be launched, in at most thirteen evaluations.

    First tries other blocks with grids that cover the recorded threads, including larger and
    therefore fewer blocks along every axis with several blocks. If all of these verify, tries fewer
    and more threads than recorded, down to a single small block. A launch that does not verify ends
    the search, and so does `OutOfTime`: the result is the rule established until then. If no larger
    block can be tried along an axis, or nothing at all, as for a single thread, the rule is
    `EXACT`.

    Args:
        evaluate: Replays a configuration; one launch of it is enough.
        recorded: The recorded launch; how it is compiled is kept, launch bounds apart.
        limits: What the device can that replays.
        takes_any_grid: Whether the code can work with any number of blocks. If it cannot, half of
            the blocks must give a wrong result: a result that is right without the others does not
            show what they do. None: unknown, and not tested.
    """
    launch = RecordedLaunch(
        grid=recorded.grid, block=recorded.block, shared_mem=recorded.shared_mem
    )
    tried: list[TriedLaunch] = []
    rule = LaunchRule.EXACT
    try:
        if takes_any_grid is False and (half := _half_is_right(evaluate, recorded)):
            return LaunchEvidence(rule=rule, tried=(half,))
        for wanted, shapes in (
            (LaunchRule.COVER, _covering(launch, limits)),
            (
                LaunchRule.AGNOSTIC,
                _other_counts(launch, limits) if takes_any_grid is not False else [],
            ),
        ):
            right: list[dim3] = []
            for grid, block in shapes:
                found = _tried(evaluate, recorded, grid, block, wanted)
                if found is not None:
                    tried.append(found)
                    if not found.verified:
                        return LaunchEvidence(rule=rule, tried=tuple(tried))
                    right.append(block)
            if not right or (wanted is LaunchRule.COVER and not _has_larger(launch, right)):
                break
            rule = wanted
    except OutOfTime:
        pass
    return LaunchEvidence(rule=rule, tried=tuple(tried))


def free_axes(evaluate: Evaluate, recorded: ExperimentConfiguration, limits: DeviceLimits) -> str:
    """Return the axes along which a kernel's blocks may change, such as "y"; at most six replays.

    An axis is free unless a block that differs from the recorded one only there gave another
    result. A right result proves little: the content of shared memory may be right by luck.

    Args:
        evaluate: Replays a configuration; one launch of it is enough.
        recorded: The recorded launch; how it is compiled is kept, launch bounds apart.
        limits: What the device can that replays.
    """
    launch = RecordedLaunch(
        grid=recorded.grid, block=recorded.block, shared_mem=recorded.shared_mem
    )
    found = ""
    for axis in "xyz":
        size = getattr(recorded.block, axis)
        shapes = [
            shape
            for extent in (size // 4, size * 2, size // 2)
            if (shape := _with_extent(recorded.block, axis, extent))
            and _tiles(launch, shape, limits)
            and _keeps_warps(recorded.block, shape, limits)
        ]
        tried = (
            _tried(evaluate, recorded, covering_grid(launch, shape), shape, LaunchRule.COVER)
            for shape in shapes[:_TRIES_PER_AXIS]
        )
        if all(one is None or one.verified for one in tried):
            found += axis
    return found


def free_grid_axis(
    evaluate: Evaluate, recorded: ExperimentConfiguration, limits: DeviceLimits
) -> str:
    """Return the axis along which a kernel takes any number of blocks; at most two replays.

    This is the axis with most blocks, for kernels that loop over their grid: both fewer and more
    blocks gave the recorded result. Empty if one did not.

    Args:
        evaluate: Replays a configuration; one launch of it is enough.
        recorded: The recorded launch; how it is compiled is kept, launch bounds apart.
        limits: What the device can that replays.
    """
    grid, block = recorded.grid, recorded.block
    axis = max("xyz", key=lambda name: int(getattr(grid, name)))
    blocks = getattr(grid, axis)
    more = _with_extent(grid, axis, blocks + blocks // 2 + 1)
    # A single block cannot become fewer, but it can become smaller.
    fewer = (
        (_with_extent(grid, axis, _fewer(blocks)), block)
        if blocks > 1
        else (grid, _with_extent(block, "x", block.x // 2))
    )
    for other in (fewer, (more, block)):
        if not fits_device(*other, limits):
            return ""
        tried = _tried(evaluate, recorded, *other, LaunchRule.AGNOSTIC)
        if tried is None or not tried.verified:
            return ""
    return axis


def shows_its_blocks(evaluate: Evaluate, recorded: ExperimentConfiguration) -> bool:
    """Whether the recorded result depends on all blocks: it is wrong without half of them.

    If hardly anything changes, as in the first steps of a search through a graph, the result may be
    right without most blocks. Then any block shape that leaves out work looks right, too.

    Args:
        evaluate: Replays a configuration; one launch of it is enough.
        recorded: The recorded launch, of a kernel that does not take any number of blocks.
    """
    return _half_is_right(evaluate, recorded) is None


def _half_is_right(evaluate: Evaluate, recorded: ExperimentConfiguration) -> TriedLaunch | None:
    """Return the launch with half of the blocks if its result is right; None for a single block."""
    axis = max("xyz", key=lambda name: int(getattr(recorded.grid, name)))
    blocks = getattr(recorded.grid, axis)
    if blocks == 1:
        return None
    half = _with_extent(recorded.grid, axis, blocks // 2)
    found = _tried(evaluate, recorded, half, recorded.block, LaunchRule.AGNOSTIC)
    if found is None or not found.verified:
        return None
    return replace(found, reason="the result does not show what the other half of the blocks does")


def _with_extent(block: dim3, axis: str, extent: int) -> dim3:
    return dim3.from_dict({**block.to_dict(), axis: extent})


def _tried(
    evaluate: Evaluate,
    recorded: ExperimentConfiguration,
    grid: dim3,
    block: dim3,
    rule: LaunchRule,
) -> TriedLaunch | None:
    """Return the result of a launch; None if a block larger than recorded was refused."""
    config = ExperimentConfiguration.from_dict(
        {**recorded.to_dict(), "grid": grid.to_dict(), "block": block.to_dict()}
    )
    if config.set_launch_bounds:
        config.max_threads = block.volume
    result = evaluate(config)
    if block.volume > recorded.block.volume and result.failed and not result.executed:
        return None
    reason = result.error or ("" if result.verified else "the result differs from the recorded one")
    return TriedLaunch(
        grid=shape_text(grid),
        block=shape_text(block),
        rule=rule,
        verified=result.verified and not result.failed,
        reason=reason,
    )


def _has_larger(launch: RecordedLaunch, blocks: list[dim3]) -> bool:
    """Whether some block is larger along each axis with several blocks (x, if there is none)."""
    axes = [axis for axis in "xyz" if getattr(launch.grid, axis) > 1] or ["x"]
    return all(
        any(getattr(block, axis) > getattr(launch.block, axis) for block in blocks) for axis in axes
    )


def _covering(launch: RecordedLaunch, limits: DeviceLimits) -> list[tuple[dim3, dim3]]:
    """Return other blocks that cover the recorded threads, very different ones first.

    A kernel that works on a row per block is right with more blocks than rows, not with fewer.
    """
    block = launch.block
    candidates = [
        dim3(_smaller(block.x), block.y, block.z),
        dim3(block.x, _smaller(block.y), block.z),
        dim3(block.x, block.y, _smaller(block.z)),
        dim3(block.x * 2, block.y, block.z),
        dim3(block.x, block.y * 2, block.z),
        dim3(block.x * 2, block.y // 2, block.z),
        dim3(block.x // 2, block.y * 2, block.z),
        dim3(block.x // 2, block.y, block.z),
    ]
    # First one block per axis that is used, then the rest.
    found = [shape for shape in candidates if _tiles(launch, shape, limits)][:_COVERING_TRIES]
    if not found:
        return []
    for axis in "xyz":
        if getattr(launch.grid, axis) > 1 or axis == "x":
            larger = _larger(launch, axis, limits)
            if not any(shape in found for shape in larger):
                found += larger[:1]
    return [(covering_grid(launch, shape), shape) for shape in found]


def _larger(launch: RecordedLaunch, axis: str, limits: DeviceLimits) -> list[dim3]:
    """Return blocks twice as long along an axis; if they do not fit, shorter along another axis.

    Along that axis the last block may have threads that were not recorded.
    """
    longer = _with_extent(launch.block, axis, getattr(launch.block, axis) * 2)
    shapes = [longer]
    for other in "xyz".replace(axis, ""):
        size = getattr(launch.block, other)
        if size % 2 == 0:
            shapes.append(_with_extent(longer, other, size // 2))
    return [shape for shape in shapes if fits_device(covering_grid(launch, shape), shape, limits)]


def _smaller(extent: int) -> int:
    """Return a quarter or, if that is 0, a half; 0 for 1."""
    return extent // 4 if extent % 4 == 0 else extent // 2


def _keeps_warps(recorded: dim3, block: dim3, limits: DeviceLimits) -> bool:
    """Whether rows that were whole warps still are: many kernels rely on that."""
    return recorded.x % limits.warp_size != 0 or block.x % limits.warp_size == 0


def _tiles(launch: RecordedLaunch, block: dim3, limits: DeviceLimits) -> bool:
    if 0 in (block.x, block.y, block.z):
        return False
    extents = zip(launch.extents, (block.x, block.y, block.z), strict=True)
    return all(threads % size == 0 for threads, size in extents) and fits_device(
        covering_grid(launch, block), block, limits
    )


def _other_counts(launch: RecordedLaunch, limits: DeviceLimits) -> list[tuple[dim3, dim3]]:
    """Return launches with fewer and with more threads than recorded; none without fewer.

    The last one is a single small block, with which no spare threads can hide that a kernel needs
        more.
    """
    grid, block = launch.grid, launch.block
    # An odd number of blocks: strides that divide everything by chance would prove nothing.
    fewer = dim3(_fewer(grid.x), _fewer(grid.y), _fewer(grid.z))
    if fewer == grid:
        return []
    more = dim3(grid.x + grid.x // 2 + 1, grid.y, grid.z)
    half = dim3(max(1, block.x // 2), block.y, block.z)
    third = dim3(max(1, grid.x // 3), max(1, grid.y // 3), max(1, grid.z // 3))
    single = (dim3(1, 1, 1), dim3(limits.warp_size, 1, 1))
    shapes = [(third, block), (fewer, block), (fewer, half), (more, block), (more, half), single]
    found: list[tuple[dim3, dim3]] = []
    for shape in shapes:
        if fits_device(*shape, limits) and shape not in found:
            found.append(shape)
    return found


def _fewer(blocks: int) -> int:
    share = blocks // _SHARE
    return max(1, share - (share % 2 == 0))
